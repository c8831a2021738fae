// Sheets, checks and boards: a grid of items to mark. On a sheet, those that do not belong with the
// reference; of checks, those that do not belong with the one beside them; on a board, those that
// are one. Nothing is sent before Enter.

import { element, styled } from "./elements.js";
import { besideInCell, inCell } from "./items.js";
import { LookFrame } from "./look_frame.js";

const DIGITS = 9;
const LETTERS = "ABCDEFGHIJKL";
// Columns of a wide window for up to so many items, so that few cells are left empty.
const COLUMNS = [
  [1, 1],
  [2, 2],
  [3, 3],
  [4, 2],
  [6, 3],
  [8, 4],
  [9, 3],
  [10, 5],
  [12, 4],
];
const MOST_COLUMNS = 6;

// What differs between them: the words, and what a press on a cell means.
const KINDS = {
  sheet: {
    heading: "Which do not belong?",
    about: ({ item }) => `Mark the items that do not belong with ${item.title}.`,
    says: { marked: "does not belong", unsure: "unsure" },
  },
  checks: {
    heading: "Which pairs do not fit?",
    about: () => "Mark each pair whose two items do not belong together.",
    says: { marked: "does not belong", unsure: "unsure" },
  },
  board: {
    heading: "Which of these are one?",
    about: () => "Mark those that belong to one group. If all differ, mark none.",
    says: { unsure: "unsure" },
  },
};

export class GridLook {
  #frame;
  #words;
  #grid = element("div", { class: "grid", role: "group", "aria-label": "Items" });
  #cells;
  // Of each marked item: "marked", "unsure", or on a board the number of its set.
  #marks = new Map();
  #set = 0;
  #isOdd = false;
  #at = 0;
  #options;

  // options: what a frame takes, notes on the items, and further buttons beside the usual ones.
  constructor(look, app, options = {}) {
    this.#words = KINDS[look.kind];
    this.#options = options;
    this.#frame = new LookFrame(look, app, this.#words.heading, this.#words.about(look), options);
    this.#cells = look.items.map((item, at) => this.#cell(item, at));
    this.#grid.append(...this.#cells);
    this.#layOut(look.items.length);
    this.#frame.body.classList.add(look.kind);
    this.#frame.body.append(...[look.item && this.#reference(), this.#grid].filter(Boolean));
    this.#restore();
    this.#draw();
  }

  get node() {
    return this.#frame.node;
  }

  get frame() {
    return this.#frame;
  }

  get spoken() {
    const { look } = this.#frame;
    return `${this.#words.heading} ${this.#words.about(look)} ${look.items.length} items.`;
  }

