/**
 * The inputs of a question: one maker a kind, all with the same shape.
 * Must not know: how an answer is sent. Labels and options are text from agents: shown as text, invisible parts spelled out.
 */

import { api, Problem } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { visible } from "./escapes.js";
import { fileField, fileHint } from "./file-field.js";
import { secretForm } from "./secret-form.js";
import { refusal } from "./words.js";

let count = 0;

/**
 * @typedef {{id: string, node: HTMLElement, value: () => any, focus: () => void, set: (value: any) => void, wrong: (rule: string | null) => void, busy?: () => string | null}} Field
 * `value()` is undefined while nothing is given; `busy()` says why it cannot be sent yet.
 * @typedef {{alone: boolean, request: string, pick: (value: any) => void, changed: () => void}} Use
 * alone: the only field of its question. request: its id. pick: this value is the answer, now. changed: something was given.
 */

/**
 * @param {any} field
 * @param {Use} use
 * @returns {Field}
 */
export function makeField(field, use) {
  if (field.kind === "choice") return field.multiple ? many(field, use) : one(field, use);
  if (field.kind === "confirm") return one({ ...field, required: true }, { ...use, alone: false });
  if (field.kind === "secret") return secret(field, use);
  if (field.kind === "file") {
    const [id, holder] = [`f${(count += 1)}`, el("div", { class: "file-place" })];
    return fileField(field, use, id, holder, frame(field, "div", id, holder, fileHint(field)));
  }
  return text(field, use);
}

/** @param {any} field @param {string} tag @param {string} id @param {HTMLElement} inner @param {string} [hint] */
function frame(field, tag, id, inner, hint) {
  const wrong = el("p", { class: "wrong", id: `${id}-wrong`, role: "alert" });
  const optional = field.required === false ? [" ", el("span", { class: "optional" }, "optional")] : null;
  const name = el(tag === "fieldset" ? "legend" : "label", tag === "fieldset" ? null : { for: id }, field.label ? visible(field.label) : null, optional);
  const described = tag === "fieldset" && hint ? { "aria-describedby": `${id}-hint` } : {};
  const node = el(tag, { class: `field field-${field.kind}`, ...described }, field.label || optional ? name : null, hint ? el("p", { class: "hint", id: `${id}-hint` }, hint) : null, inner, wrong);
  return { node, wrong: (/** @type {string | null} */ rule) => { fill(wrong, rule); node.classList.toggle("is-wrong", Boolean(rule)); } };
}

/** @param {any} option @param {Element} mark */
function optionText(option, mark) {
  return [mark, el("span", { class: "option-text" }, el("span", { class: "option-label" }, visible(option.label)),
    option.description ? el("span", { class: "option-more" }, visible(option.description)) : null)];
}

/** One of several: pressing is answering when it stands alone, otherwise it is marked. @param {any} field @param {Use} use @returns {Field} */
function one(field, use) {
  const id = `f${(count += 1)}`;
  /** @type {any} */
  let picked;
  const rows = el("div", { class: "options" });
  const { node, wrong } = frame(field, "fieldset", id, rows);
  const show = () => {
    for (const input of /** @type {NodeListOf<HTMLInputElement>} */ (rows.querySelectorAll("input[type=radio]"))) input.checked = typeof picked === "object" ? input.value === " other" : input.value === picked;
  };
  for (const option of field.options) {
    if (use.alone) rows.append(el("button", { type: "button", class: "option", onclick: () => use.pick(option.id) }, optionText(option, icon("right"))));
    else {
      const input = el("input", { type: "radio", name: id, value: option.id, onchange: () => { picked = option.id; wrong(null); use.changed(); } });
      rows.append(el("label", { class: "option" }, optionText(option, input)));
    }
  }
  const other = field.allow_other ? el("input", { type: "text", class: "other", "aria-label": "Something else", placeholder: "Something else…", maxlength: "16384" }) : null;
  if (other) {
    const radio = use.alone ? null : el("input", { type: "radio", name: id, value: " other", "aria-label": "Something else" });
    const take = () => { if (other.value.trim()) { picked = { other: other.value }; show(); wrong(null); use.changed(); } };
    other.addEventListener("input", () => { if (!use.alone) take(); });
    other.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); if (use.alone && other.value.trim()) use.pick({ other: other.value }); }
    });
    radio?.addEventListener("change", () => { other.focus(); take(); });
    const go = use.alone ? el("button", { type: "button", class: "button small", onclick: () => other.value.trim() ? use.pick({ other: other.value }) : other.focus() }, "Answer") : null;
    rows.append(el("div", { class: "option option-other" }, radio, other, go));
  }
  return {
    id: field.id, node, wrong,
    value: () => picked,
    focus: () => /** @type {any} */ (rows.querySelector("button, input"))?.focus(),
    set: (value) => { picked = value; if (other && value && typeof value === "object") other.value = value.other ?? ""; show(); },
  };
}

