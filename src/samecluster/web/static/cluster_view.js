// One group: a sheet of its members, those most in doubt first, to mark the odd ones; and all of them,
// how each is known, and why each is here. Only what was on the screen counts as answered.

import { get, post } from "./api.js";
import { button, count, element, number } from "./elements.js";
import { GridLook } from "./grid_look.js";
import { showHelp } from "./help.js";
import { fetchPictures, line, picture } from "./items.js";
import { swatch } from "./palette.js";
import { renameCluster } from "./rename_cluster.js";
import { BEFORE, requestQuestions } from "./requested_questions.js";
import { Stopwatch } from "./stopwatch.js";
import { told } from "./clusters_view.js";
import { clusterName, HOW, percent, sentence } from "./wording.js";

const SHEET = 12;
const SMALL_SHEET = 6;
const PAGE = 50;
const CLOCK = new Stopwatch();

export async function clusterView(root, app, signal, which) {
  const view = new ClusterView(root, app, signal, Number(which));
  await view.fetch();
}

class ClusterView {
  #app;
  #signal;
  #number;
  #how = "";
  #offset = 0;
  // Members that were passed over, and those that were answered here: the server may not know yet.
  #passed = 0;
  #answered = new Set();
  #head = element("div", { class: "view-head" });
  #sheet = element("div", { class: "group-sheet" });
  #list = element("div", { class: "cluster" });

  constructor(root, app, signal, which) {
    [this.#app, this.#signal, this.#number] = [app, signal, which];
    this.#head.append(element("h1", { tabindex: "-1" }, `Cluster ${which}`));
    root.replaceChildren(
      element(
        "section",
        { class: "cluster" },
        element("p", { class: "back" }, element("a", { href: "#/clusters" }, "All clusters")),
        this.#head,
        this.#sheet,
        this.#list,
      ),
    );
  }

  async fetch() {
    try {
      await Promise.all([this.#fetchSheet(), this.#fetchList()]);
    } catch (error) {
      this.#app.notify(error.message);
    }
  }

  async #fetchList() {
    const asked = `clusters/${this.#number}?offset=${this.#offset}&limit=${PAGE}&how=${this.#how}`;
    const cluster = await get(asked.replace(/&how=$/, ""));
    if (!this.#signal.aborted) this.#drawList(cluster);
  }

  async #fetchSheet() {
    const limit = Math.min(200, SHEET + this.#answered.size);
    const cluster = await get(`clusters/${this.#number}?offset=${this.#passed}&limit=${limit}`);
    if (this.#signal.aborted) return;
    this.#head.replaceChildren(
      element("h1", { tabindex: "-1" }, swatch(cluster.number), clusterName(cluster)),
      element("p", { class: "lead" }, `${told(cluster)}.`),
      renameCluster(cluster, this.#app, () => this.fetch()),
    );
    const open = cluster.members.filter(
      ({ item, how }) => how !== "asked" && !this.#answered.has(item.key),
    );
    // Twelve texts or rows cannot be read on a phone.
    const isNarrow = matchMedia("(max-width: 48rem)").matches && !cluster.reference.image;
    this.#drawSheet(cluster, open.slice(0, isNarrow ? SMALL_SHEET : SHEET));
  }

  #drawSheet(cluster, members) {
    const items = members.map(({ item }) => item);
    if (!items.length) {
      this.#sheet.replaceChildren(element("p", { class: "lead" }, nothingLeft(this.#passed)));
      this.#app.keys.bind(this.#beside(), this.#signal);
      return;
    }
    const body = { kind: "sheet", reference: cluster.reference.key, items: items.map(({ key }) => key) };
    const look = {
      ...{ id: JSON.stringify(body), kind: "sheet", before: null, references: [] },
      ...{ item: cluster.reference, items, differs: cluster.differs },
    };
    const grid = new GridLook(look, this.#app, {
      level: "h2",
      notes: members.map(sureness),
      send: (reply, said) => this.#reply(look, reply, said),
      beside: [{ action: "more", text: "Others", does: () => this.#pass(items.length) }],
    });
    this.#sheet.replaceChildren(grid.node);
    CLOCK.start();
    const more = { more: () => this.#pass(items.length) };
    this.#app.keys.bind({ ...this.#beside(), ...grid.keys, ...more }, this.#signal);
    fetchPictures(look);
  }

  #beside() {
    return { undo: () => this.#app.undo(), help: () => showHelp(this.#app.keys) };
  }

  #pass(by) {
    this.#passed += by;
    this.#fetchSheet().catch((error) => this.#app.notify(error.message));
  }

  async #reply(look, reply, said) {
    look.items.forEach(({ key }) => this.#answered.add(key));
    this.#app.outbox.add("looks", { look: look.id, reply, seconds: CLOCK.seconds }, look);
    this.#app.say(said);
    await this.#app.outbox.send();
    await this.fetch();
  }

  #drawList(cluster) {
    this.#list.replaceChildren(
      element(
        "div",
        { class: "tools" },
        element("h2", {}, "All members"),
        this.#filter(),
      ),
      element(
        "ul",
        { class: "members" },
        cluster.members.map((member) => this.#member(member)),
      ),
      ...[this.#pages(cluster)].filter(Boolean),
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
    this.#fetchList().catch((error) => this.#app.notify(error.message));
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

  #member(member) {
    const { item, how } = member;
    const why = element("div", { class: "why", role: "status" });
    return element(
      "li",
      { class: "member" },
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
        [HOW[how].name, sureness(member)].filter(Boolean).join(", "),
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
}

function sureness({ how, probability }) {
  return how === "predicted" && probability != null ? `${percent(probability)} sure` : "";
}

function nothingLeft(passed) {
  return passed ? `${count(passed, "member")} were passed over; no other is left to check.` : "A person has compared every member.";
}
