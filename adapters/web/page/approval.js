/**
 * The part of a card that approves or denies one call: what exactly would run, and the buttons.
 * Must not know: how an answer is sent. No button has the focus by itself, and Enter in a text never approves.
 */

import { el, fill, icon } from "./dom.js";
import { shownArguments, visible } from "./escapes.js";

/**
 * The call, whole.
 * @param {{tool: string, arguments?: any}} subject
 */
export function subjectBlock(subject) {
  return el("div", { class: "subject" },
    el("p", { class: "subject-tool" }, icon("tool"), el("code", null, visible(subject.tool, { strict: true }))),
    shownArguments(subject.arguments));
}

/**
 * @typedef {{approve: (option: string, more: {arguments?: any, code?: string}) => void, deny: (option: string | null, reason: string) => void}} Verdict
 */

/**
 * @param {any} card
 * @param {any} field  the confirm field
 * @param {Verdict} verdict
 * @returns {HTMLElement}
 */
export function approvalButtons(card, field, verdict) {
  const options = field.options ?? [];
  const yes = options.filter((/** @type {any} */ o) => o.effect === "allow_once");
  const longer = options.filter((/** @type {any} */ o) => o.effect === "allow_run" || o.effect === "allow_always");
  const no = options.filter((/** @type {any} */ o) => o.effect === "deny");
  const editor = card.edit_schema && card.subject ? changeArguments(card.subject.arguments) : null;
  const code = card.restricted ? oneTimeCode() : null;
  const approve = (/** @type {string} */ option) => {
    const changed = editor?.read();
    if (changed === false) return;
    if (code && !code.value.trim()) return code.focus();
    verdict.approve(option, { ...(changed === undefined || changed === null ? {} : { arguments: changed.value }), ...(code ? { code: code.value.trim() } : {}) });
  };
  const main = el("div", { class: "verdict" },
    yes.map((/** @type {any} */ o, /** @type {number} */ at) => el("button", { type: "button", class: at ? "button" : "button primary approve", onclick: () => approve(o.id) }, visible(o.label))),
    no.map((/** @type {any} */ o) => el("button", { type: "button", class: "button deny", onclick: () => verdict.deny(o.id, "") }, visible(o.label))));
  const reason = denyReason(no[0]?.id ?? null, verdict);
  const more = longer.length ? approveLonger(longer, approve) : null;
  const panels = [more, reason, editor];
  for (const one of panels) one?.opener.addEventListener("click", () => { for (const other of panels) if (other !== one) other?.shut(); });
  const links = el("div", { class: "verdict-more" }, more?.opener, reason.opener, editor?.opener);
  return el("div", { class: "approval" }, code ? codeField(code) : null, editor?.panel, main, links, more?.panel, reason.panel);
}

/** A quiet button that opens a panel. @param {string} label @param {HTMLElement} panel */
function opens(label, panel) {
  panel.hidden = true;
  const opener = el("button", { type: "button", class: "link", "aria-expanded": "false" }, label);
  const set = (/** @type {boolean} */ open) => {
    panel.hidden = !open;
    opener.setAttribute("aria-expanded", String(open));
  };
  opener.addEventListener("click", () => {
    set(panel.hidden);
    if (!panel.hidden) /** @type {any} */ (panel.querySelector("input, textarea"))?.focus();
  });
  return { opener, panel, shut: () => set(false) };
}

/** @type {Record<string, string>} The exact scope of a remembered approval, said before it is given. */
const SCOPES = {
  allow_run: "Until this task ends, exactly this call (same tool, same arguments) runs without asking again. Anything else still asks.",
  allow_always: "For you, in this conversation, exactly this call (same tool, same arguments) runs without asking, until you take it back under Permissions. Anything else still asks.",
};

/** @param {any[]} options @param {(option: string) => void} approve */
function approveLonger(options, approve) {
  return opens("Don’t ask again…", el("div", { class: "panel longer" }, options.map((option) =>
    el("div", { class: "scope" }, el("p", null, SCOPES[option.effect]),
      el("button", { type: "button", class: "button small", onclick: () => approve(option.id) }, visible(option.label))))));
}

/** @param {string | null} option @param {Verdict} verdict */
function denyReason(option, verdict) {
  const input = el("input", { type: "text", maxlength: "2000", "aria-label": "Reason for the agent", placeholder: "Reason, for the agent to read" });
  const deny = () => verdict.deny(option, input.value.trim());
  input.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter" && !event.isComposing) { event.preventDefault(); deny(); }
  });
  return opens("Deny with a reason…", el("div", { class: "panel row" }, input, el("button", { type: "button", class: "button small deny", onclick: deny }, "Deny")));
}

/** @param {any} current */
function changeArguments(current) {
  const area = el("textarea", { rows: "6", class: "mono", spellcheck: "false", "aria-label": "Arguments as JSON" });
  const original = JSON.stringify(current ?? {}, null, 2);
  area.value = original;
  const wrong = el("p", { class: "wrong", role: "alert" });
  const note = el("p", { class: "hint" }, "What you leave here is what runs, shown to everybody who sees this question.");
  const { opener, panel, shut } = opens("Change the arguments…", el("div", { class: "panel" }, note, area, wrong));
  return {
    opener, panel,
    shut: () => { if (area.value === original) shut(); },
    /** null: unchanged. false: cannot be read. */
    read: () => {
      fill(wrong);
      if (panel.hidden || area.value === original) return null;
      try {
        return { value: JSON.parse(area.value) };
      } catch (error) {
        fill(wrong, `This is not JSON: ${/** @type {Error} */ (error).message}`);
        area.focus();
        return false;
      }
    },
  };
}

function oneTimeCode() {
  return el("input", { type: "text", inputmode: "numeric", autocomplete: "one-time-code", maxlength: "16", class: "mono code", "aria-label": "One-time code" });
}

/** @param {HTMLElement} input */
function codeField(input) {
  return el("div", { class: "restricted" }, icon("shield"),
    el("div", null, el("p", null, "This reaches further than usual. To approve, also enter a one-time code, so that it is surely you."), input));
}
