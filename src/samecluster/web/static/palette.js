// Colours of clusters that people with any kind of colour vision can tell apart (after Okabe and
// Ito, without the two that vanish on white or black), and shapes for what colours cannot carry.

import { drawing } from "./elements.js";

const COLOURS = ["#0072b2", "#d97706", "#009e73", "#cc4b00", "#b8629a", "#3aa0e0"];
const SHAPES = ["circle", "square", "triangle", "diamond"];

export function colourOf(cluster) {
  return COLOURS[cluster % COLOURS.length];
}

export function shapeOf(cluster) {
  return SHAPES[Math.floor(cluster / COLOURS.length) % SHAPES.length];
}

// The outline of a shape around (0, 0), of about the area of a circle of radius 1.
export const OUTLINES = {
  circle: null,
  square: [
    [-0.9, -0.9],
    [0.9, -0.9],
    [0.9, 0.9],
    [-0.9, 0.9],
  ],
  triangle: [
    [0, -1.25],
    [1.15, 0.8],
    [-1.15, 0.8],
  ],
  diamond: [
    [0, -1.3],
    [1.3, 0],
    [0, 1.3],
    [-1.3, 0],
  ],
};

export function swatch(cluster) {
  const outline = OUTLINES[shapeOf(cluster)];
  const shape = outline
    ? drawing("polygon", { points: outline.map((point) => point.join(",")).join(" ") })
    : drawing("circle", { r: 1 });
  shape.setAttribute("fill", colourOf(cluster));
  return drawing(
    "svg",
    { viewBox: "-1.5 -1.5 3 3", class: "swatch", "aria-hidden": "true", focusable: "false" },
    shape,
  );
}
