// Labels by how they are known, the surest first, as one bar. Views that show it also say it in words.

import { element, number, styled } from "./elements.js";
import { HOW } from "./wording.js";

export function knownByBar({ by_how: byHow, n_items: total }) {
  const kinds = Object.keys(HOW).filter((how) => byHow[how]);
  const spoken = kinds.map((how) => `${HOW[how].name}: ${number(byHow[how])}`).join(", ");
  return element(
    "div",
    { class: "how-bar", role: "img", "aria-label": `Of ${number(total)} items: ${spoken}` },
    kinds.map((how) =>
      styled(
        element("span", { class: `how-${how}`, title: `${HOW[how].name}: ${number(byHow[how])}` }),
        {
          "flex-grow": byHow[how],
        },
      ),
    ),
  );
}

// The same in words: one line per kind, with its name, its number and what it means.
export function knownByLegend({ by_how: byHow }) {
  return element(
    "dl",
    { class: "how-legend" },
    Object.entries(HOW).map(([how, { name, means }]) =>
      element(
        "div",
        { class: byHow[how] ? null : "none" },
        element("dt", {}, element("span", { class: `key how-${how}` }), name),
        element("dd", { class: "amount" }, number(byHow[how] ?? 0)),
        element("dd", { class: "means" }, means),
      ),
    ),
  );
}
