/**
 * What a person does besides talking and answering: stop, resume, extend, delete, withdraw. One place for their refusals.
 * Must not know: how anything is drawn; it says refusals as notices.
 */

import { api, Problem } from "./api.js";
import { refusal } from "./words.js";

export class Acts extends EventTarget {
  /**
   * Fires `notice` (detail: words) and `done` (detail: {verb, id, result}).
   * @param {import("./store.js").Store} store
   */
  constructor(store) {
    super();
    this.store = store;
  }

  /**
   * @param {string} verb @param {string} id @param {() => Promise<any>} act
   * @returns {Promise<any>} null when it was refused
   */
  async attempt(verb, id, act) {
    try {
      const result = await act();
      this.dispatchEvent(new CustomEvent("done", { detail: { verb, id, result } }));
      return result;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const words = error.unheard ? `${refusal(error).replace(/^not sent/, "Not done")}. Try again.` : refusal(error);
      this.dispatchEvent(new CustomEvent("notice", { detail: words }));
      return null;
    }
  }

  /** @param {string} run @param {"cancel"|"pause"|"resume"|"revert"|"accept-stopped"} verb @param {object} [body] */
  run(run, verb, body) {
    return this.attempt(verb, run, () => api.run(run, verb, body));
  }

  /** @param {any} card */
  abort(card) {
    return this.attempt("abort", card.request, () => api.abort(card.request));
  }

  /** Show a question again where it could not be shown. @param {any} card */
  showAgain(card) {
    return this.attempt("show", card.request, () => api.showAgain(card.request));
  }

  /** @param {any} card @param {number} seconds */
  extend(card, seconds) {
    return this.attempt("extend", card.request, () => api.extend(card.request, seconds));
  }

  /** @param {string} conversation */
  async remove(conversation) {
    const result = await this.attempt("delete", conversation, () => api.remove(conversation));
    if (result) this.store.forget(conversation);
    return result;
  }

  /** Load a long question whole. @param {any} card */
  async whole(card) {
    const whole = await this.attempt("whole", card.request, () => api.request(card.request));
    if (whole) this.store.cardChanged({ ...whole, whole: true });
  }
}
