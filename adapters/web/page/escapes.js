/**
 * Makes text that wants to hide itself visible: control, direction and zero-width characters, padding runs.
 * Must not know: where the text comes from. Returns nodes made of text only.
 */

import { el } from "./dom.js";

/** Whatever has no ink of its own, but line feed and tab; every space but the plain one. */
const STRICT = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** The same for prose, where joiners, variation selectors and hard spaces are part of honest writing. */
const PROSE = /(?![\n\t \u00A0\u200C\u200D\u202F\uFE0E\uFE0F\u3000])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u;
const PIECES = / {12,}|\t{4,}|(?:[ \t]*\n){4,}|[\s\S]/gu;

/**
 * Show a text whole, with everything invisible spelled out: ⟨U+202E⟩, ⟨ESC⟩, ⟨U+2003 x500⟩.
 * @param {string} text
 * @param {{strict?: boolean}} [how] strict: what a person approves; otherwise prose
 * @returns {DocumentFragment}
 */
export function visible(text, { strict = false } = {}) {
  const bad = strict ? STRICT : PROSE;
  const out = document.createDocumentFragment();
  let plain = "", hidden = "", times = 0;
  const mark = (/** @type {string} */ words, /** @type {string} */ title) => {
    if (plain) out.append(plain);
    plain = "";
    out.append(el("mark", { class: "escape", title }, `⟨${words}⟩`));
  };
  const told = () => {
    if (times) mark(times > 1 ? `${hidden} x${times}` : hidden, times > 1 ? "characters that would be invisible" : "a character that would be invisible");
    times = 0;
  };
  for (const [piece] of text.matchAll(PIECES)) {
    const name = piece.length <= 2 && bad.test(piece) ? nameOf(piece) : null;
    if (name && times && name === hidden) { times += 1; continue; }
    told();
    if (name) [hidden, times] = [name, 1];
    else if (piece.length > 2 && /^ +$/.test(piece) && strict) mark(`${piece.length} spaces`, "a run of spaces");
    else if (piece.length > 2 && /^\t+$/.test(piece) && strict) mark(`${piece.length} tabs`, "a run of tabs");
    else if (piece.length > 2 && /^[ \t\n]+$/.test(piece) && piece.includes("\n") && strict) {
      plain += "\n";
      mark(`${piece.split("\n").length - 2} blank lines`, "a run of blank lines");
      plain += "\n";
    } else plain += piece;
  }
  told();
  if (plain) out.append(plain);
  return out;
}

/** @type {Record<string, string>} */
const NAMES = { "\r": "CR", "\x1b": "ESC", "\0": "NUL", "\b": "BS", "\x07": "BEL", "\x7f": "DEL" };

/** What a character is called that must not be shown as it is. @param {string} piece */
function nameOf(piece) {
  return NAMES[piece] ?? `U+${(piece.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

/**
 * Show the arguments of a call: one row for each of an object's members, anything else as JSON. Strings stand as they
 * are, unless they could be taken for another value; those keep their quotes.
 * @param {unknown} value
 * @returns {HTMLElement}
 */
export function shownArguments(value) {
  if (value === null || value === undefined) return el("p", { class: "no-arguments" }, "no arguments");
  if (typeof value !== "object" || Array.isArray(value)) return el("pre", { class: "exact", tabindex: "0" }, exact(value));
  const rows = Object.entries(value);
  if (!rows.length) return el("p", { class: "no-arguments" }, "no arguments");
  return el("dl", { class: "arguments" }, rows.map(([name, item]) =>
    el("div", null, el("dt", null, visible(name, { strict: true })), el("dd", null, el("pre", { class: "exact" }, exact(item))))));
}

/** @param {unknown} value */
function exact(value) {
  if (typeof value !== "string") return el("span", { class: "literal" }, visible(JSON.stringify(value, null, 2) ?? "", { strict: true }));
  const ambiguous = value === "" || /^[ \t]|[ \t]$/.test(value) || /^(true|false|null|-?[\d.]+(e[+-]?\d+)?|[[{"][\s\S]*)$/i.test(value);
  if (ambiguous) return el("span", null, visible(JSON.stringify(value), { strict: true }));
  const end = /\n+$/.exec(value)?.[0].length ?? 0;
  const shown = visible(end ? value.slice(0, -end) : value, { strict: true });
  if (end) shown.append(el("mark", { class: "escape", title: "line breaks at the end" }, end > 1 ? `⟨${end} line breaks⟩` : "⏎"));
  return shown;
}
