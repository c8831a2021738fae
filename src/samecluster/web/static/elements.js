// Building what is shown. Whatever comes from data becomes a text node or an attribute, never markup.

const SVG = "http://www.w3.org/2000/svg";

export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function drawing(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

export function button(text, action, attributes = {}) {
  return element("button", { type: "button", on: { click: action }, ...attributes }, text);
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export function number(value) {
  return value.toLocaleString("en");
}

export function listTable(headings, rows) {
  const heads = headings.map((text) => element("th", { scope: "col" }, text));
  return element(
    "table",
    { class: "list" },
    element("thead", {}, element("tr", {}, heads)),
    element("tbody", {}, rows),
  );
}

// Colours and shares are set through the object model: the page allows no style attributes.
export function styled(node, properties) {
  for (const [name, value] of Object.entries(properties)) {
    node.style.setProperty(name, value);
  }
  return node;
}

function filled(node, { on = {}, ...attributes }, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value != null) node.setAttribute(name, String(value));
  }
  for (const [event, action] of Object.entries(on)) node.addEventListener(event, action);
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}