  get keys() {
    const digits = Array.from({ length: DIGITS }, (_, at) => at);
    return {
      ...Object.fromEntries(digits.map((at) => [`${at + 1}`, () => this.#press(at)])),
      ArrowLeft: () => this.#move(-1),
      ArrowRight: () => this.#move(1),
      ArrowUp: () => this.#move(-this.#columns()),
      ArrowDown: () => this.#move(this.#columns()),
      " ": (event) => (isElsewhere(event) ? false : this.#press(this.#at)),
      Enter: (event) => (isElsewhere(event) ? false : this.#send()),
      unsure: () => this.#doubt(),
      larger: () => this.#showLarger(this.#at),
      ...(this.#isSheet && { odd: () => this.#turnOdd() }),
      ...(this.#isBoard && { another: () => this.#nextSet() }),
    };
  }

  drawButtons() {
    this.#draw();
  }

  focus() {
    this.#cells[this.#at].focus({ preventScroll: true });
  }

  get #isSheet() {
    return this.#frame.look.kind === "sheet";
  }

  get #isBoard() {
    return this.#frame.look.kind === "board";
  }

  #showLarger(at) {
    const { items, references } = this.#frame.look;
    this.#frame.showLarger(...[references[at], items[at]].filter(Boolean));
  }

  #reference() {
    const { item } = this.#frame.look;
    const shown = element(
      "button",
      {
        type: "button",
        class: "reference",
        "aria-label": `The reference, ${item.title}: show larger`,
        on: { click: () => this.#frame.showLarger(item) },
      },
      element("span", { class: "reference-word" }, "Belongs with this?"),
      inCell(item, this.#frame.look.differs),
    );
    return shown;
  }

  #cell(item, at) {
    const { differs, references } = this.#frame.look;
    const reference = references[at];
    return element(
      "button",
      {
        type: "button",
        class: "cell",
        tabindex: at === 0 ? "0" : "-1",
        "data-key": item.key,
        "aria-keyshortcuts": at < DIGITS ? `${at + 1}` : null,
        on: {
          click: () => this.#press(at),
          focus: () => {
            this.#at = at;
          },
          dblclick: () => this.#showLarger(at),
        },
      },
      at < DIGITS && element("kbd", { class: "place" }, `${at + 1}`),
      reference ? besideInCell(reference, item, differs) : inCell(item, differs),
      this.#options.notes?.[at] && element("span", { class: "note" }, this.#options.notes[at]),
      element(
        "span",
        { class: "mark-sign" },
        element("span", { class: "sign" }),
        element("span", { class: "mark-word" }),
      ),
    );
  }

  // As many columns as make the cells about square, in a wide and in a narrow window.
  #layOut(n) {
    const isText = this.#frame.look.items.some(({ image }) => !image);
    const wide = COLUMNS.find(([most]) => n <= most)?.[1] ?? MOST_COLUMNS;
    const isPairs = this.#frame.look.references.length > 0;
    const narrow = isText ? (n > 6 ? 2 : 1) : n > 4 && !isPairs ? 3 : 2;
    styled(this.#grid, { "--wide": `${wide}`, "--narrow": `${narrow}` });
    styled(this.#grid, {
      "--wide-rows": `${Math.ceil(n / wide)}`,
      "--narrow-rows": `${Math.ceil(n / narrow)}`,
    });
  }

  #columns() {
    return getComputedStyle(this.#grid).gridTemplateColumns.split(" ").length;
  }

  #move(by) {
    const to = this.#at + by;
    if (to < 0 || to >= this.#cells.length) return;
    this.#at = to;
    this.#draw();
    this.focus();
  }

  #press(at) {
    const { items } = this.#frame.look;
    if (at >= items.length) return;
    this.#at = at;
    this.#toggle(items[at].key, this.#isBoard ? this.#set : "marked");
    if (document.activeElement !== this.#cells[at]) this.focus();
  }

  #doubt() {
    this.#toggle(this.#frame.look.items[this.#at].key, "unsure");
  }

  #toggle(key, mark) {
    if (this.#marks.get(key) === mark) this.#marks.delete(key);
    else this.#marks.set(key, mark);
    this.#changed();
  }

  #turnOdd() {
    this.#isOdd = !this.#isOdd;
    this.#changed();
  }

  // A set is finished once it has two: the next marks make another one.
  #nextSet() {
    const sizes = this.#sets().map((one) => one.length);
    this.#set = sizes.length;
    this.#draw();
    this.#frame.app.say(`Set ${LETTERS[this.#set]}`);
  }

