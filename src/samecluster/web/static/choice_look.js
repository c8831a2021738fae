// A choice: one item, and cards of groups. One key answers: the place of a card, 0 for none.

import { element, styled } from "./elements.js";
import { inCell, whole } from "./items.js";
import { LookFrame } from "./look_frame.js";
import { swatch } from "./palette.js";
import { clusterName } from "./wording.js";

const CARDS = 9;

export class ChoiceLook {
  #frame;
  #cards = element("ul", { class: "cards" });
  #find = element("input", {
    type: "search",
    class: "find",
    placeholder: "Find a group by name",
    "aria-label": "Find a group by name",
    autocomplete: "off",
  });
  #page = 0;
  #severalOn = false;
  // Places of groups that are one, in the order in which they were added.
  #picked = new Set();

  constructor(look, app) {
    const { item } = look;
    this.#frame = new LookFrame(look, app, "Which group?", `Where does ${item.title} belong?`);
    this.#frame.body.classList.add("choosing");
    this.#frame.body.append(
      element(
        "div",
        { class: "placing", tabindex: "0", role: "group", "aria-label": item.title },
        whole(item, look.differs),
      ),
      element("div", { class: "choices-of-groups" }, this.#hasNames() && this.#find, this.#cards),
    );
    this.#find.addEventListener("input", () => this.#draw());
    this.#find.addEventListener("keydown", (event) => this.#typed(event));
    (this.#frame.kept() ?? []).forEach((place) => this.#picked.add(place));
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
    const before = look.before ? " You have answered this before." : "";
    return `Which group does ${look.item.title} belong to? ${look.groups.length} to choose from.${before}`;
  }

  get keys() {
    const digits = Array.from({ length: CARDS }, (_, at) => at);
    return {
      ...Object.fromEntries(digits.map((at) => [`${at + 1}`, () => this.#press(at)])),
      ...Object.fromEntries(digits.map((at) => [`Shift+${at + 1}`, () => this.#toggleAt(at)])),
      none: () => this.#none(),
      unsure: () => this.#unsure(),
      larger: () => this.#frame.showLarger(this.#frame.look.item),
      more: () => this.#next(),
      find: () => (this.#hasNames() ? this.#find.focus() : false),
      another: () => this.#several(),
      Enter: (event) => (event.target.closest("button, a") ? false : this.#sendPicked()),
    };
  }

  drawButtons() {
    this.#draw();
  }

  focus() {
    this.#frame.node.querySelector("h1").focus({ preventScroll: true });
  }

  #hasNames() {
    return this.#frame.look.groups.some(({ cluster }) => cluster?.name);
  }

  // Groups that a text finds, by name or number, with their places.
  #found() {
    const wanted = this.#find.value.trim().toLowerCase();
    const all = this.#frame.look.groups.map((group, place) => ({ ...group, place }));
    return all.filter((group) => nameOf(group).toLowerCase().includes(wanted));
  }

  #shown() {
    return this.#found().slice(this.#page * CARDS, (this.#page + 1) * CARDS);
  }

  #nPages() {
    return Math.max(1, Math.ceil(this.#found().length / CARDS));
  }

  #draw() {
    this.#page %= this.#nPages();
    const shown = this.#shown();
    styled(this.#cards, { "--n": `${shown.length}` });
    this.#cards.dataset.n = shown.length;
    this.#cards.replaceChildren(
      ...shown.map((group, at) => element("li", {}, this.#card(group, at))),
    );
    const several = this.#severalOn || this.#picked.size > 0;
    this.#frame.drawButtons(
      [
        ...(several
          ? [{ key: "Enter", text: this.#pickedText(), does: () => this.#sendPicked(), isMain: true }]
          : []),
        { action: "none", does: () => this.#none() },
        { action: "unsure", does: () => this.#unsure() },
      ],
      [
        ...(this.#nPages() > 1 ? [{ action: "more", does: () => this.#next() }] : []),
        {
          action: "another",
          text: "Several are one",
          does: () => this.#several(),
          pressed: this.#severalOn,
        },
      ],
    );
  }

  #card(group, at) {
    const { look } = this.#frame;
    const isPicked = this.#picked.has(group.place);
    return element(
      "button",
      {
        type: "button",
        class: "card-of-group",
        "aria-pressed": String(isPicked),
        "aria-keyshortcuts": `${at + 1}`,
        "data-place": group.place,
        on: { click: () => this.#press(at) },
      },
      element("kbd", { class: "place" }, `${at + 1}`),
      element(
        "span",
        { class: "group-name" },
        group.cluster && swatch(group.cluster.number),
        nameOf(group),
      ),
      element("span", { class: "group-members" }, group.members.map((one) => inCell(one, look.differs))),
    );
  }

  #press(at) {
    const group = this.#shown()[at];
    if (!group) return;
    if (this.#severalOn) {
      this.#toggleAt(at);
      return;
    }
    this.#picked.add(group.place);
    this.#sendPicked();
  }

  #toggleAt(at) {
    const group = this.#shown()[at];
    if (!group) return;
    if (!this.#picked.delete(group.place)) this.#picked.add(group.place);
    this.#frame.keep([...this.#picked]);
    this.#draw();
    this.#cards.querySelectorAll("button")[at]?.focus();
  }

  #several() {
    this.#severalOn = !this.#severalOn;
    this.#draw();
  }

  #next() {
    if (this.#nPages() < 2) return;
    this.#page += 1;
    this.#draw();
    this.#frame.app.say(`Page ${this.#page + 1} of ${this.#nPages()}`);
  }

  #sendPicked() {
    if (!this.#picked.size) return;
    const groups = [...this.#picked].sort((one, two) => one - two);
    const names = groups.map((place) => nameOf(this.#frame.look.groups[place]));
    this.#frame.send({ groups }, names.join(" and "));
  }

  #pickedText() {
    const n = this.#picked.size;
    return n > 1 ? `These ${n} are one` : "Send";
  }

  #none() {
    this.#frame.send({ none: true }, "none of these");
  }

  #unsure() {
    this.#frame.send({ unsure: true }, "unsure");
  }

  #typed(event) {
    if (event.key === "Enter" && this.#find.value.trim() && this.#shown().length) {
      event.preventDefault();
      this.#press(0);
    } else if (event.key === "Escape") {
      this.#find.value = "";
      this.#draw();
      this.focus();
    }
  }
}

function nameOf({ cluster, members }) {
  return cluster ? clusterName(cluster) : `With ${members[0].title}`;
}
