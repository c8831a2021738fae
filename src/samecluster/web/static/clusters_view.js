// All clusters: their names, sizes and how their labels are known; two of them can be merged.

import { get, post } from "./api.js";
import { button, element, listTable, number } from "./elements.js";
import { knownByBar } from "./known_by_bar.js";
import { swatch } from "./palette.js";
import { renameCluster } from "./rename_cluster.js";
import { BEFORE, requestQuestions } from "./requested_questions.js";
import { clusterName } from "./wording.js";

const MERGING =
  "Choose two that are one to merge them: you are asked the question that decides it.";
const NONE = "No cluster is known yet. They appear here as you answer.";

export async function clustersView(root, app, signal) {
  const view = new ClustersView(root, app, signal);
  app.live.addEventListener("labels", () => view.fetch().catch(() => {}), { signal });
  await view.fetch().catch((error) => app.notify(error.message));
}

class ClustersView {
  #app;
  #signal;
  #clusters = [];
  #chosen = new Set();
  #list = element("div", { class: "cluster-list" });
  #merge = button("Merge the two chosen", () => this.#mergeChosen(), { disabled: true });

  constructor(root, app, signal) {
    [this.#app, this.#signal] = [app, signal];
    const head = element("h1", { tabindex: "-1" }, "Clusters");
    root.replaceChildren(
      element(
        "section",
        { class: "clusters" },
        element("div", { class: "view-head" }, head, this.#merge),
        element("p", { class: "lead" }, MERGING),
        this.#list,
      ),
    );
  }

  async fetch() {
    const { clusters } = await get("clusters");
    // Never under the hands of somebody who types a name.
    const isTyping = this.#list.contains(document.activeElement?.closest("form"));
    if (this.#signal.aborted || isTyping) return;
    this.#clusters = clusters;
    this.#list.replaceChildren(clusters.length ? this.#table() : element("p", {}, NONE));
  }

  #table() {
    const head = ["Choose", "Cluster", "Items", "How known", "Such as", "Name"];
    return listTable(
      head,
      this.#clusters.map((one) => this.#row(one)),
    );
  }

  #row(cluster) {
    const { number: which, size, by_how: byHow, anchor, aliases } = cluster;
    const name = clusterName(cluster);
    return element(
      "tr",
      {},
      element("td", { class: "choose" }, this.#box(which, name)),
      element(
        "th",
        { scope: "row" },
        swatch(which),
        element("a", { href: `#/cluster/${which}` }, name),
        aliases.length > 0 && ` (also ${aliases.join(", ")})`,
      ),
      element("td", { class: "amount", "data-label": "Items" }, number(size)),
      element(
        "td",
        { class: "share", "data-label": "How known" },
        knownByBar({ by_how: byHow, n_items: size }),
      ),
      element("td", { class: "such", "data-label": "Such as" }, anchor),
      element(
        "td",
        { class: "rename" },
        renameCluster(cluster, this.#app, () => this.fetch()),
      ),
    );
  }

  #box(which, name) {
    const box = element("input", {
      type: "checkbox",
      "aria-label": `Choose ${name}`,
      on: {
        change: () => {
          if (box.checked) this.#chosen.add(which);
          else this.#chosen.delete(which);
          this.#merge.disabled = this.#chosen.size !== 2;
        },
      },
    });
    box.checked = this.#chosen.has(which);
    return box;
  }

  async #mergeChosen() {
    const pair = [...this.#chosen];
    const names = pair.map((which) =>
      clusterName(this.#clusters.find((one) => one.number === which)),
    );
    await requestQuestions(this.#app, {
      heading: `Merge ${names.join(" and ")}?`,
      intro: `You are asked whether an item of one and an item of the other are the same. ${BEFORE}`,
      ask: () => post("merge", { clusters: pair }),
      none: "You were asked about all their members already. Take an answer back to change it.",
    });
  }
}
