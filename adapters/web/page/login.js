/**
 * The page of a login link: takes the single-use code from the address's fragment, which no log ever sees, and posts it.
 * Must not know: anything of conversations.
 */

import { api, Problem } from "./api.js";
import { el, fill } from "./dom.js";

const place = /** @type {HTMLElement} */ (document.getElementById("login"));
const code = decodeURIComponent(location.hash.slice(1));
history.replaceState(null, "", location.pathname);
addEventListener("hashchange", () => location.reload()); // another link, opened in this tab

const FRESH = ["A fresh link is printed by ", el("code", null, "sayso login"), " on the machine where Sayso runs. Each link works once."];

if (location.pathname === "/invite") invited(code);
else if (code === "out") say("You are signed out.", FRESH);
else if (!code) say("Sign in with a link.", FRESH);
else await enter(code);

/** @param {string} words @param {any[]} more */
function say(words, ...more) {
  fill(place, el("p", { class: "login-words" }, words), more.map((one) => el("p", { class: "hint" }, one)));
}

/** An invitation is used up by a press, so that nothing that opens links can do it. @param {string} code */
function invited(code) {
  if (!code) return say("This invitation is incomplete.", "Ask for a new one.");
  say("You are invited.", "This link works once, for the person it was sent to.");
  place.append(el("button", { type: "button", class: "button primary", onclick: () => enter(code, api.join) }, "Join"));
}

/** @param {string} code @param {(code: string) => Promise<any>} [by] */
async function enter(code, by = api.login) {
  fill(place, el("p", { class: "login-words" }, "Signing in…"));
  try {
    await by(code);
    location.replace("/");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.unheard) {
      say("Sayso did not answer.", "Your link is not used up, as far as we know.");
      place.append(el("button", { type: "button", class: "button primary", onclick: () => enter(code, by) }, "Try again"));
    } else if (error.status === 429) say("Too many tries. Wait a minute, then open the link again.");
    else if (by === api.join) say(error.standing.detail || "This invitation does not work (any more).", "Ask for a new one.");
    else say(error.code === "used" ? "This link was used already." : error.code === "expired" ? "This link is too old." : "This link does not work (any more).", FRESH);
  }
}
