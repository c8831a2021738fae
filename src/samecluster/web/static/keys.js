// Which key does what. Keys are single presses without modifiers, off while somebody types or a
// dialog is open, and can be changed or turned off; a repeat of a held key does nothing.

import { forget, read, write } from "./browser_storage.js";

const NAME = "samecluster.keys";

export const ACTIONS = {
  same: { key: "s", says: "Same" },
  different: { key: "d", says: "Different" },
  unsure: { key: "u", says: "Unsure" },
  undo: { key: "Backspace", says: "Undo" },
  flag: { key: "f", says: "Flag with a note" },
  help: { key: "?", says: "Help" },
  none: { key: "0", says: "None of these" },
  larger: { key: "l", says: "Show larger" },
  odd: { key: "r", says: "The reference is the odd one" },
  another: { key: "a", says: "Choose several, or another set" },
  more: { key: "m", says: "More groups" },
  find: { key: "/", says: "Find a group by name" },
};

// The keys of the terminal answer here too, unless they were given to something else.
const ALSO = { y: "same", n: "different" };

// Left to the browser, to moving about with the keyboard, or to marking and sending.
const RESERVED = new Set(["Tab", "Enter", " ", "Escape", "Shift", "Control", "Alt", "Meta"]);
const SIGNS = new Map([
  ["Backspace", "⌫"],
  ["ArrowLeft", "←"],
  ["ArrowRight", "→"],
  ["ArrowUp", "↑"],
  ["ArrowDown", "↓"],
]);
const LONGEST = 12;

export class Keys extends EventTarget {
  #map;
  #on;
  #bound = {};

  constructor() {
    super();
    const kept = read(NAME);
    this.#map = checked(kept?.map);
    this.#on = kept?.on !== false;
    document.addEventListener("keydown", (event) => this.#pressed(event));
  }

  get on() {
    return this.#on;
  }

  set on(value) {
    this.#on = value;
    this.#keep();
  }

  of(action) {
    return this.#map[action];
  }

  sign(action) {
    return signOf(this.#map[action]);
  }

  // What a view does on actions or on plain keys, until it is left.
  bind(bound, signal) {
    this.#bound = bound;
    signal.addEventListener("abort", () => {
      if (this.#bound === bound) this.#bound = {};
    });
  }

  // An action that had the key before takes the other's: no key ever means two things.
  change(action, key) {
    const wanted = normal(key);
    if (!allowed(wanted)) return false;
    const other = Object.keys(this.#map).find((name) => this.#map[name] === wanted);
    if (other) this.#map[other] = this.#map[action];
    this.#map[action] = wanted;
    this.#keep();
    return true;
  }

  reset() {
    this.#map = checked(null);
    this.#on = true;
    forget(NAME);
    this.dispatchEvent(new Event("change"));
  }

  #keep() {
    write(NAME, { map: this.#map, on: this.#on });
    this.dispatchEvent(new Event("change"));
  }

  #pressed(event) {
    if (event.repeat || event.isComposing || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (!this.#on || typing(event.target) || document.querySelector("dialog[open]")) return;
    const key = pressed(event);
    const action = Object.keys(this.#map).find((name) => this.#map[name] === key) ?? ALSO[key];
    const does = this.#bound[action] ?? this.#bound[key];
    if (!does || does(event) === false) return;
    event.preventDefault();
  }
}

export function signOf(key) {
  return SIGNS.get(key) ?? (key.length === 1 ? key.toUpperCase() : key);
}

// With Shift a digit is another sign on every keyboard: its place counts.
function pressed({ key, code, shiftKey }) {
  const digit = shiftKey && /^(?:Digit|Numpad)(\d)$/.exec(code);
  return digit && !/\d/.test(key) ? `Shift+${digit[1]}` : normal(key);
}

function normal(key) {
  return key.length === 1 ? key.toLowerCase() : key;
}

function allowed(key) {
  return typeof key === "string" && key.length > 0 && key.length <= LONGEST && !RESERVED.has(key);
}

// Whatever the browser kept: unknown actions and keys that clash fall back to the usual ones.
function checked(kept) {
  const usual = Object.fromEntries(Object.entries(ACTIONS).map(([name, { key }]) => [name, key]));
  if (kept === null || typeof kept !== "object") return usual;
  const map = Object.fromEntries(
    Object.keys(usual).map((name) => [name, allowed(kept[name]) ? kept[name] : usual[name]]),
  );
  return new Set(Object.values(map)).size === Object.keys(map).length ? map : usual;
}

function typing(target) {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]");
}
