/**
 * A settled question in one line: what was answered, by whom, where, when, and how far the answer has come.
 * Must not know: how a question is answered.
 */

import { el, icon } from "./dom.js";
import { visible } from "./escapes.js";
import { subjectBlock } from "./approval.js";
import { files } from "./message.js";
import { moment, place } from "./words.js";

/** @type {Record<string, [string, string]>} Drawing and tone of each outcome. */
const LOOKS = {
  accepted: ["check", "good"], declined: ["cross", "bad"], expired: ["clock", "dull"], cancelled: ["stop", "dull"], undeliverable: ["cross", "dull"],
};

/**
 * @param {any} card  a settled card
 * @returns {HTMLElement}
 */
export function settledLine(card) {
  const [drawing, tone] = LOOKS[card.outcome] ?? ["check", "dull"];
  const name = card.title || card.subject?.tool || "Question";
  const who = card.by ? ` by ${card.by}` : "";
  const where = card.where ? ` on ${place(card.where)}` : "";
  const line = el("div", { class: "settled-line" },
    el("span", { class: `settled-mark ${tone}` }, icon(drawing)),
    el("span", { class: "settled-text" },
      el("span", { class: "settled-title" }, visible(name)), " ",
      el("span", { class: "settled-outcome" }, outcomeWords(card), el("span", { class: "settled-who" }, `${who}${where}`),
        card.outcome === "declined" && card.reason ? [": ", el("q", null, visible(card.reason))] : null),
      card.at ? el("time", { datetime: new Date(card.at).toISOString() }, moment(card.at)) : null),
    card.receipt && (card.outcome === "accepted" || card.outcome === "declined") ? steps(card) : null);
  const more = details(card);
  return more ? el("details", { class: "settled" }, el("summary", null, line), more) : el("div", { class: "settled" }, line);
}

/** What came of it, in the words of every platform. @param {any} card */
function outcomeWords(card) {
  switch (card.outcome) {
    case "accepted": return approval(card) ?? (filesOf(card).length ? ["Received ", pickWords(card)] : ["Answered ", pickWords(card)]);
    case "declined": return "Denied";
    case "expired": return "Nobody answered in time";
    case "cancelled": return CLOSED[card.cause] ?? "Closed, the task has ended";
    case "undeliverable": return "It could not be shown";
    default: return "Closed";
  }
}

/** The files of the only answer. @param {any} card @returns {any[]} */
function filesOf(card) {
  const [value, more] = Object.values(card.values ?? {});
  return !more && Array.isArray(value) ? value.filter((one) => one?.id && one.name) : [];
}

/** @type {Record<string, string>} Why a question was closed without an answer. */
const CLOSED = { user_canceled: "Closed, the task was canceled", deleted: "Closed, the conversation was deleted", reverted: "Taken back, it is asked again", owner_removed: "Closed, its owner was removed" };

/** @type {Record<string, string>} */
const APPROVED = { once: "Approved", allow_once: "Approved", run: "Approved for this task", allow_run: "Approved for this task", always: "Approved, always", allow_always: "Approved, always" };

/** A yes to one confirmation, or a secret that came. @param {any} card @returns {string | null} null when it was something else */
function approval(card) {
  const [entry, more] = Object.entries(card.values ?? {});
  if (!entry || more) return null;
  const field = (card.fields ?? []).find((/** @type {any} */ one) => one.id === entry[0]);
  if (field ? field.kind === "secret" : entry[0] === "secret") return "Received";
  if (field ? field.kind !== "confirm" : entry[0] !== "confirm") return null;
  const words = APPROVED[field?.options?.find((/** @type {any} */ one) => one.id === entry[1])?.effect ?? entry[1]] ?? "Approved";
  return `${words}${card.changed ? ", with changes" : ""}`;
}

/** The answer in few words: labels where they are known. @param {any} card */
function pickWords(card) {
  const entries = Object.entries(card.values ?? {});
  if (!entries.length) return "";
  const short = entries.map(([id, value]) => valueWords((card.fields ?? []).find((/** @type {any} */ field) => field.id === id), value));
  const text = short.join(" · ");
  const cut = text.length > 90 ? `${text.slice(0, 88)}…` : text;
  return el("strong", null, "“", visible(cut), "”");
}

/** @type {Record<string, string>} Usual option ids, for entries of the history, which have no labels. */
const USUAL = { once: "Approve", run: "Approve for this task", always: "Always approve exactly this", deny: "Deny" };

/** @param {any} field @param {any} value @returns {string} */
export function valueWords(field, value) {
  if (Array.isArray(value)) return value.length ? value.map((one) => valueWords(field, one)).join(", ") : "nothing";
  if (value && typeof value === "object") return "other" in value ? String(value.other) : "name" in value ? `${value.name}${value.note ? ` (${value.note})` : ""}` : JSON.stringify(value);
  if (field?.kind === "secret") return "received";
  const option = field?.options?.find((/** @type {any} */ one) => one.id === value);
  return option?.label ?? (field ? String(value) : USUAL[value] ?? String(value));
}

/** Recorded → delivered → acted on. @param {any} card */
function steps(card) {
  const reached = card.acted ? 3 : card.delivered ? 2 : 1;
  const names = ["recorded", "delivered", "acted on"];
  return el("span", { class: "steps", role: "img", "aria-label": `Your answer was ${names[reached - 1]}`, title: `${names.slice(0, reached).join(" → ")}` },
    names.map((name, at) => el("span", { class: at < reached ? "step reached" : "step" }, at === reached - 1 ? name : "")));
}

/** @param {any} card */
function details(card) {
  const values = Object.entries(card.values ?? {});
  const rows = (card.fields?.length > 1 || String(values[0]?.[1] ?? "").length > 60) && values.length
    ? el("dl", { class: "arguments" }, values.map(([id, value]) => {
      const field = (card.fields ?? []).find((/** @type {any} */ one) => one.id === id);
      return el("div", null, el("dt", null, visible(field?.label || id)), el("dd", null, visible(valueWords(field, value))));
    }))
    : null;
  const subject = card.subject ? subjectBlock({ ...card.subject, ...(card.changed ? { arguments: card.changed } : {}) }) : null;
  const given = files(Object.values(card.values ?? {}).flat().filter((one) => one?.id && one.name));
  if (!rows && !subject && !card.message && !given.length) return null;
  return el("div", { class: "settled-more" }, card.message ? el("p", { class: "card-message" }, visible(card.message)) : null, subject, rows, ...given);
}
