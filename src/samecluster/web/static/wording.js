// The wording of the page for codes, names and numbers of the server.

import { count, number } from "./elements.js";

export const HOW = {
  asked: { name: "Asked", means: "a person compared the item" },
  proven: { name: "Proven", means: "follows from answers under the assumption" },
  inferred: { name: "Inferred", means: "follows from answers and a guessed assumption" },
  predicted: { name: "Predicted", means: "by a model, may be wrong" },
  unassigned: { name: "No label yet", means: "not known so far" },
};

export const HOW_CODES = ["unassigned", "predicted", "inferred", "proven", "asked"];

export const VERDICTS = {
  same: "Same",
  different: "Different",
  unsure: "Unsure",
  flagged: "Flagged",
};

export function clusterName({ number: which, name }) {
  return name ? `${name} (cluster ${which})` : `Cluster ${which}`;
}

export function leftLine(left) {
  if (!left) return "";
  if (left.high === 0) return "no question is left";
  if (left.low === left.high) return `about ${count(left.high, "question")} left`;
  return `about ${number(left.low)} to ${count(left.high, "question")} left`;
}

// Predictions may be wrong: they are counted apart from labels that are known.
export function knownLine({ n_items: total, by_how: byHow }) {
  const known = total - byHow.unassigned - byHow.predicted;
  const predicted = byHow.predicted ? `, ${number(byHow.predicted)} predicted` : "";
  return `${number(known)} of ${count(total, "label")} known${predicted}`;
}

export function progressLine(progress) {
  return [
    knownLine(progress),
    `${count(progress.n_questions, "question")} answered`,
    leftLine(progress.left),
  ]
    .filter(Boolean)
    .join(" \u00b7 ");
}

// A sentence from a phrase of the server, which has no capital letter and no full stop.
export function sentence(text) {
  const trimmed = text.trim();
  if (!trimmed) return "";
  const first = trimmed[0].toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
