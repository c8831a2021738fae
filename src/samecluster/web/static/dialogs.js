// Dialogs: a note for a flag, help with the keys, and what would change before it does.

import { button, element } from "./elements.js";
import { ACTIONS, signOf } from "./keys.js";

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
    element("p", {}, "The question counts as unsure, and your note goes to the owner of the session."),
    element("label", { for: "note" }, "What is wrong with it?"),
    note,
  ];
  const done = await ask("Flag this question", content, [
    element("button", { value: "cancel", formnovalidate: true }, "Cancel"),
    element("button", { value: "flag", class: "main" }, "Flag and go on"),
  ]);
  return done === "flag" ? note.value.trim() : null;
}

export async function showHelp(keys) {
  const list = element("div", { class: "key-list" });
  const on = element("input", {
    type: "checkbox",
    id: "keys-on",
    checked: keys.on,
    on: { change: () => { keys.on = on.checked; } },
  });
  const draw = () => {
    list.replaceChildren(...Object.keys(ACTIONS).map((action) => keyLine(action, keys, draw)));
    on.checked = keys.on;
  };
  draw();
  await ask(
    "Help",
    [
      element("p", {}, "You see two items. Say whether they belong to the same cluster; one key answers and moves on. Answers are kept at once, and the last one can always be taken back."),
      element("p", {}, "Unsure is a good answer when you cannot tell: another pair is asked instead. Flag a question that cannot be answered as it stands."),
      element("h3", {}, "Keys"),
      list,
      element("p", { class: "key-switch" }, on, element("label", { for: "keys-on" }, "Answer with single keys")),
    ],
    [button("Usual keys", () => { keys.reset(); draw(); }), choice("close", "Close", true)],
  );
}

function keyLine(action, keys, draw) {
  const { says } = ACTIONS[action];
  const change = button("Change", () => {
    change.textContent = "Press a key";
    const take = (event) => {
      if (["Shift", "Control", "Alt", "Meta"].includes(event.key)) return;
      if (event.key !== "Escape" && event.key !== "Tab") event.preventDefault();
      if (event.key === "Escape") event.preventDefault();
      change.removeEventListener("keydown", take);
      keys.change(action, event.key);
      draw();
    };
    change.addEventListener("keydown", take);
    change.addEventListener("blur", () => { change.textContent = "Change"; change.removeEventListener("keydown", take); });
  }, { "aria-label": `Change the key for ${says}` });
  return element(
    "div",
    { class: "key-line" },
    element("kbd", {}, signOf(keys.of(action))),
    element("span", {}, says),
    change,
  );
}

// What an action would do, fetched before anything changes; true if it is to be done.
export async function confirmEffect(heading, intro, effect, does) {
  const told = element("p", { class: "effect", role: "status" }, "Working out what would change.");
  const go = choice("go", does, true);
  go.disabled = true;
  effect.then(
    (text) => { told.textContent = text; go.disabled = false; go.focus(); },
    (error) => { told.textContent = error.message; },
  );
  const done = await ask(heading, [element("p", {}, intro), told], [choice("cancel", "Cancel"), go]);
  return done === "go";
}
