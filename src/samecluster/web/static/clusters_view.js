// The board: all groups at a glance, the largest first, each by typical members and by those most in
// doubt. One card dropped on another, or two chosen by a key, are merged by a question.

import { get, post } from "./api.js";
import { button, count, element, number, styled } from "./elements.js";
import { cellOf, inCell, isSentence, line, tellingCells, told as toldCell } from "./items.js";
import { knownByBar } from "./known_by_bar.js";
import { swatch } from "./palette.js";
import { renameCluster } from "./rename_cluster.js";
import { BEFORE, requestQuestions } from "./requested_questions.js";
import { clusterName, percent } from "./wording.js";

const PAGE = 48;
const MOST_COLUMNS = 6;
const FEW_DIGITS = 3;
const HELP = "Open a group to see its members. To merge two, drop one on the other, or press M on both.";
const NONE = "No group is known yet. They appear here as you answer.";

export async function clustersView(root, app, signal) {
  const view = new BoardView(root, app, signal);
  app.live.addEventListener("labels", () => view.fetch().catch(() => {}), { signal });
  app.keys.bind(view.keys, signal);
  await view.fetch().catch((error) => app.notify(error.message));
}

class BoardView {
  #app;
  #signal;
  #groups = [];
  #offset = 0;
  // The number of the group that waits for another one to be merged with.
  #chosen = null;
  #cards = element("ul", { class: "groups" });
  #below = element("div");
  #help = element("p", { class: "lead", role: "status" }, "One moment.");

  constructor(root, app, signal) {
    [this.#app, this.#signal] = [app, signal];
    root.replaceChildren(
      element(
        "section",
        { class: "clusters" },
        element("h1", { tabindex: "-1" }, "Clusters"),
        this.#help,
        this.#cards,
        this.#below,
      ),
    );
  }

  get keys() {
    const along = (by) => () => this.#move(by);
    return {
      ArrowLeft: along(-1),
      ArrowRight: along(1),
      ArrowUp: () => this.#move(-this.#columns()),
      ArrowDown: () => this.#move(this.#columns()),
      m: () => this.#at >= 0 && this.#choose(this.#groups[this.#at]),
      n: () => this.#at >= 0 && this.#cards.children[this.#at].querySelector(".renaming button")?.click(),
      Escape: () => this.#choose(null),
      undo: () => this.#app.undo(),
    };
  }

  async fetch() {
    const { groups, differs, total } = await get(`board?offset=${this.#offset}&limit=${PAGE}`);
    // Never under the hands of somebody who types a name or drags a card.
    const isBusy = this.#cards.querySelector("form, .dragged");
    if (this.#signal.aborted || isBusy) return;
    const focused = this.#groups[this.#at]?.number;
    this.#groups = groups;
    this.#cards.replaceChildren(...groups.map((group) => this.#card(group, differs)));
    this.#below.replaceChildren(...this.#pages(total));
    this.#say();
    if (focused !== undefined) this.#link(groups.findIndex((one) => one.number === focused))?.focus();
  }

  get #at() {
    return [...this.#cards.children].indexOf(document.activeElement?.closest(".group"));
  }

  #link(at) {
    return this.#cards.children[at]?.querySelector("a");
  }

  #move(by) {
    const to = this.#at < 0 ? 0 : this.#at + by;
    if (to < 0 || to >= this.#groups.length) return false;
    this.#link(to)?.focus();
    return true;
  }

  #columns() {
    return getComputedStyle(this.#cards).gridTemplateColumns.split(" ").length;
  }

  #card(group, differs) {
    const name = clusterName(group);
    const card = element(
      "li",
      {
        class: "group",
        draggable: "true",
        "data-number": group.number,
        on: {
          dragstart: (event) => {
            event.dataTransfer.setData("text/plain", String(group.number));
            card.classList.add("dragged");
          },
          dragend: () => card.classList.remove("dragged"),
          dragover: (event) => {
            event.preventDefault();
            card.classList.add("target");
          },
          dragleave: () => card.classList.remove("target"),
          drop: (event) => this.#drop(event, card, group),
        },
      },
      element(
        "div",
        { class: "group-head" },
        element("h2", {}, swatch(group.number), element("a", { href: `#/cluster/${group.number}`, draggable: "false" }, name)),
        element("p", {}, told(group)),
      ),
      element("div", { class: "group-members", "aria-hidden": "true" }, ...members(group.typical, differs)),
      group.doubtful.length > 0 && doubtful(group, differs),
      knownByBar({ by_how: group.by_how, n_items: group.size }),
      element(
        "div",
        { class: "group-acts" },
        renameCluster(group, this.#app, () => this.fetch()),
        button("Merge", () => this.#choose(group), {
          class: "merge",
          "aria-label": `Merge ${name}`,
          "aria-pressed": String(this.#chosen === group.number),
        }),
      ),
    );
    return card;
  }

  #drop(event, card, group) {
    event.preventDefault();
    card.classList.remove("target");
    const other = this.#groups.find(({ number: which }) => String(which) === event.dataTransfer.getData("text/plain"));
    if (other && other !== group) this.#merge(other, group);
  }

