/**
 * The buttons that stop a task or a question: Cancel asks "sure?" in place because it discards, Pause and Abort do not.
 * Must not know: how a stop is carried out.
 */

import { el, fill } from "./dom.js";

/** @typedef {import("./acts.js").Acts} Acts */

/**
 * The row under an open question. Who is only asked (it is of a foreign conversation) cannot stop the task.
 * @param {any} card
 * @param {Acts} acts
 */
export function taskButtons(card, acts) {
  const abort = el("button", { type: "button", class: "link", title: "Stop at this question and keep everything; you can resume later", onclick: () => acts.abort(card) }, "Abort (pause)");
  const more = card.deadline ? el("button", { type: "button", class: "link", onclick: () => acts.extend(card, 1800) }, "30 more minutes") : null;
  const id = el("code", { class: "card-id", title: `Answer from anywhere: /answer ${card.request} …` }, card.request);
  const stops = card.foreign ? [] : [abort, cancelButton(card.run, acts, "link")];
  return el("footer", null, stops, more, id);
}

/**
 * Cancel, which asks once, in its own place.
 * @param {string} run
 * @param {Acts} acts
 * @param {string} look  class of the first button
 */
export function cancelButton(run, acts, look) {
  return sureButton("Cancel task", "Sure? What it did so far is discarded.", "Yes, cancel the task", () => acts.run(run, "cancel"), look);
}

/**
 * A button that asks once, in its own place, before it acts.
 * @param {string} words
 * @param {string} warning
 * @param {string} sure
 * @param {() => void} act
 * @param {string} look  class of the first button
 */
export function sureButton(words, warning, sure, act, look = "button small") {
  const holder = el("span", { class: "sure" });
  const ask = () => {
    const yes = el("button", { type: "button", class: "button small danger", onclick: () => { rest(false); act(); } }, sure);
    const no = el("button", { type: "button", class: "button small", onclick: () => rest(true) }, "Keep it");
    fill(holder, el("span", { class: "sure-words" }, warning), yes, no);
    no.focus();
  };
  const rest = (/** @type {boolean} */ focus) => {
    const first = el("button", { type: "button", class: look, onclick: ask }, words);
    fill(holder, first);
    if (focus) first.focus();
  };
  holder.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" && holder.childElementCount > 1) { event.stopPropagation(); rest(true); }
  });
  rest(false);
  return holder;
}