/** Any of several. @param {any} field @param {Use} use @returns {Field} */
function many(field, use) {
  const id = `f${(count += 1)}`;
  const limits = field.max ? (field.min ? `${field.min} to ${field.max}` : `up to ${field.max}`) : field.min ? `at least ${field.min}` : "any number";
  const rows = el("div", { class: "options" });
  const { node, wrong } = frame(field, "fieldset", id, rows, `Pick ${limits}.`);
  const boxes = field.options.map((/** @type {any} */ option) => {
    const input = el("input", { type: "checkbox", value: option.id, onchange: () => { wrong(null); use.changed(); } });
    rows.append(el("label", { class: "option" }, optionText(option, input)));
    return input;
  });
  const other = field.allow_other ? el("input", { type: "text", class: "other", "aria-label": "Something else", placeholder: "Something else…", maxlength: "16384", oninput: () => use.changed() }) : null;
  if (other) rows.append(el("div", { class: "option option-other" }, icon("plus"), other));
  let touched = false;
  node.addEventListener("input", () => { touched = true; });
  return {
    id: field.id, node, wrong,
    value: () => {
      const picked = boxes.filter((/** @type {any} */ box) => box.checked).map((/** @type {any} */ box) => box.value);
      if (other?.value.trim()) picked.push({ other: other.value });
      return picked.length || touched || use.alone || field.required !== false ? picked : undefined;
    },
    focus: () => boxes[0]?.focus(),
    set: (value) => {
      const picked = Array.isArray(value) ? value : [];
      for (const box of boxes) box.checked = picked.includes(box.value);
      const free = picked.find((pick) => pick && typeof pick === "object");
      if (other && free) other.value = free.other ?? "";
    },
  };
}

/** @type {Record<string, Record<string, string>>} How an input of each format is typed. */
const FORMATS = {
  integer: { type: "text", inputmode: "numeric", autocomplete: "off" },
  number: { type: "text", inputmode: "decimal", autocomplete: "off" },
  email: { type: "email", autocomplete: "email" },
  url: { type: "url", autocomplete: "url" },
  date: { type: "date" },
  text: { type: "text", autocomplete: "off" },
};

/** @param {any} field @param {Use} use @returns {Field} */
function text(field, use) {
  const id = `f${(count += 1)}`;
  const hint = hintFor(field, use.alone);
  const attributes = { id, placeholder: field.placeholder, maxlength: field.max_length, "aria-describedby": `${hint ? `${id}-hint ` : ""}${id}-wrong`, "aria-label": field.label ? null : "Your answer" };
  const input = field.format === "multiline"
    ? el("textarea", { ...attributes, rows: "4" })
    : el("input", { ...attributes, ...(FORMATS[field.format] ?? FORMATS.text) });
  if (field.default) input.value = field.default;
  const { node, wrong } = frame(field, "div", id, input, hint);
  input.addEventListener("input", () => wrong(null));
  input.addEventListener("change", () => use.changed());
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const send = event.key === "Enter" && !event.isComposing && (field.format !== "multiline" || event.ctrlKey || event.metaKey);
    if (!send) return;
    event.preventDefault();
    if (use.alone) use.pick(input.value);
  });
  return {
    id: field.id, node, wrong,
    value: () => (input.value === "" && field.required === false ? undefined : input.value),
    focus: () => input.focus(),
    set: (value) => { if (document.activeElement !== input) input.value = value === null || value === undefined ? "" : String(value); },
  };
}

/** @param {any} field @param {boolean} alone */
function hintFor(field, alone) {
  const parts = [];
  if (field.format === "integer") parts.push("A whole number.");
  if (field.format === "number") parts.push("A number.");
  if (field.format === "email") parts.push("An e-mail address.");
  if (field.format === "url") parts.push("A web address, with https:// in front.");
  if (field.min_length > 1) parts.push(`At least ${field.min_length} characters.`);
  if (field.max_length && field.max_length < 2000) parts.push(`At most ${field.max_length} characters.`);
  if (field.format === "multiline" && alone) parts.push("Ctrl+Enter answers.");
  return parts.join(" ");
}

/**
 * A secret goes past the answer, sealed at once: its own masked form posts it, and the card only learns that it came.
 * @param {any} field @param {Use} use @returns {Field}
 */
function secret(field, use) {
  const holder = el("div", { class: "secret-place" }, el("p", { class: "hint" }, "Loading…"));
  const { node, wrong } = frame({ ...field, label: "" }, "div", `f${(count += 1)}`, holder,
    "It is sealed for this task. It never appears in this chat, in its history or in what the model reads.");
  let given = false;
  const received = () => { given = true; fill(holder, el("p", null, icon("check"), " Received.")); };
  const load = async () => {
    try {
      const look = await api.lookSecret(use.request);
      if (given) return;
      const one = { ...look, fields: look.fields.filter((/** @type {any} */ other) => other.id === field.id), whole: use.alone };
      fill(holder, secretForm({ look: one, done: received }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      fill(holder, el("p", { class: "bad" }, refusal(error)), el("button", { type: "button", class: "button small", onclick: load }, "Try again"));
    }
  };
  void load();
  return {
    id: field.id, node, wrong,
    value: () => undefined,
    focus: () => /** @type {any} */ (holder.querySelector("input, button"))?.focus(),
    set: (value) => { if (value === "received" && !given) received(); },
  };
}
