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

export function percent(share) {
  return share == null ? "" : `${Math.floor(100 * share)} %`;
}

// Who answers by looks counts looks: as many questions per look as so far.
export function leftLine({ left, n_questions: questions, n_looks: looks }) {
  if (!left) return "";
  if (left.high === 0) return "no question is left";
  const [share, unit] = looks < questions ? [looks / questions, "look"] : [1, "question"];
  const [low, high] = [left.low, left.high].map((one) => Math.ceil(share * one));
  const range = low === high ? "" : `${number(low)} to `;
  return `about ${range}${count(high, unit)} left${minutesLine(left)}`;
}

// By the seconds that answers took so far, pauses cut.
function minutesLine({ minutes }) {
  if (!minutes) return "";
  const [low, high] = minutes.map((one) => Math.max(1, Math.round(one)));
  return low === high ? ` (${count(high, "minute")})` : ` (${low} to ${count(high, "minute")})`;
}

function askedLine({ n_questions: questions, n_looks: looks }) {
  const told = `${count(questions, "question")} answered`;
  return looks < questions ? `${told} in ${count(looks, "look")}` : told;
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
    askedLine(progress),
    leftLine(progress),
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
