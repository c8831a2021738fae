// Items as people see them: two side by side with their differences marked, or one among others.

import { element, styled } from "./elements.js";

// Of the server; or in a notebook, which has none, in the reply itself.
const IMAGES = ["/api/v1/images/", "data:image/"];
const SMALL_PICTURE = 64;
const LARGEST_PIXEL = 26;
const LINE_CELLS = 4;
const SENTENCE_WORDS = 3;
const MOST_DIGITS = 6;
const FEW_DIGITS = 3;
const FRACTION = /^[-+]?(\d*)\.\d{5,}$/;
const MORE = "More of its cluster";

// The pair of a question with the other members of the comparator's cluster.
export function pair(question) {
  const shown = [question.item, question.comparator];
  const parts = [];
  if (shown.some((item) => item.image)) parts.push(pictures(question));
  if (shown.some((item) => item.text != null)) parts.push(texts(question));
  if (shown.some((item) => item.cells.length)) parts.push(rows(question, parts.length > 0));
  return parts;
}

// Further members, where they are not columns of the table already.
export function others(question) {
  const { context } = question;
  const asColumns = !context.some((item) => item.image || item.text != null);
  if (!context.length) return null;
  return element(
    "section",
    { class: asColumns ? "others others-narrow" : "others", "aria-label": MORE },
    element("h2", {}, MORE),
    // Cards do not fit a phone: the list scrolls, also for those who only have a keyboard.
    element(
      "ul",
      { tabindex: context.some((item) => item.image) ? null : "0" },
      context.map((item) => element("li", {}, small(item))),
    ),
  );
}

// Fetched ahead, so that they are there when the question is shown.
export function fetchPictures({ item, comparator, context = [], items = [], groups = [], references = [] }) {
  const members = groups.flatMap((group) => group.members);
  for (const { image } of [item, comparator, ...context, ...items, ...references, ...members].filter(Boolean)) {
    if (isPicture(image)) new Image().src = image;
  }
}

function isPicture(image) {
  return IMAGES.some((begin) => image?.startsWith(begin));
}

export function picture(item, attributes = {}) {
  if (!isPicture(item.image)) return null;
  const image = element("img", {
    src: item.image,
    alt: `Picture of ${item.title}`,
    decoding: "async",
    ...attributes,
  });
  // Pixels that are larger than the strokes hide what a picture shows.
  image.addEventListener("load", () => {
    image.classList.toggle("few-pixels", image.naturalWidth <= SMALL_PICTURE);
    styled(image, { "--seen": `${LARGEST_PIXEL * image.naturalWidth}px` });
  });
  image.addEventListener("error", () => {
    image.replaceWith(element("span", { class: "no-picture" }, "This picture cannot be shown."));
  });
  return image;
}

// One item in little space.
export function small(item) {
  if (item.image) {
    return element("figure", { class: "small" }, picture(item), caption(item.title));
  }
  return element(
    "div",
    { class: "small small-text" },
    element("span", { class: "small-title", title: item.title }, item.title),
    element("span", { class: "small-line" }, line(item)),
  );
}

// One item in full; columns that differ among those on the screen are marked.
export function whole(item, differs = []) {
  return element(
    "div",
    { class: "whole" },
    item.image && element("div", { class: "frame" }, picture(item)),
    item.text != null && element("p", { class: "text" }, item.text || "Blank."),
    item.cells.length > 0 &&
      element(
        "dl",
        { class: "cells" },
        tellingFirst(item, differs).map((cell) => cellLine(cell, differs.includes(cell.column))),
      ),
  );
}

// One item in a cell of a grid: its picture, the beginning of its text, or the columns that differ.
export function inCell(item, differs) {
  if (item.image) return element("figure", { class: "in-cell" }, picture(item), caption(item.title));
  const cells = tellingCells(item, differs);
  return element(
    "span",
    { class: "in-cell" },
    element("span", { class: "small-title", title: item.title }, item.title),
    item.text != null && element("span", { class: "cell-text" }, item.text || "Blank."),
    item.text == null &&
      element(
        "span",
        { class: "cell-rows" },
        cells.map((cell) =>
          isSentence(cell)
            ? element("span", { class: "cell-sentence", title: cell.column }, cell.text)
            : element(
                "span",
                { class: "cell-row" },
                element("span", { class: "cell-column", title: cell.column }, cell.column),
                element("span", { title: cell.text }, told(cell)),
              ),
        ),
      ),
  );
}

// Two items in a cell, to be compared: pictures side by side, texts one above the other, of rows the
// values of both beside each other.
export function besideInCell(reference, item, differs) {
  if (item.image || item.text != null) {
    const kind = item.image ? "beside-pictures" : "beside-texts";
    return element("span", { class: `in-pair ${kind}` }, inCell(reference, differs), inCell(item, differs));
  }
  const cells = tellingCells(item, differs);
  return element(
    "span",
    { class: "in-pair" },
    element("span", { class: "small-title" }, `${reference.title} and ${item.title}`),
    element(
      "span",
      { class: "pair-rows" },
      cells.flatMap((cell) => {
        const beside = cellOf(reference, cell.column);
        return [
          element("span", { class: "cell-column", title: cell.column }, cell.column),
          element("span", { title: beside?.text }, told(beside, FEW_DIGITS)),
          element("span", { title: cell.text }, told(cell, FEW_DIGITS)),
        ];
      }),
    ),
  );
}

