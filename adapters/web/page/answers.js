/**
 * Answers on their way: each keeps its key until the server confirmed it, so that a retry can take effect only once.
 * Must not know: how cards look. Nothing is shown as answered before the server said so.
 */

import { api, freshKey, Problem } from "./api.js";
import { refusal } from "./words.js";

/**
 * @typedef {{state: "sending" | "failed" | "refused", key: string, body: any, words: string, field?: string}} OnItsWay
 */

/** The field and the rule that a refused value breaks; a conflict is told in whole words. @param {Problem} problem @returns {{field?: string, rule?: string}} */
const wrong = (problem) => problem.standing.code === "invalid" ? problem.standing.errors?.[0] ?? problem.standing : {};

export class Answers extends EventTarget {
  /** Fires `change` (detail: the request's id); `answered` (detail: {request, result}); `standing` (detail: {request, standing}). */
  constructor() {
    super();
    /** @type {Map<string, OnItsWay>} */
    this.onTheirWay = new Map();
    this.lastGiven = -Infinity;
  }

  /** True right after an answer: the second half of a double press must not answer the card that comes next. */
  get justGiven() {
    return performance.now() - this.lastGiven < 800;
  }

  /** @param {string} request */
  of(request) {
    return this.onTheirWay.get(request) ?? null;
  }

  /**
   * Give an answer.
   * @param {string} request
   * @param {any} body
   */
  give(request, body) {
    if (this.of(request)?.state === "sending") return;
    this.lastGiven = performance.now();
    this.post(request, body, freshKey());
  }

  /** Send again what was not confirmed, with its key. @param {string} request */
  retry(request) {
    const before = this.of(request);
    if (before?.state === "failed") this.post(request, before.body, before.key);
  }

  /** @param {string} request @param {any} body @param {string} key */
  async post(request, body, key) {
    this.set(request, { state: "sending", key, body, words: "sending…" });
    try {
      const result = await api.answer(request, body, key);
      this.set(request, null);
      this.dispatchEvent(new CustomEvent("answered", { detail: { request, result } }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.unheard) return this.set(request, { state: "failed", key, body, words: refusal(error).replace(/^not sent: /, "") });
      if (error.standing.outcome) {
        this.set(request, null);
        this.dispatchEvent(new CustomEvent("standing", { detail: { request, standing: error.standing } }));
        return;
      }
      this.set(request, { state: "refused", key, body, words: wrong(error).rule ?? refusal(error), field: wrong(error).field });
    }
  }

  /**
   * Store one field of a form; it can be changed until the form is submitted.
   * @param {string} request
   * @param {Record<string, any>} values
   * @returns {Promise<string | null>} null: stored; otherwise what is wrong
   */
  async keep(request, values) {
    try {
      await api.answer(request, { outcome: "accepted", values, submit: false }, freshKey());
      return null;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return error.unheard ? "not stored yet; Submit sends it" : wrong(error).rule ?? refusal(error);
    }
  }

  /** @param {string} request @param {OnItsWay | null} what */
  set(request, what) {
    if (what) this.onTheirWay.set(request, what);
    else this.onTheirWay.delete(request);
    this.dispatchEvent(new CustomEvent("change", { detail: request }));
  }
}
