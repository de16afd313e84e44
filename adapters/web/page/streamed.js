/**
 * Text that is still coming, laid out roughly as the server will render it, so that nothing jumps at its end.
 * Only text nodes in a handful of elements; no links, no pictures, no markup. Must not know: anything but text.
 */

import { el } from "./dom.js";

/**
 * @param {string} text
 * @returns {HTMLElement[]}
 */
export function streamed(text) {
  /** @type {HTMLElement[]} */
  const out = [];
  const lines = text.split("\n");
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    const fence = /^\s{0,3}(`{3,}|~{3,})/.exec(line);
    if (fence) {
      const body = [];
      for (at += 1; at < lines.length && !lines[at].trimStart().startsWith(fence[1]); at += 1) body.push(lines[at]);
      at += 1;
      out.push(el("div", { class: "codeblock" }, el("pre", null, el("code", null, body.join("\n")))));
      continue;
    }
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (heading) {
      out.push(el(`h${Math.min(6, heading[1].length)}`, null, inline(heading[2])));
      at += 1;
    } else if (ITEM.test(line)) at = list(lines, at, out);
    else if (/^\s{0,3}\|/.test(line)) at = table(lines, at, out);
    else if (/^\s{0,3}>/.test(line)) at = quote(lines, at, out);
    else if (line.trim()) at = paragraph(lines, at, out);
    else at += 1;
  }
  return out;
}

const ITEM = /^\s{0,3}([-*+]|\d{1,9}[.)])\s+(.*)$/;

/** @param {string[]} lines @param {number} at @param {HTMLElement[]} out */
function list(lines, at, out) {
  const ordered = /^\s*\d/.test(lines[at]);
  const node = el(ordered ? "ol" : "ul");
  for (let match; at < lines.length && (match = ITEM.exec(lines[at])); at += 1) {
    if (ordered && !node.childElementCount) node.setAttribute("start", String(parseInt(match[1], 10)));
    node.append(el("li", null, inline(match[2])));
  }
  out.push(node);
  return at;
}

/** @param {string[]} lines @param {number} at @param {HTMLElement[]} out */
function table(lines, at, out) {
  const body = el("tbody");
  for (; at < lines.length && /^\s{0,3}\|/.test(lines[at]); at += 1) {
    if (/^[\s|:-]+$/.test(lines[at])) continue;
    const cells = lines[at].trim().replace(/^\||\|$/g, "").split("|");
    body.append(el("tr", null, cells.map((cell) => el(body.childElementCount ? "td" : "th", null, inline(cell.trim())))));
  }
  out.push(el("div", { class: "table-scroll" }, el("table", null, body)));
  return at;
}

/** @param {string[]} lines @param {number} at @param {HTMLElement[]} out */
function quote(lines, at, out) {
  const body = [];
  for (; at < lines.length && /^\s{0,3}>/.test(lines[at]); at += 1) body.push(lines[at].replace(/^\s{0,3}> ?/, ""));
  out.push(el("blockquote", null, el("p", null, inline(body.join("\n")))));
  return at;
}

/** @param {string[]} lines @param {number} at @param {HTMLElement[]} out */
function paragraph(lines, at, out) {
  const body = [];
  for (; at < lines.length && lines[at].trim() && !/^\s{0,3}(`{3,}|~{3,}|>|\|)|^#{1,6}\s/.test(lines[at]) && !(body.length && ITEM.test(lines[at])); at += 1) body.push(lines[at]);
  out.push(el("p", null, inline(body.join("\n"))));
  return at;
}

/** @param {string} text */
function inline(text) {
  return text.split(/(`[^`\n]+`|\*\*[^*\n]+\*\*)/).map((piece) => {
    if (/^`[^`]+`$/.test(piece)) return el("code", null, piece.slice(1, -1));
    if (/^\*\*[^*]+\*\*$/.test(piece)) return el("strong", null, piece.slice(2, -2));
    return piece;
  });
}
