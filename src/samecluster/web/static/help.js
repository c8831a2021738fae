// Help: what is asked, which key does what, and how to change that.

import { ask, choice } from "./dialogs.js";
import { button, element } from "./elements.js";
import { ACTIONS, signOf } from "./keys.js";

const WORDS = [
  "You see two items, or a screen of several. Say whether they belong together; one key answers and moves on. What counts " +
    "as the same is for you, or whoever invited you, to decide: the same person, kind or topic.",
  "Choose a group by the number of its card. On a sheet mark what does not belong, on a board what " +
    "is one, among pairs those that do not fit: with arrows and space, the numbers, or a click. " +
    "Enter sends it; until then nothing is said.",
  "Unsure is a good answer when you cannot tell: another pair is asked instead. Flag a question " +
    "that cannot be answered as it stands. Answers are kept at once, and the last one can always " +
    "be taken back.",
];
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];

export async function showHelp(keys) {
  const settings = new KeySettings(keys);
  await ask(
    "Help",
    [
      WORDS.map((text) => element("p", {}, text)),
      element("h3", {}, "Keys"),
      settings.list,
      element(
        "p",
        { class: "key-switch" },
        settings.on,
        element("label", { for: "keys-on" }, "Answer with single keys"),
      ),
    ],
    [button("Usual keys", () => settings.reset()), choice("close", "Close", true)],
  );
}

class KeySettings {
  #keys;
  list = element("div", { class: "key-list" });
  on = element("input", { type: "checkbox", id: "keys-on" });

  constructor(keys) {
    this.#keys = keys;
    this.on.addEventListener("change", () => {
      keys.on = this.on.checked;
    });
    this.#draw();
  }

  reset() {
    this.#keys.reset();
    this.#draw();
  }

  #draw(focused = null) {
    const lines = Object.keys(ACTIONS).map((action) => this.#line(action));
    this.list.replaceChildren(...lines);
    this.on.checked = this.#keys.on;
    lines[Object.keys(ACTIONS).indexOf(focused)]?.querySelector("button").focus();
  }

  #line(action) {
    const { says } = ACTIONS[action];
    const change = button("Change", () => this.#awaitKey(change, action), {
      "aria-label": `Change the key for ${says}`,
    });
    return element(
      "div",
      { class: "key-line" },
      element("kbd", {}, signOf(this.#keys.of(action))),
      element("span", {}, says),
      change,
    );
  }

  // The next key pressed on the button is taken; keys that are never taken, and leaving, cancel.
  #awaitKey(change, action) {
    const waiting = new AbortController();
    const { signal } = waiting;
    const take = (event) => {
      if (MODIFIERS.includes(event.key) || event.key === "Tab") return;
      event.preventDefault();
      waiting.abort();
      this.#keys.change(action, event.key);
      this.#draw(action);
    };
    const leave = () => {
      waiting.abort();
      change.textContent = "Change";
    };
    change.textContent = "Press a key";
    change.addEventListener("keydown", take, { signal });
    change.addEventListener("blur", leave, { signal });
  }
}
