/**
 * The page on which a secret is given: by the ticket in the address's fragment, which no log ever sees, or by login.
 * Opening it uses nothing up; only giving does. Must not know: anything of conversations.
 */

import { api, Problem } from "./api.js";
import { el, fill } from "./dom.js";
import { visible } from "./escapes.js";
import { secretForm } from "./secret-form.js";
import { refusal } from "./words.js";

const place = /** @type {HTMLElement} */ (document.getElementById("secret"));
const request = location.pathname.split("/").pop() ?? "";
const ticket = decodeURIComponent(location.hash.slice(1)) || undefined;
history.replaceState(null, "", location.pathname);
addEventListener("hashchange", () => location.reload()); // another link, opened in this tab
await open();

async function open() {
  fill(place, el("p", { class: "hint" }, "Loading…"));
  try {
    const look = await api.lookSecret(request, ticket);
    if (look.state !== "open") return say(look.state === "withdrawn" ? "This task is paused." : "This question is closed.", "Nothing is needed here any more.");
    fill(place,
      el("p", { class: "hint" }, "“", visible(look.agent), "” asks"),
      el("h1", null, visible(look.title || "A secret is needed")),
      look.message ? el("p", { class: "card-message" }, visible(look.message)) : null,
      secretForm({ look, ticket, done: (result) => say("Received.", result.settled ? "The task goes on. You can close this page." : "Now finish the form where it was asked.") }),
      el("p", { class: "hint" }, "It is sealed for this task. It does not appear in the chat, in its history, or in what the model reads."));
    /** @type {HTMLElement | null} */ (place.querySelector("input[type=password]"))?.focus();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.unheard) {
      say("Sayso did not answer.", "Nothing was used up.");
      place.append(el("button", { type: "button", class: "button primary", onclick: open }, "Try again"));
    } else if (error.code === "ticket") say("This link does not count any more.", "It works once, for a few minutes. Ask for a fresh one where you got it, or open Sayso and sign in.");
    else say("There is nothing to give here.", refusal(error));
  }
}

/** @param {string} words @param {string} more */
function say(words, more) {
  fill(place, el("p", { class: "login-words" }, words), el("p", { class: "hint" }, more));
}
