// How far the session is: labels by how they are known, what they rest on, what is left, and where
// the items lie, live.

import { get, post } from "./api.js";
import { count, element, number } from "./elements.js";
import { knownByBar, knownByLegend } from "./known_by_bar.js";
import { swatch } from "./palette.js";
import { Scatter } from "./scatter.js";
import { clusterName, HOW, HOW_CODES, knownLine, sentence } from "./wording.js";

export function progressView(root, app, signal) {
  const heading = element("h1", { tabindex: "-1" }, "Progress");
  const told = element("div", { class: "told" });
  const plot = new LivePlot(app, signal);
  const goal = app.session.role === "owner" && new StopAt(app);
  root.replaceChildren(
    element(
      "section",
      { class: "progress" },
      heading,
      element(
        "div",
        { class: "two" },
        element("div", { class: "told" }, told, goal && goal.node),
        plot.node,
      ),
    ),
  );
  const draw = () => {
    if (!app.progress) return;
    heading.textContent = knownLine(app.progress);
    drawTold(told, app.progress, app.session.sample);
    if (goal) goal.draw(app.progress);
  };
  app.addEventListener("progress", draw, { signal });
  draw();
  plot.fetch();
}

function drawTold(told, progress, sample) {
  told.replaceChildren(
    element(
      "section",
      { class: "card" },
      element("h2", {}, "How labels are known"),
      sample && element("p", {}, sample),
      knownByBar(progress),
      knownByLegend(progress),
      progress.claims.length > 0 && [
        element("h3", {}, "What this rests on"),
        element(
          "ul",
          { class: "rests-on" },
          progress.claims.map((claim) => element("li", {}, claim.text)),
        ),
      ],
    ),
    element(
      "dl",
      { class: "card facts" },
      fact("Questions answered", number(progress.n_questions)),
      fact("Looks", number(progress.n_looks)),
      fact("Left", leftText(progress)),
      fact("Clusters found", number(progress.n_clusters)),
      fact("Audit", progress.audit ? sentence(progress.audit.text) : "None was asked for."),
    ),
  );
}

function fact(name, value) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, value));
}

function leftText({ left, ended }) {
  if (ended) return sentence(ended);
  if (!left) return "Not known yet; an estimate comes after a few answers.";
  return left.text;
}

// "Stop when about 2 % of the labels may be wrong": a field of its own, which what is told live
// does not replace while somebody types.
class StopAt {
  #app;
  #field = element("input", {
    type: "number",
    min: "0",
    max: "50",
    step: "any",
    placeholder: "0.1",
    "aria-label": "Percent of the labels that may be wrong at the end",
  });

  constructor(app) {
    this.#app = app;
    this.node = element(
      "form",
      { class: "card stop-at" },
      element("h2", {}, "When to stop"),
      element(
        "p",
        {},
        "Stop at about ",
        this.#field,
        " % wrong labels. ",
        element("button", { type: "submit" }, "Set"),
      ),
      element("p", { class: "by" }, "An estimate, for predicted labels; an audit shows a bound."),
    );
    this.node.hidden = true;
    this.node.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#set();
    });
  }

  draw({ by_how: byHow, stop_at: share }) {
    this.node.hidden = !byHow.predicted && share === null;
    if (document.activeElement === this.#field) return;
    this.#field.value = share === null ? "" : `${Number((100 * share).toPrecision(6))}`;
  }

  async #set() {
    const text = this.#field.value.trim();
    try {
      await post("stop-at", { share: text === "" ? null : Number(text) / 100 }, 300);
      this.#field.blur();
      await this.#app.refreshProgress();
      await this.#app.queue.refresh();
      this.#app.notify(`It stops when about ${text || "0.1"} % of the labels may be wrong.`);
    } catch (error) {
      this.#app.notify(error.message);
    }
  }
}

