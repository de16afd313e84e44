/**
 * The masked form for a secret, on its one-time page and inside a card: the value goes to the server once, nowhere else.
 * Must not know: where it stands, nor what happens after it was given.
 */

import { api, freshKey, Problem } from "./api.js";
import { el, fill } from "./dom.js";
import { visible } from "./escapes.js";
import { refusal } from "./words.js";

let count = 0;

/**
 * @typedef {{id: string, label: string, name: string, store: boolean, kept: boolean}} Asked
 * @typedef {{request: string, agent: string, fields: Asked[], whole: boolean}} Look
 */

/**
 * @param {{look: Look, ticket?: string, done: (result: any) => void}} it
 *   ticket: what lets somebody in who is not signed in
 */
export function secretForm({ look, ticket, done }) {
  const says = el("p", { class: "way", role: "status" });
  const rows = look.fields.map((field) => row(field));
  const canKeep = look.fields.some((field) => field.store);
  const keep = el("input", { type: "checkbox", checked: true });
  let key = freshKey();
  let sending = false;

  /** @param {object} body */
  const send = async (body) => {
    if (sending) return;
    sending = true;
    for (const one of rows) one.wrong(null);
    fill(says, "Sending…");
    try {
      const result = await api.giveSecret(look.request, { ...body, submit: look.whole, ...(ticket ? { ticket } : {}) }, key);
      for (const one of rows) one.input.value = "";
      fill(says, null);
      done(result);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!error.unheard) key = freshKey();
      const at = rows.find((one) => one.id === error.standing.errors?.[0]?.field);
      at?.wrong(error.standing.errors[0].rule ?? refusal(error));
      fill(says, at ? null : el("span", { class: "bad" }, error.unheard ? "Sayso did not answer. Try again: it counts once." : refusal(error)));
    } finally {
      sending = false;
    }
  };
  const give = () => {
    const empty = rows.find((one) => !one.input.value.trim());
    if (empty) { empty.wrong("A value is needed."); empty.input.focus(); return; }
    void send({ values: Object.fromEntries(rows.map((one) => [one.id, one.input.value])), store: canKeep && keep.checked });
  };
  const stored = look.fields.every((field) => field.kept)
    ? el("button", { type: "button", class: "button", onclick: () => send({ stored: true }) }, "Use the stored one") : null;
  return el("form", { class: "secret", novalidate: true, autocomplete: "off", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); event.stopPropagation(); give(); } },
    rows.map((one) => one.node),
    canKeep ? el("label", { class: "keep" }, keep, el("span", null, "Keep it in the vault: next time “", visible(look.agent), "” asks for it, you can give it with one press")) : null,
    el("div", { class: "verdict" }, el("button", { type: "submit", class: "button primary" }, "Give"), stored), says);
}

/** @param {Asked} field */
function row(field) {
  const id = `s${(count += 1)}`;
  const wrong = el("p", { class: "wrong", id: `${id}-wrong`, role: "alert" });
  const input = el("input", { id, type: "password", autocomplete: "off", autocapitalize: "off", spellcheck: "false", maxlength: "16384", "aria-describedby": `${id}-wrong`, oninput: () => fill(wrong, null) });
  const show = el("button", { type: "button", class: "button small", "aria-pressed": "false", "aria-controls": id, onclick: () => {
    const open = input.type === "password";
    input.type = open ? "text" : "password";
    show.setAttribute("aria-pressed", String(open));
    fill(show, open ? "Hide" : "Show");
  } }, "Show");
  const node = el("div", { class: "field" }, el("label", { for: id }, visible(field.label)), el("div", { class: "secret-row" }, input, show), wrong);
  return { id: field.id, input, node, wrong: (/** @type {string | null} */ words) => fill(wrong, words) };
}
