/**
 * The banner that says that everything is frozen, by whom, and since when; owners thaw from there. And the commands
 * that stop everything. Must not know: what is refused meanwhile.
 */

import { el, fill } from "./dom.js";
import { visible } from "./escapes.js";
import { api } from "./api.js";

/** @typedef {{frozen: boolean, by?: string, since?: number, reason?: string}} Frozen */

/**
 * @param {HTMLElement} place
 * @param {Frozen} found
 * @param {boolean} owner
 * @param {import("./acts.js").Acts} acts
 */
export function showFreeze(place, found, owner, acts) {
  place.hidden = !found.frozen;
  if (!found.frozen) return fill(place);
  const since = found.since ? ` since ${new Date(found.since).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}` : "";
  const why = found.reason ? ` (${visible(found.reason).textContent})` : "";
  const words = `Everything is frozen by ${found.by}${since}${why}. Nothing begins; answers, cancels and deletes still work.`;
  const thaw = owner ? el("button", { type: "button", class: "button small", onclick: () => acts.attempt("thaw", "", api.thaw) }, "Thaw") : null;
  fill(place, el("span", null, words), thaw);
}

/**
 * `/stop all`, `/freeze`, `/thaw`: what came of it, in words; null when it was refused.
 * @param {import("./acts.js").Acts} acts @param {string} command @param {string} argument
 * @returns {Promise<string | null>}
 */
export async function halt(acts, command, argument) {
  if (command === "stop" && argument.trim().toLowerCase() !== "all") return "/stop all cancels every task of everybody. For this conversation: /cancel ends its task, /pause keeps it.";
  if (command === "thaw") {
    const thawed = await acts.attempt("thaw", "", api.thaw);
    return thawed && (thawed.note === "already" ? "Nothing was frozen." : "Thawed: what is queued starts. What was paused waits for Resume.");
  }
  const result = command === "freeze" ? await acts.attempt("freeze", "", () => api.freeze(argument)) : await acts.attempt("stop", "", api.stopAll);
  if (!result) return null;
  const over = command === "freeze" ? ["paused", "being paused"] : ["canceled", "being canceled"];
  const counted = [result.settled && `${result.settled} ${over[0]}`, result.stopping && `${result.stopping} ${over[1]}`].filter(Boolean);
  return `${command === "freeze" ? "Frozen. " : ""}${counted.length ? `Tasks: ${counted.join(", ")}.` : `No task had to be ${over[0]}.`}`;
}
