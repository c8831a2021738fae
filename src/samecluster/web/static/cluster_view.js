// One cluster: its members, how each is known, and why each is here.

import { get, post } from "./api.js";
import { button, count, element, number } from "./elements.js";
import { line, picture } from "./items.js";
import { swatch } from "./palette.js";
import { renameCluster } from "./rename_cluster.js";
import { BEFORE, requestQuestions } from "./requested_questions.js";
import { clusterName, HOW, sentence } from "./wording.js";

const PAGE = 50;

export async function clusterView(root, app, signal, which) {
  const view = new ClusterView(root, app, signal, Number(which));
  await view.fetch();
}

class ClusterView {
  #app;
  #root;
  #signal;
  #number;
  #how = "";
  #offset = 0;
  #chosen = new Set();

  constructor(root, app, signal, which) {
    [this.#root, this.#app, this.#signal, this.#number] = [root, app, signal, which];
    root.replaceChildren(element("h1", { tabindex: "-1" }, `Cluster ${which}`));
  }

  async fetch() {
    const asked = `clusters/${this.#number}?offset=${this.#offset}&limit=${PAGE}&how=${this.#how}`;
    try {
      const cluster = await get(asked.replace(/&how=$/, ""));
      if (!this.#signal.aborted) this.#draw(cluster);
    } catch (error) {
      this.#app.notify(error.message);
    }
  }

  #draw(cluster) {
    const split = button("Split off the chosen", () => this.#split(cluster), { disabled: true });
    this.#chosen.clear();
    this.#root.replaceChildren(
      element(
        "section",
        { class: "cluster" },
        element("p", { class: "back" }, element("a", { href: "#/clusters" }, "All clusters")),
        element(
          "div",
          { class: "view-head" },
          element("h1", { tabindex: "-1" }, swatch(cluster.number), clusterName(cluster)),
          renameCluster(cluster, this.#app, () => this.fetch()),
        ),
        element(
          "p",
          { class: "lead" },
          `${count(cluster.size, "item")}. Choose those that do not belong here to split them off.`,
        ),
        element("div", { class: "tools" }, this.#filter(), split),
        element(
          "ul",
          { class: "members" },
          cluster.members.map((member) => this.#member(member, split)),
        ),
        this.#pages(cluster),
      ),
    );
  }

  #filter() {
    const kinds = Object.entries(HOW).filter(([how]) => how !== "unassigned");
    const select = element(
      "select",
      { id: "how", on: { change: () => this.#turn(0, select.value) } },
      element("option", { value: "" }, "All"),
      kinds.map(([how, { name }]) =>
        element("option", { value: how, selected: how === this.#how }, name),
      ),
    );
    return element("p", { class: "filter" }, element("label", { for: "how" }, "How known"), select);
  }

  #turn(offset, how = this.#how) {
    [this.#offset, this.#how] = [offset, how];
    this.fetch();
  }

  #pages({ total, members }) {
    if (total <= PAGE) return null;
    const last = this.#offset + members.length;
    return element(
      "nav",
      { class: "pages", "aria-label": "Pages of members" },
      button("Previous", () => this.#turn(this.#offset - PAGE), { disabled: this.#offset === 0 }),
      element("span", {}, `${number(this.#offset + 1)} to ${number(last)} of ${number(total)}`),
      button("Next", () => this.#turn(this.#offset + PAGE), { disabled: last >= total }),
    );
  }

  #member({ item, how, probability }, split) {
    const why = element("div", { class: "why", role: "status" });
    const box = element("input", {
      type: "checkbox",
      "aria-label": `Choose ${item.title}`,
      on: { change: () => this.#choose(item.key, box.checked, split) },
    });
    const sure =
      how !== "predicted" || probability == null ? "" : `, ${Math.round(100 * probability)} % sure`;
    return element(
      "li",
      { class: "member" },
      box,
      item.image && element("div", { class: "member-picture" }, picture(item, { loading: "lazy" })),
      element(
        "div",
        { class: "member-told" },
        element("strong", {}, item.title),
        element("p", { class: "member-line" }, line(item)),
        why,
      ),
      element(
        "span",
        { class: "member-how" },
        element("span", { class: `key how-${how}` }),
        `${HOW[how].name}${sure}`,
      ),
      element(
        "div",
        { class: "member-acts" },
        button("Why is this here?", () => this.#why(item, why), {
          "aria-label": `Why is ${item.title} here?`,
        }),
        button("This is wrong", () => this.#doubt(item), {
          "aria-label": `${item.title} is in the wrong cluster`,
        }),
      ),
    );
  }

  #choose(key, isChosen, split) {
    if (isChosen) this.#chosen.add(key);
    else this.#chosen.delete(key);
    split.disabled = this.#chosen.size === 0;
  }

  async #why(item, target) {
    if (target.textContent) {
      target.replaceChildren();
      return;
    }
    const { text } = await get(`why?item=${encodeURIComponent(item.key)}`, 120).catch((error) => ({
      text: error.message,
    }));
    target.replaceChildren(element("p", {}, sentence(text)));
  }

  #doubt(item) {
    return requestQuestions(this.#app, {
      heading: `Is ${item.title} in the wrong cluster?`,
      intro: `You are asked to compare it with members of this cluster, then of others. ${BEFORE}`,
      ask: () => post("doubt", { item: item.key }),
      none: "You were asked about all pairs that could decide this. Take an answer back to change it.",
    });
  }

  #split(cluster) {
    const items = [...this.#chosen];
    return requestQuestions(this.#app, {
      heading: `Split ${count(items.length, "item")} off ${clusterName(cluster)}?`,
      intro: `You are asked to compare each of them with the first item of the cluster. ${BEFORE}`,
      ask: () => post("split", { cluster: cluster.number, items }),
      none: "These cannot be split off: the cluster is named after this item.",
    });
  }
}
