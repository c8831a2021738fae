// All clusters: their names, sizes and how their labels are known; two of them can be merged.

import { get, post } from "./api.js";
import { button, count, element, number } from "./elements.js";
import { howBar } from "./how_bar.js";
import { swatch } from "./palette.js";
import { renaming } from "./renaming.js";
import { wantQuestions } from "./wanting.js";
import { clusterName } from "./words.js";

export async function clustersView(place, app, signal) {
  const chosen = new Set();
  const list = element("div", { class: "cluster-list" });
  const merge = button("Merge the two chosen", () => mergeChosen(chosen, list.clusters, app), { disabled: true });
  place.replaceChildren(
    element(
      "section",
      { class: "clusters" },
      element("div", { class: "view-head" }, element("h1", { tabindex: "-1" }, "Clusters"), merge),
      element("p", { class: "lead" }, "Choose two that are one to merge them: you are asked the question that decides it."),
      list,
    ),
  );
  const choose = (which, isChosen) => {
    if (isChosen) chosen.add(which);
    else chosen.delete(which);
    merge.disabled = chosen.size !== 2;
  };
  const draw = async () => {
    const { clusters } = await get("clusters");
    // Never under the hands of somebody who types a name.
    if (signal.aborted || list.contains(document.activeElement?.closest("form"))) return;
    list.clusters = clusters;
    drawList(list, clusters, chosen, choose, app, draw);
  };
  app.live.addEventListener("labels", () => draw().catch(() => {}), { signal });
  await draw().catch((error) => app.notify(error.message));
}

function drawList(list, clusters, chosen, choose, app, redraw) {
  if (!clusters.length) {
    list.replaceChildren(element("p", {}, "No cluster is known yet. They appear here as you answer."));
    return;
  }
  const head = ["Choose", "Cluster", "Items", "How known", "Such as", "Name"];
  list.replaceChildren(
    element(
      "table",
      { class: "list" },
      element("thead", {}, element("tr", {}, head.map((text) => element("th", { scope: "col" }, text)))),
      element("tbody", {}, clusters.map((one) => clusterRow(one, chosen, choose, app, redraw))),
    ),
  );
}

function clusterRow(cluster, chosen, choose, app, redraw) {
  const name = clusterName(cluster);
  const box = element("input", {
    type: "checkbox",
    "aria-label": `Choose ${name}`,
    on: { change: () => choose(cluster.number, box.checked) },
  });
  box.checked = chosen.has(cluster.number);
  return element(
    "tr",
    {},
    element("td", { class: "choose" }, box),
    element("th", { scope: "row" }, swatch(cluster.number), element("a", { href: `#/cluster/${cluster.number}` }, name)),
    element("td", { class: "amount", "data-label": "Items" }, number(cluster.size)),
    element("td", { class: "share", "data-label": "How known" }, howBar({ by_how: cluster.by_how, n_items: cluster.size })),
    element("td", { class: "such", "data-label": "Such as" }, cluster.anchor),
    element("td", { class: "rename" }, renaming(cluster, app, redraw)),
  );
}

async function mergeChosen(chosen, clusters, app) {
  const pair = [...chosen];
  const names = pair.map((which) => clusterName(clusters.find((one) => one.number === which)));
  await wantQuestions(app, {
    heading: `Merge ${names.join(" and ")}?`,
    intro: "You are asked whether an item of one and an item of the other are the same. Nothing changes before you answer, and the question shows what each answer would do.",
    ask: () => post("merge", { clusters: pair }),
    none: `You were asked about all their members already: ${count(0, "question")} would be left.`,
  });
}
