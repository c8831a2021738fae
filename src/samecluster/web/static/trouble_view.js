// What does not fit together: the answers to look at again, and remedies with what each would do.

import { get, post } from "./api.js";
import { confirmEffect } from "./dialogs.js";
import { button, element } from "./elements.js";
import { whole } from "./items.js";
import { sentence } from "./wording.js";

const KINDS = {
  contradiction: "Answers that cannot all be right",
  tie: "As many for as against",
  refutation: "Answers that the assumption does not allow",
};

const titled = (item) =>
  element("div", {}, element("p", { class: "small-title" }, item.title), whole(item));

export async function troubleView(root, app, signal) {
  const list = element("div", { class: "trouble-list" });
  root.replaceChildren(
    element("section", { class: "trouble" }, element("h1", { tabindex: "-1" }, "Trouble"), list),
  );
  const draw = async () => {
    const { trouble } = await get("trouble", 120);
    if (signal.aborted) return;
    drawList(list, trouble, app, draw);
    // A digit chooses the remedy of that number of what is listed first.
    const places = app.session.role === "owner" ? (trouble[0]?.remedies ?? []).slice(0, 9) : [];
    const keys = places.map((one, at) => [`${at + 1}`, () => choose(one, app, draw)]);
    app.keys.bind(Object.fromEntries(keys), signal);
  };
  app.live.addEventListener("trouble", () => draw().catch(() => {}), { signal });
  await draw().catch((error) => app.notify(error.message));
}

function drawList(list, trouble, app, redraw) {
  if (!trouble.length) {
    list.replaceChildren(
      element(
        "p",
        { class: "lead" },
        "All answers fit together. If some do not, they are listed here with what can be done.",
      ),
    );
    return;
  }
  list.replaceChildren(...trouble.map((one, at) => card(one, app, redraw, at === 0)));
}

function card({ kind, text, answers, remedies }, app, redraw, isFirst) {
  return element(
    "article",
    { class: "card" },
    element("h2", {}, KINDS[kind] ?? "Something does not fit"),
    // The answers below say it already, where there is nothing more to a conflict than them.
    (kind === "refutation" || !answers.length) && element("p", {}, sentence(text)),
    answers.length > 0 && [
      element("h3", {}, "Answers to look at again, the likeliest to be wrong first"),
      element("div", { class: "dialog-beside" }, answers[0].items.map(titled)),
      element(
        "ul",
        { class: "answers-list" },
        answers.map(({ text }) => element("li", {}, sentence(text))),
      ),
    ],
    remedies.length > 0 && [
      element("h3", {}, "What can be done"),
      element(
        "ul",
        { class: "remedies" },
        remedies.map((one, at) => element("li", {}, remedyLine(one, app, redraw, isFirst && at))),
      ),
    ],
  );
}

function remedyLine(remedy, app, redraw, at) {
  const isOwner = app.session.role === "owner";
  return [
    isOwner && typeof at === "number" && at < 9 && element("kbd", {}, `${at + 1}`),
    element("span", {}, sentence(remedy.text)),
    isOwner
      ? button("See what it does", () => choose(remedy, app, redraw), {
          "aria-label": `See what it does to ${remedy.text}`,
        })
      : element("span", { class: "by" }, "The owner of the session decides."),
  ];
}

async function choose(remedy, app, redraw) {
  const effect = post("remedies/preview", { id: remedy.id }, 300).then(({ text }) =>
    sentence(text),
  );
  if (!(await confirmEffect(sentence(remedy.text), "What would change:", effect, "Do it"))) return;
  try {
    await post("remedies/apply", { id: remedy.id }, 300);
    await app.refreshProgress();
    await redraw();
  } catch (error) {
    app.notify(error.message);
  }
}
