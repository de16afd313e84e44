/**
 * Makes elements. All text goes in as text nodes, never as markup; the one door for markup is `serverHtml`.
 * Must not know: what the page is about.
 */

/**
 * @typedef {Node | string | number | null | undefined | false} Child
 */

/**
 * Make an element. Props: `class`, `on…` (listeners), `dataset`, booleans as present or absent attributes, the rest as
 * attributes; null, undefined and false leave an attribute out.
 * @param {string} tag
 * @param {Record<string, any> | null} [props]
 * @param {...(Child | Child[])} kids
 * @returns {HTMLElement & Record<string, any>}
 */
export function el(tag, props, ...kids) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name === "value") /** @type {any} */ (node).value = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...flat(kids));
  return /** @type {any} */ (node);
}

/**
 * Replace what is inside a node.
 * @param {Element} node
 * @param {...(Child | Child[])} kids
 */
export function fill(node, ...kids) {
  node.replaceChildren(...flat(kids));
}

/** @param {any[]} kids */
function flat(kids) {
  return kids.flat(3).filter((kid) => kid !== null && kid !== undefined && kid !== false).map((kid) => kid instanceof Node ? kid : String(kid));
}

/**
 * Show HTML that the server rendered and sanitised. Nothing else may go through here.
 * @param {HTMLElement} node
 * @param {string} html
 */
export function serverHtml(node, html) {
  node.innerHTML = html;
  for (const pre of node.querySelectorAll("pre")) {
    const holder = el("div", { class: "codeblock" });
    pre.replaceWith(holder);
    pre.tabIndex = 0;
    holder.append(pre, copyButton(() => pre.innerText, "Copy code"));
  }
  for (const table of node.querySelectorAll("table")) {
    const holder = el("div", { class: "table-scroll", tabindex: "0" });
    table.replaceWith(holder);
    holder.append(table);
  }
}

/**
 * A button that copies a text and says so.
 * @param {() => string} text
 * @param {string} label
 */
export function copyButton(text, label) {
  const button = el("button", { type: "button", class: "icon-button copy", "aria-label": label, title: label }, icon("copy"));
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      return;
    }
    fill(button, icon("check"));
    announce("Copied");
    setTimeout(() => fill(button, icon("copy")), 1500);
  });
  return button;
}

/**
 * Put children of a list node in step with keyed items, touching only what changed.
 * @template T
 * @param {Element} list
 * @param {T[]} items
 * @param {(item: T) => string} key
 * @param {(item: T, old: HTMLElement | null) => HTMLElement} draw  gets the old element, may return it
 */
export function reconcile(list, items, key, draw) {
  const old = new Map();
  for (const child of /** @type {HTMLElement[]} */ ([...list.children])) old.set(child.dataset.key, child);
  let at = list.firstElementChild;
  for (const item of items) {
    const name = key(item);
    const before = old.get(name) ?? null;
    old.delete(name);
    const node = draw(item, before);
    node.dataset.key = name;
    if (before && before !== node) {
      if (at === before) at = before.nextElementSibling;
      before.remove();
    }
    if (node === at) at = at.nextElementSibling;
    else list.insertBefore(node, at);
  }
  for (const gone of old.values()) gone.remove();
}

/**
 * Say something to people who listen to the page.
 * @param {string} text
 */
export function announce(text) {
  const place = document.getElementById("announcer");
  if (!place) return;
  const line = el("p", null, text);
  place.append(line);
  setTimeout(() => line.remove(), 8000);
}

const SVG = "http://www.w3.org/2000/svg";

/** @type {Record<string, string>} Paths on a 20 × 20 field, stroked. */
const PATHS = {
  plus: "M10 4v12M4 10h12",
  menu: "M3 6h14M3 10h14M3 14h14",
  close: "M5 5l10 10M15 5L5 15",
  send: "M10 16V4M5 9l5-5 5 5",
  attach: "M14.5 9.5l-5 5a3 3 0 0 1-4.3-4.3l6-6a2 2 0 0 1 2.9 2.9l-5.8 5.8a1 1 0 0 1-1.4-1.4L12 6.4",
  alert: "M10 3.5l7 12.5H3zM10 8v3.5M10 13.8h.01",
  pulse: "M2.5 10.5h3.5l2-5 3.5 9.5 2-4.5h4",
  check: "M4.5 10.5l3.5 3.5 7.5-8",
  cross: "M6 6l8 8M14 6l-8 8",
  copy: "M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3",
  people: "M7.5 9.5a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4zM2.5 16.2c.3-2.6 2.3-4.2 5-4.2s4.7 1.6 5 4.2M13 9.3a2.4 2.4 0 0 0 0-4.7M14.6 12.3c1.7.5 2.8 1.9 3 3.9",
  bell: "M5 13.5h10l-1.2-2V8.3a3.8 3.8 0 0 0-7.6 0v3.2zM8.5 16h3",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2v1.6M10 16.4V18M2 10h1.6M16.4 10H18M4.3 4.3l1.2 1.2M14.5 14.5l1.2 1.2M15.7 4.3l-1.2 1.2M5.5 14.5l-1.2 1.2",
  moon: "M15.8 12.2A6.5 6.5 0 0 1 7.8 4.2a6.5 6.5 0 1 0 8 8z",
  auto: "M10 3.5a6.5 6.5 0 1 0 0 13zM10 3.5a6.5 6.5 0 0 1 0 13",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  down: "M5 8l5 5 5-5",
  right: "M8 5l5 5-5 5",
  trash: "M4 6h12M8 6V4h4v2M6 6l.7 10h6.6L14 6",
  pause: "M7.5 5v10M12.5 5v10",
  play: "M7 5l8 5-8 5z",
  stop: "M6 6h8v8H6z",
  out: "M12 6V4H4v12h8v-2M8 10h9M14 7l3 3-3 3",
  shield: "M10 3l6 2v4.5c0 3.5-2.5 6-6 7.5-3.5-1.5-6-4-6-7.5V5z",
  clock: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 6.5V10l2.5 1.5",
  file: "M5.5 3h6l3 3v11h-9zM11.5 3v3h3",
  tool: "M12.8 3.6a3.6 3.6 0 0 0-3.3 5L4 14.1 5.9 16l5.5-5.5a3.6 3.6 0 0 0 4.8-4.4l-2.1 2.1-2-.6-.6-2z",
  retry: "M15.5 8.5A6 6 0 1 0 16 11M16 4.5v4h-4",
};

/**
 * A small drawing; always decorative, the words stand beside it or in the label.
 * @param {string} name
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name] ?? "");
  svg.append(path);
  return svg;
}
