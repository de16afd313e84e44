/**
 * The page of a login link: takes the single-use code from the address's fragment, which no log ever sees, and posts it.
 * Must not know: anything of conversations.
 */

import { api, Problem } from "./api.js";
import { el, fill } from "./dom.js";

const place = /** @type {HTMLElement} */ (document.getElementById("login"));
const code = decodeURIComponent(location.hash.slice(1));
history.replaceState(null, "", location.pathname);

const FRESH = ["A fresh link is printed by ", el("code", null, "sayso login"), " on the machine where Sayso runs. Each link works once."];

if (code === "out") say("You are signed out.", FRESH);
else if (!code) say("Sign in with a link.", FRESH);
else await enter(code);

/** @param {string} words @param {any[]} more */
function say(words, ...more) {
  fill(place, el("p", { class: "login-words" }, words), more.map((one) => el("p", { class: "hint" }, one)));
}

/** @param {string} code */
async function enter(code) {
  fill(place, el("p", { class: "login-words" }, "Signing in…"));
  try {
    await api.login(code);
    location.replace("/");
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.unheard) {
      say("Sayso did not answer.", "Your link is not used up, as far as we know.");
      place.append(el("button", { type: "button", class: "button primary", onclick: () => enter(code) }, "Try again"));
    } else if (error.status === 429) say("Too many tries. Wait a minute, then open the link again.");
    else say(error.code === "used" ? "This link was used already." : error.code === "expired" ? "This link is too old." : "This link does not work (any more).", FRESH);
  }
}
