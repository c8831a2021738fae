// Dialogs: a question to decide, a note for a flag, and what would change before it does.

import { element } from "./elements.js";

const LONGEST_NOTE = 2000;

// Shows a dialog until it is closed; gives the name of the button that closed it, or "" for Escape.
export function ask(heading, content, choices) {
  return new Promise((done) => {
    const dialog = element(
      "dialog",
      { "aria-labelledby": "dialog-heading" },
      element(
        "form",
        { method: "dialog" },
        element("h2", { id: "dialog-heading" }, heading),
        content,
        element("div", { class: "dialog-choices" }, choices),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(dialog.returnValue);
    });
    document.body.append(dialog);
    dialog.showModal();
    dialog.scrollTop = 0; // the button in focus may be below the window
  });
}

export function choice(value, text, isMain = false) {
  return element("button", { value, class: isMain ? "main" : null, autofocus: isMain }, text);
}

export async function askNote() {
  const note = element("textarea", {
    id: "note",
    rows: 4,
    maxlength: LONGEST_NOTE,
    autofocus: true,
    required: true,
    on: {
      keydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.target.form.requestSubmit(event.target.form.querySelector(".main"));
        }
      },
    },
  });
  const content = [
    element(
      "p",
      {},
      "The question counts as unsure, and your note is kept with it in the session.",
    ),
    element("label", { for: "note" }, "What is wrong with it?"),
    note,
  ];
  const done = await ask("Flag this question", content, [
    element("button", { value: "cancel", formnovalidate: true }, "Cancel"),
    element("button", { value: "flag", class: "main" }, "Flag and go on"),
  ]);
  return done === "flag" ? note.value.trim() : null;
}

// What an action would do, fetched before anything changes; true if it is to be done.
export async function confirmEffect(heading, intro, effect, does) {
  const told = element("p", { class: "effect", role: "status" }, "Working out what would change.");
  const go = choice("go", does, true);
  go.disabled = true;
  effect.then(
    (text) => {
      told.textContent = text;
      go.disabled = false;
      go.focus();
    },
    (error) => {
      told.textContent = error.message;
    },
  );
  const done = await ask(
    heading,
    [element("p", {}, intro), told],
    [choice("cancel", "Cancel"), go],
  );
  return done === "go";
}