  #sets() {
    const sets = [];
    for (const [key, mark] of this.#marks) {
      if (typeof mark === "number") (sets[mark] ??= []).push(key);
    }
    return sets.filter(Boolean);
  }

  #changed() {
    this.#frame.keep({ marks: [...this.#marks], isOdd: this.#isOdd, set: this.#set });
    this.#draw();
  }

  // What a reload left, or what was said before an undo.
  #restore() {
    const { look } = this.#frame;
    const kept = this.#frame.kept();
    if (kept) {
      this.#marks = new Map(kept.marks);
      [this.#isOdd, this.#set] = [kept.isOdd, kept.set];
    } else if (look.before) {
      const { marked = [], joined = [], unsure = [], odd_reference: isOdd = false } = look.before;
      marked.forEach((key) => this.#marks.set(key, "marked"));
      joined.forEach((set, at) => set.forEach((key) => this.#marks.set(key, at)));
      unsure.forEach((key) => this.#marks.set(key, "unsure"));
      this.#isOdd = isOdd;
      this.#set = joined.length;
    }
  }

  #draw() {
    const { items, references } = this.#frame.look;
    items.forEach((item, at) => {
      const mark = this.#marks.get(item.key);
      const word = typeof mark === "number" ? `one: ${LETTERS[mark]}` : (this.#words.says[mark] ?? "");
      const cell = this.#cells[at];
      cell.tabIndex = at === this.#at ? 0 : -1;
      cell.setAttribute("aria-pressed", String(mark !== undefined));
      cell.dataset.mark = mark === undefined ? "" : mark === "unsure" ? "unsure" : "marked";
      cell.querySelector(".mark-word").textContent = word;
      cell.querySelector(".sign").textContent = signOf(mark);
      const place = at < DIGITS ? ` ${at + 1}` : "";
      const beside = references[at] ? ` beside ${references[at].title}` : "";
      const spoken = [`${item.title}${beside}${place}`, this.#options.notes?.[at], word].filter(Boolean);
      cell.setAttribute("aria-label", spoken.join(", "));
    });
    this.#drawButtons();
  }

  #drawButtons() {
    const main = [
      { key: "Enter", text: this.#sendText(), does: () => this.#send(), isMain: true },
      { action: "unsure", text: "Unsure about it", does: () => this.#doubt() },
      this.#isSheet && {
        action: "odd",
        text: "Reference is odd",
        does: () => this.#turnOdd(),
        pressed: this.#isOdd,
      },
      this.#isBoard && { action: "another", text: "Another set", does: () => this.#nextSet() },
    ];
    this.#frame.drawButtons(main.filter(Boolean), [
      { action: "larger", text: "Larger", does: () => this.#showLarger(this.#at) },
      ...(this.#options.beside ?? []),
    ]);
  }

  #sendText() {
    const marked = [...this.#marks.values()].filter((mark) => mark !== "unsure").length;
    if (this.#isSheet && this.#isOdd) return "The reference is the odd one";
    const odd = `${marked} ${marked === 1 ? "does" : "do"} not belong`;
    if (!this.#isBoard) return marked ? odd : "All belong";
    return this.#sets().some((set) => set.length > 1) ? "The marked are one" : "All differ";
  }

  #send() {
    const unsure = [...this.#marks].filter(([, mark]) => mark === "unsure").map(([key]) => key);
    const doubts = unsure.length ? { unsure } : {};
    if (this.#isBoard) {
      const joined = this.#sets().filter((set) => set.length > 1);
      this.#frame.send({ joined, ...doubts }, this.#sendText().toLowerCase());
      return;
    }
    const marked = [...this.#marks].filter(([, mark]) => mark === "marked").map(([key]) => key);
    if (this.#isOdd && marked.length + unsure.length === this.#cells.length) {
      this.#frame.app.notify("Leave those unmarked that belong together.");
      return;
    }
    const odd = this.#isOdd ? { odd_reference: true } : {};
    this.#frame.send({ marked, ...doubts, ...odd }, this.#sendText().toLowerCase());
  }
}

// The mark in a sign, for windows with no room for the word.
function signOf(mark) {
  if (mark === undefined) return "";
  if (typeof mark === "number") return LETTERS[mark];
  return mark === "unsure" ? "?" : "\u2715";
}

// Buttons beside the grid, links and fields keep their own meaning of Enter and space.
function isElsewhere({ target }) {
  const pressed = target.closest("button, a, input, summary");
  return pressed !== null && !pressed.classList.contains("cell");
}
