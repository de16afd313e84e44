/**
 * What was typed and not sent, by conversation; survives a reload of the tab.
 * Must not know: where it is typed.
 */

/** @param {string | null} conversation */
const place = (conversation) => `sayso.draft.${conversation ?? "new"}`;

/** @param {string | null} conversation */
export function draft(conversation) {
  try {
    return sessionStorage.getItem(place(conversation)) ?? "";
  } catch {
    return "";
  }
}

/** @param {string | null} conversation @param {string} text */
export function keepDraft(conversation, text) {
  try {
    if (text) sessionStorage.setItem(place(conversation), text);
    else sessionStorage.removeItem(place(conversation));
  } catch {
    // Nothing to do: the text is still in its box.
  }
}
