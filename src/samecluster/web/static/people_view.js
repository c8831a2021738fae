// Who takes part, for the owner.

import { get } from "./api.js";
import { element, listTable, number } from "./elements.js";

export async function peopleView(root, app, signal) {
  const list = element("div");
  const invite = element("code");
  root.replaceChildren(
    element(
      "section",
      { class: "people" },
      element("h1", { tabindex: "-1" }, "People"),
      list,
      element(
        "p",
        { class: "lead" },
        "To let somebody else answer too, make a personal link in a terminal: ",
        invite,
      ),
    ),
  );
  const draw = async () => {
    const { people, invite: command } = await get("people");
    if (signal.aborted) return;
    list.replaceChildren(table(people, app.session.who));
    invite.textContent = command;
  };
  app.addEventListener("progress", () => draw().catch(() => {}), { signal });
  await draw().catch((error) => app.notify(error.message));
}

function table(people, me) {
  const head = ["Name", "Role", "Answers", "Last seen"];
  return listTable(
    head,
    people.map((person) => row(person, me)),
  );
}

function row({ who, role, n_answers: answers, last }, me) {
  const name = who ?? "no name";
  return element(
    "tr",
    {},
    element("th", { scope: "row" }, who === me ? `${name} (you)` : name),
    element("td", { "data-label": "Role" }, role ?? "no link"),
    element("td", { class: "amount", "data-label": "Answers" }, number(answers)),
    element("td", { "data-label": "Last seen" }, last ? new Date(last).toLocaleString() : "never"),
  );
}