class LivePlot {
  #app;
  #signal;
  #plot = null;
  #names = new Map();
  #canvas = element("canvas", { role: "img", "aria-label": "Scatter plot of the items" });
  #picked = element("p", { class: "picked", role: "status" });
  #axes = element("p", { class: "axes" });
  #legend = element("ul", { class: "legend" });
  #scatter;
  #fetching = false;
  #stale = false;

  constructor(app, signal) {
    this.#app = app;
    this.#signal = signal;
    this.#scatter = new Scatter(this.#canvas, (point) => this.#pick(point), signal);
    this.node = element(
      "section",
      { class: "card plot", "aria-labelledby": "plot" },
      element("h2", { id: "plot" }, "Where the items lie"),
      this.#canvas,
      this.#axes,
      this.#picked,
      this.#legend,
    );
    this.node.setAttribute("aria-busy", "true");
    this.#picked.textContent = "Working out where the items lie…";
    app.live.addEventListener("labels", ({ detail }) => this.fetch(detail?.plot), { signal });
  }

  // One request at a time; what changed meanwhile is fetched after it.
  async fetch(version) {
    if (this.#fetching) {
      this.#stale = true;
      return;
    }
    this.#fetching = true;
    await this.#fetchOnce(version).catch(() => {});
    this.#fetching = false;
    if (this.#stale && !this.#signal.aborted) {
      this.#stale = false;
      this.fetch();
    }
  }

  async #fetchOnce(version) {
    const isNew = !this.#plot || (version !== undefined && version !== this.#plot.version);
    const [latest, { clusters }] = await Promise.all([
      get(isNew ? "plot" : "plot/labels"),
      get("clusters"),
    ]);
    if (this.#signal.aborted) return;
    if (!isNew && latest.version !== this.#plot.version) {
      this.#plot = null;
      this.#stale = true;
      return;
    }
    if (this.node.getAttribute("aria-busy")) {
      this.node.removeAttribute("aria-busy");
      this.#picked.textContent = "Choose a point to see which item it is.";
    }
    this.#plot = { ...this.#plot, ...latest };
    this.#names = new Map(clusters.map((one) => [one.number, one.name]));
    this.#scatter.show(this.#plot, this.#names);
    this.#describe(clusters);
  }

  #describe(clusters) {
    const [across, up] = this.#plot.axes;
    const grey = this.#plot.labels.filter((label) => label < 0).length;
    const beyond = this.#plot.n_beyond;
    this.#axes.textContent = [
      across || up ? `Across: ${across}. Up: ${up}.` : "Items near each other are alike.",
      beyond > 0 && `${count(beyond, "item")} far beyond the others ${beyond === 1 ? "is" : "are"} on the edge.`,
    ].filter(Boolean).join(" ");
    this.#canvas.setAttribute(
      "aria-label",
      `Scatter plot of ${count(this.#plot.x.length, "item")} in ${count(clusters.length, "cluster")}; ` +
        `${number(grey)} have no label yet and are grey.`,
    );
    this.#legend.replaceChildren(
      ...clusters.map((one) =>
        element(
          "li",
          {},
          swatch(one.number),
          element("a", { href: `#/cluster/${one.number}` }, clusterName(one)),
          ` ${number(one.size)}`,
        ),
      ),
      ...(grey > 0
        ? [element("li", {}, element("span", { class: "swatch grey" }), "No label yet ", number(grey))]
        : []),
    );
  }

  #pick(i) {
    if (i === null) return;
    const { titles, items, labels, how } = this.#plot;
    const title = titles?.[i] ?? items[i];
    if (labels[i] < 0) {
      this.#picked.replaceChildren(`${title}: no label yet.`);
      return;
    }
    const cluster = { number: labels[i], name: this.#names.get(labels[i]) };
    this.#picked.replaceChildren(
      `${title}: `,
      element("a", { href: `#/cluster/${labels[i]}` }, clusterName(cluster)),
      `, ${HOW[HOW_CODES[how[i]]].name.toLowerCase()}.`,
    );
  }
}