  // The first choice waits for a second; the same again, or null, lets it go.
  #choose(group) {
    const first = this.#groups.find(({ number: which }) => which === this.#chosen);
    this.#chosen = group && group !== first && !first ? group.number : null;
    for (const shown of this.#cards.querySelectorAll(".merge")) {
      const { number: which } = shown.closest(".group").dataset;
      shown.setAttribute("aria-pressed", String(Number(which) === this.#chosen));
    }
    this.#say();
    if (group && first && group !== first) this.#merge(first, group);
  }

  #say() {
    const first = this.#groups.find(({ number: which }) => which === this.#chosen);
    if (first) this.#help.textContent = `Choose the group that is one with ${clusterName(first)}, or press Escape.`;
    else this.#help.textContent = this.#groups.length ? HELP : NONE;
  }

  async #merge(one, other) {
    const pair = [one, other];
    await requestQuestions(this.#app, {
      heading: `Merge ${pair.map(clusterName).join(" and ")}?`,
      intro: `You are asked whether an item of one and an item of the other are the same. ${BEFORE}`,
      beside: pair.map((group) =>
        element("div", { class: "group-members" }, ...members(group.typical, [])),
      ),
      ask: () => post("merge", { clusters: pair.map(({ number: which }) => which) }),
      none: "You were asked about all their members already. Take an answer back to change it.",
    });
  }

  #pages(total) {
    if (total <= PAGE) return [];
    const turn = (by) => {
      this.#offset += by;
      this.fetch().catch((error) => this.#app.notify(error.message));
    };
    const last = this.#offset + this.#groups.length;
    return [
      element(
        "nav",
        { class: "pages", "aria-label": "Pages of groups" },
        button("Larger groups", () => turn(-PAGE), { disabled: this.#offset === 0 }),
        element("span", {}, `${number(this.#offset + 1)} to ${number(last)} of ${number(total)}`),
        button("Smaller groups", () => turn(PAGE), { disabled: last >= total }),
      ),
    ];
  }
}

// How much of a group is beyond doubt, in a line.
export function told({ size, by_how: byHow, n_doubtful: doubted = 0, aliases = [] }) {
  const certain = (byHow.asked ?? 0) + (byHow.proven ?? 0);
  return [
    count(size, "item"),
    `${number(certain)} certain`,
    doubted > 0 && `${number(doubted)} in doubt`,
    aliases.length > 0 && `also ${aliases.join(", ")}`,
  ]
    .filter(Boolean)
    .join(", ");
}

// Pictures and texts one by one; of rows the values of all beside each other.
function members(typical, differs) {
  const items = typical.slice(0, typical.some(({ image, text }) => image || text != null) ? 4 : 3);
  if (items.some(({ image, text }) => image || text != null)) {
    return items.map((item) => inCell(item, differs));
  }
  const [first] = items;
  // Three sentences do not fit beside each other: those of one column are one line.
  const isLong = (cell) => items.some(({ cells }) => isSentence(cellOf({ cells }, cell.column)));
  const telling = tellingCells(first, differs);
  const shown = telling.filter((cell) => !isLong(cell)).slice(0, MOST_COLUMNS);
  const at = first.cells.map(({ column }) => column);
  const said = telling.filter(isLong).slice(0, 1).map(({ column }) => {
    const texts = items.map(({ cells }) => cells[at.indexOf(column)]?.text).filter(Boolean);
    return element("p", { class: "cell-sentence", title: column }, [...new Set(texts)].join(" · "));
  });
  return [
    ...said,
    styled(
      element(
        "div",
        { class: "side-by-side" },
        shown.flatMap(({ column }) => [
          element("span", { class: "cell-column", title: column }, column),
          ...items.map(({ cells }) => {
            const cell = cells[at.indexOf(column)];
            return element("span", { title: cell?.text }, toldCell(cell, FEW_DIGITS));
          }),
        ]),
      ),
      { "--members": String(items.length) },
    ),
  ];
}

function doubtful({ doubtful: doubted }, differs) {
  return element(
    "div",
    { class: "group-doubtful" },
    element("h3", {}, "In doubt"),
    element(
      "ul",
      {},
      doubted.map(({ item, probability }) =>
        element(
          "li",
          { title: item.title },
          item.image ? inCell(item, differs) : element("span", { class: "line" }, `${item.title}: ${line(item)}`),
          element("span", {}, percent(probability)),
        ),
      ),
    ),
  );
}
