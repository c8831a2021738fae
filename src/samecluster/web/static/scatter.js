// The scatter plot: where items lie, coloured by cluster, grey where no label is known. Numbers or
// names stand at the middle of each cluster, so that nothing hangs on colour alone.

import { colourOf, OUTLINES, shapeOf } from "./palette.js";

const EDGE = 24;
const NEAR = 12;
const MOST_NAMED = 30;
const LONGEST_NAME = 18;

export class Scatter {
  #canvas;
  #plot = null;
  #names = new Map();
  #positions = [];

  // onPick is told the index of the point nearest to a click or a touch.
  constructor(canvas, onPick, signal) {
    this.#canvas = canvas;
    canvas.addEventListener("click", (event) => onPick(this.#nearest(event)), { signal });
    const watcher = new ResizeObserver(() => this.draw());
    watcher.observe(canvas);
    signal.addEventListener("abort", () => watcher.disconnect());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw(), {
      signal,
    });
  }

  show(plot, names) {
    this.#plot = plot;
    this.#names = names;
    this.draw();
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.#canvas;
    if (!this.#plot || !width) return;
    const scale = devicePixelRatio || 1;
    this.#canvas.width = Math.round(width * scale);
    this.#canvas.height = Math.round(height * scale);
    const pen = this.#canvas.getContext("2d");
    pen.scale(scale, scale);
    this.#positions = positionsOf(this.#plot, width, height);
    this.#drawPoints(pen);
    this.#drawNames(pen);
  }

  // Unlabelled points lie below all others; asked ones, the surest, are drawn larger and last.
  #drawPoints(pen) {
    const { labels, how } = this.#plot;
    const order = [...labels.keys()].sort((one, two) => how[one] - how[two]);
    const radius = labels.length > 5000 ? 1.8 : labels.length > 800 ? 2.6 : 3.6;
    const { grey, paper } = inks(this.#canvas);
    for (const i of order) {
      const isAsked = how[i] === 4;
      pen.fillStyle = labels[i] < 0 ? grey : colourOf(labels[i]);
      outline(pen, this.#positions[i], isAsked ? radius * 1.5 : radius, labels[i]);
      pen.fill();
      if (isAsked) {
        pen.strokeStyle = paper;
        pen.stroke();
      }
    }
  }

  #drawNames(pen) {
    const { labels } = this.#plot;
    const members = grouped(labels);
    if (members.size > MOST_NAMED) return;
    const { ink, paper } = inks(this.#canvas);
    pen.font = "600 13px system-ui, sans-serif";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.lineWidth = 4;
    pen.lineJoin = "round";
    for (const [label, points] of members) {
      if (label < 0) continue;
      const name = this.#names.get(label) || String(label);
      const text = name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME - 1)}…` : name;
      const [x, y] = [0, 1].map((axis) => middle(points.map((i) => this.#positions[i][axis])));
      pen.strokeStyle = paper;
      pen.strokeText(text, x, y);
      pen.fillStyle = ink;
      pen.fillText(text, x, y);
    }
  }

  #nearest(event) {
    const box = this.#canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    let distance = NEAR;
    this.#positions.forEach(([px, py], i) => {
      const away = Math.hypot(px - x, py - y);
      if (away < distance) [best, distance] = [i, away];
    });
    return best;
  }
}

function inks(canvas) {
  const style = getComputedStyle(canvas);
  const [ink, paper, grey] = ["--ink", "--card", "--unlabelled"].map((name) =>
    style.getPropertyValue(name),
  );
  return { ink, paper, grey };
}

function positionsOf({ x, y }, width, height) {
  const across = fitted(x, EDGE, width - EDGE);
  const down = fitted(y, height - EDGE, EDGE);
  return x.map((value, i) => [across(value), down(y[i])]);
}

function fitted(values, from, to) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

function outline(pen, [x, y], radius, label) {
  const corners = label < 0 ? null : OUTLINES[shapeOf(label)];
  pen.beginPath();
  if (!corners) {
    pen.arc(x, y, radius, 0, 2 * Math.PI);
    return;
  }
  for (const [dx, dy] of corners) pen.lineTo(x + dx * radius, y + dy * radius);
  pen.closePath();
}

function grouped(labels) {
  const groups = new Map();
  labels.forEach((label, i) => {
    if (!groups.has(label)) groups.set(label, []);
    groups.get(label).push(i);
  });
  return groups;
}

function middle(values) {
  return values.sort((one, two) => one - two)[Math.floor(values.length / 2)];
}