// Cells in which items differ, in the order of `differs`: the telling ones come first.
export function tellingCells(item, differs) {
  const telling = tellingFirst(item, differs).filter(({ column }) => differs.includes(column));
  return telling.length ? telling : item.cells;
}

function tellingFirst(item, differs) {
  const telling = differs.map((column) => cellOf(item, column)).filter(Boolean);
  return [...telling, ...item.cells.filter((cell) => !telling.includes(cell))];
}

// Needs no name of a column, and more than half a line.
export function isSentence({ text, percentile }) {
  return percentile == null && (text ?? "").trim().split(/\s+/).length >= SENTENCE_WORDS;
}

function cellLine(cell, isMarked) {
  return element(
    "div",
    { class: isMarked ? "differs" : null },
    element("dt", {}, cell.column),
    element("dd", { title: cell.text }, told(cell)),
  );
}

// An item in a line of text.
export function line(item) {
  if (item.text != null) return item.text;
  const shown = item.cells.filter((cell) => cell.text !== item.title).slice(0, LINE_CELLS);
  return shown.map((cell) => `${cell.column}: ${told(cell)}`).join(", ");
}

function caption(text) {
  return element("figcaption", { title: text }, text);
}

function pictures({ item, comparator }) {
  return element(
    "div",
    { class: "pictures" },
    [item, comparator].map((one) =>
      element(
        "figure",
        {},
        element("div", { class: "frame" }, picture(one) ?? "No picture."),
        caption(one.title),
      ),
    ),
  );
}

function texts({ item, comparator }) {
  return element(
    "div",
    { class: "texts" },
    [item, comparator].map((one) =>
      element(
        "section",
        { "aria-label": one.title },
        element("h2", {}, one.title),
        element("p", { class: "text" }, one.text || "Blank."),
      ),
    ),
  );
}

function rows(question, isBeside) {
  const { item, comparator, differs } = question;
  const context = isBeside ? [] : question.context;
  const seen = differs ?? [];
  return element(
    "table",
    { class: context.length ? "rows with-others" : "rows" },
    element(
      "colgroup",
      {},
      ["column", "one", "one", "among"].map((kind) => element("col", { class: kind })),
      context.map(() => element("col", { class: "other" })),
    ),
    element(
      "thead",
      {},
      context.length > 0 &&
        element(
          "tr",
          {},
          element("td", { colspan: 4 }),
          element("th", { scope: "colgroup", colspan: context.length, class: "others-head" }, MORE),
        ),
      element(
        "tr",
        {},
        element("th", { scope: "col" }, element("span", { class: "unseen" }, "Column")),
        element("th", { scope: "col", class: "one" }, item.title),
        element("th", { scope: "col", class: "one" }, comparator.title),
        element("th", { scope: "col", class: "among" }, "Among all"),
        context.map((other) => element("th", { scope: "col", class: "other" }, other.title)),
      ),
    ),
    element(
      "tbody",
      {},
      item.cells.map((cell) => row(cell, question, context, seen)),
    ),
  );
}

function row(left, question, context, differs) {
  const right = cellOf(question.comparator, left.column);
  const isMarked = differs.includes(left.column);
  return element(
    "tr",
    { class: isMarked ? "differs" : null },
    element(
      "th",
      { scope: "row" },
      isMarked && element("span", { class: "mark", title: "differs", "aria-hidden": "true" }, "≠"),
      left.column,
      isMarked && element("span", { class: "unseen" }, " differs"),
    ),
    [left, right].map((cell) =>
      element("td", { class: cell?.text ? "one" : "one blank", title: cell?.text }, told(cell)),
    ),
    element("td", { class: "among" }, among(left, right)),
    context.map((other) => {
      const cell = cellOf(other, left.column);
      return element("td", { class: "other", title: cell?.text }, told(cell));
    }),
  );
}

export function cellOf(item, column) {
  return item.cells.find((cell) => cell.column === column);
}

// A number is shown with a few digits; the others appear when the pointer is on it.
export function told(cell, most = MOST_DIGITS) {
  if (!cell?.text) return "blank";
  const fraction = cell.percentile == null ? null : FRACTION.exec(cell.text);
  if (!fraction) return cell.text;
  const digits = Math.max(most, Math.min(fraction[1].length, 100));
  return String(Number(Number(cell.text).toPrecision(digits)));
}

// Where both numbers stand among those of all items: a number alone says little.
function among(left, right) {
  if (left.percentile == null || right?.percentile == null) return null;
  const spoken = `${Math.round(left.percentile)} % and ${Math.round(right.percentile)} % of all lie below`;
  const marks = [left, right].map(({ percentile }, side) =>
    styled(element("span", { class: side ? "dot dot-right" : "dot dot-left" }), {
      "inset-inline-start": `${percentile}%`,
    }),
  );
  return element(
    "div",
    { class: "track", role: "img", "aria-label": spoken, title: spoken },
    marks,
  );
}
