// Which cluster? One choice settles several questions at once, where there are few clusters.

import { get } from "./api.js";
import { button, count, element } from "./elements.js";
import { picture, small, told } from "./items.js";
import { knownByBar } from "./known_by_bar.js";
import { swatch } from "./palette.js";
import { clusterName, progressLine } from "./wording.js";

const SHOWN = 4;

export function groupsView(root, app, signal) {
  const view = new GroupsView(root, app, signal);
  signal.addEventListener("abort", () => app.queue.pause());
  app.outbox.addEventListener("sent", ({ detail }) => view.placed(detail), { signal });
  return view.fetch();
}

class GroupsView {
  #app;
  #root;
  #signal;
  #item = null;
  #settled = 0;

  constructor(root, app, signal) {
    [this.#root, this.#app, this.#signal] = [root, app, signal];
  }

  async fetch() {
    try {
      await this.#app.queue.pause();
      const { item, groups } = await get("groups");
      if (!this.#signal.aborted) this.#draw(item, groups);
    } catch (error) {
      this.#app.notify(error.message);
    }
  }

  placed({ entry, reply }) {
    if (entry.path !== "placements") return;
    this.#app.say(`Settled ${count(reply.settled, "question")}.`);
    this.#settled = reply.settled;
    this.fetch();
  }

  #draw(item, groups) {
    this.#item = item;
    if (!item) {
      this.#app.go("");
      return;
    }
    const keys = { undo: () => this.#app.undo(), 0: () => this.#choose(null) };
    groups.slice(0, 9).forEach((group, i) => {
      keys[i + 1] = () => this.#choose(group.number);
    });
    this.#app.keys.bind(keys, this.#signal);
    this.#root.replaceChildren(
      element(
        "section",
        { class: "groups" },
        element(
          "div",
          { class: "asked" },
          element("h1", { tabindex: "-1" }, "Which cluster?"),
          element("p", { class: "about" }, item.title),
          element("a", { href: "#/", class: "other-way" }, "Compare two"),
        ),
        element(
          "div",
          { class: "placing", tabindex: "0", role: "group", "aria-label": item.title },
          whole(item),
        ),
        element(
          "ul",
          { class: "group-list" },
          groups.map((group, i) => element("li", {}, this.#group(group, i + 1))),
          element("li", {}, this.#none(groups.length)),
        ),
        element("div", { class: "beside" }, this.#undo()),
        this.#progress(),
      ),
    );
    this.#app.say(
      `Which cluster does ${item.title} belong to? ${count(groups.length, "cluster")} to choose from.`,
    );
  }

  #undo() {
    const { keys } = this.#app;
    return button([element("kbd", {}, keys.sign("undo")), "Undo"], () => this.#app.undo());
  }

  #progress() {
    const { progress } = this.#app;
    if (!progress) return null;
    const settled = this.#settled
      ? `Your last choice settled ${count(this.#settled, "question")} \u00b7 `
      : "";
    return element(
      "div",
      { class: "far" },
      knownByBar(progress),
      element("p", {}, settled + progressLine(progress)),
    );
  }

  #group(group, position) {
    return button(
      [
        element(
          "span",
          { class: "group-head" },
          position <= 9 && element("kbd", {}, String(position)),
          swatch(group.number),
          clusterName(group),
        ),
        element("span", { class: "group-members" }, group.members.slice(0, SHOWN).map(small)),
      ],
      () => this.#choose(group.number),
      { class: "group" },
    );
  }

  #none(n) {
    const text = n ? "None of these" : "A cluster of its own";
    return button(
      element("span", { class: "group-head" }, element("kbd", {}, "0"), text),
      () => this.#choose(null),
      { class: "group" },
    );
  }

  #choose(group) {
    if (!this.#item) return;
    const { key } = this.#item;
    this.#item = null;
    this.#root.firstElementChild?.classList.add("passed");
    this.#app.outbox.add("placements", { item: key, group }, null);
  }
}

function cellLine(cell) {
  return element(
    "div",
    {},
    element("dt", {}, cell.column),
    element("dd", { title: cell.text }, told(cell)),
  );
}

function whole(item) {
  return element(
    "div",
    { class: "whole" },
    item.image && element("div", { class: "frame" }, picture(item)),
    item.text != null && element("p", { class: "text" }, item.text),
    item.cells.length > 0 && element("dl", { class: "cells" }, item.cells.map(cellLine)),
  );
}
