// The end of the questions: why it ended, what is known, and what can be done now.

import { address, get, post } from "./api.js";
import { button, element } from "./elements.js";
import { knownByBar, knownByLegend } from "./known_by_bar.js";
import { sentence } from "./wording.js";

const DOWNLOADS = [
  ["export?format=csv", "Labels as CSV"],
  ["export?format=jsonl", "Labels as JSON lines"],
  ["export?format=parquet", "Labels as Parquet"],
  ["report", "Report"],
  ["proof", "Proof, to be checked by others"],
];

export async function showEnd(root, app, signal) {
  const heading = element("h1", { tabindex: "-1" }, headingOf(app.queue.ended));
  const known = element("div", { class: "card" });
  const next = element("section", { class: "card", "aria-labelledby": "next" });
  const view = element(
    "section",
    { class: "end" },
    element(
      "div",
      { class: "end-head" },
      heading,
      element("p", { class: "lead" }, "Thank you. Every answer is saved."),
      button("Take my last answer back", () => app.undo()),
    ),
    element(
      "div",
      { class: "two" },
      element("div", { class: "told" }, next, app.session.role === "owner" && downloads(app.session)),
      known,
    ),
  );
  root.replaceChildren(view);
  app.say(`${heading.textContent} Every answer is saved.`);
  app.addEventListener(
    "progress",
    () => {
      drawKnown(known, app);
      // The last answer may still have been worked on when the choices were asked for.
      if (!next.querySelector(".choices li")) drawChoices(next, app);
    },
    { signal },
  );
  drawKnown(known, app);
  await drawChoices(next, app);
}

function headingOf(ended) {
  if (ended === "finished") return "This session is finished.";
  return sentence(ended);
}

function drawKnown(card, { progress }) {
  if (!progress) return;
  card.replaceChildren(
    element("h2", {}, "What is known"),
    knownByBar(progress),
    knownByLegend(progress),
    element(
      "ul",
      { class: "rests-on" },
      progress.claims.map((claim) => element("li", {}, claim.text)),
    ),
  );
}

async function drawChoices(card, app) {
  if (app.session.role !== "owner") {
    card.replaceChildren(
      element("h2", { id: "next" }, "What comes next"),
      element(
        "p",
        {},
        "The owner of the session decides whether to ask more. You can close this page; if there " +
          "are new questions, your link brings you back to them.",
      ),
    );
    return;
  }
  card.replaceChildren(element("h2", { id: "next" }, "What now?"));
  const { choices } = await get("choices").catch(() => ({ choices: [] }));
  if (!choices.length) return;
  card.replaceChildren(
    element("h2", { id: "next" }, "What now?"),
    element(
      "ul",
      { class: "choices" },
      choices.map((one) => element("li", {}, choiceButton(one, app))),
    ),
  );
}

function choiceButton({ key, text }, app) {
  const [head, ...rest] = text.split(": ");
  return button(
    [
      element("strong", {}, sentence(head).replace(/\.$/, "")),
      rest.length > 0 && element("span", {}, sentence(rest.join(": "))),
    ],
    async () => {
      try {
        await post("choices", { key }, 300);
        await app.refreshProgress();
        await app.queue.refresh();
      } catch (error) {
        app.notify(error.message);
      }
    },
    { class: "choice" },
  );
}

function downloads({ sample }) {
  return element(
    "section",
    { class: "card", "aria-labelledby": "take-away" },
    element("h2", { id: "take-away" }, "Take away"),
    sample && element("p", {}, sample),
    element(
      "ul",
      { class: "downloads" },
      DOWNLOADS.map(([path, text]) =>
        element("li", {}, element("a", { href: address(path), download: true }, text)),
      ),
    ),
  );
}
