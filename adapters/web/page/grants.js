/**
 * The dialog of permissions: what the person allowed for longer in a conversation, each with a button to take it back.
 * Must not know: how a permission is given.
 */

import { api, Problem } from "./api.js";
import { el, fill, icon } from "./dom.js";
import { subjectBlock } from "./approval.js";
import { moment, refusal } from "./words.js";

/**
 * Open the dialog.
 * @param {string} conversation
 * @param {import("./acts.js").Acts} acts
 */
export async function showGrants(conversation, acts) {
  const body = el("div", { class: "dialog-body" }, el("p", { class: "hint" }, "Loading…"));
  const dialog = el("dialog", { class: "dialog", "aria-labelledby": "grants-title" },
    el("header", null, el("h2", { id: "grants-title" }, "Permissions"),
      el("button", { type: "button", class: "icon-button", "aria-label": "Close", onclick: () => dialog.close() }, icon("close"))),
    el("p", { class: "hint" }, "Exactly these calls run in this conversation without asking you again."), body);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (/** @type {Event} */ event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
  const load = async () => {
    try {
      const { grants } = await api.grants(conversation);
      fill(body, grants.length ? grants.map((/** @type {any} */ grant) => el("section", { class: "grant" }, subjectBlock(grant),
        el("div", { class: "verdict" }, grant.since ? el("span", { class: "hint" }, `since ${moment(grant.since)}${grant.used ? `, last used ${moment(grant.used)}` : ", not used yet"}`) : null,
          el("button", { type: "button", class: "button small", onclick: async () => { await acts.attempt("withdraw", grant.digest, () => api.withdraw(conversation, grant.digest)); await load(); } }, "Ask me again"))))
        : el("p", { class: "hint" }, "Nothing: every call that needs you asks."));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      fill(body, el("p", { class: "bad" }, refusal(error)));
    }
  };
  await load();
}
