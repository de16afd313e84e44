/**
 * What the person said and the server has not confirmed yet. It survives a reload of the tab; nothing is lost silently,
 * and a retry carries the key of the first try, so that it can take effect only once.
 * Must not know: how bubbles look.
 */

import { api, freshKey, Problem } from "./api.js";
import { refusal } from "./words.js";

const PLACE = "sayso.outbox";

/**
 * @typedef {{key: string, conversation: string | null, text: string, attachments: any[], agent?: string, state: "sending" | "failed" | "sent",
 *   words?: string, run?: string, at: number}} Waiting
 */

export class Outbox extends EventTarget {
  /**
   * Fires `change`, `result` (detail: {item, result}) and `refused` (detail: {item, problem}: not consumed).
   */
  constructor() {
    super();
    /** @type {Waiting[]} */
    this.items = load();
    for (const item of this.items) if (item.state === "sending") Object.assign(item, { state: "failed", words: "the page was reloaded before the server confirmed it" });
    this.items = this.items.filter((item) => item.state !== "sent");
  }

  /** @param {string | null} conversation */
  of(conversation) {
    return this.items.filter((item) => item.conversation === conversation);
  }

  /** @param {{conversation: string | null, text: string, attachments: any[], agent?: string}} said */
  send(said) {
    /** @type {Waiting} */
    const item = { ...said, key: freshKey(), state: "sending", at: Date.now() };
    this.items.push(item);
    return this.post(item);
  }

  /** @param {string} key */
  retry(key) {
    const item = this.items.find((one) => one.key === key);
    if (item?.state === "failed") return this.post(item);
  }

  /** @param {string} key  @returns {Waiting | undefined} what was taken back */
  discard(key) {
    const item = this.items.find((one) => one.key === key);
    this.items = this.items.filter((one) => one.key !== key);
    this.changed();
    return item;
  }

  /** @param {Waiting} item */
  async post(item) {
    Object.assign(item, { state: "sending", words: undefined });
    this.changed();
    const { conversation, text, attachments, agent, key } = item;
    try {
      const result = await api.send({ ...(conversation ? { conversation } : agent ? { agent } : {}), text, ...(attachments.length ? { attachments: attachments.map((file) => file.id) } : {}) }, key);
      if (result.kind === "sent") {
        Object.assign(item, { state: "sent", run: result.run, conversation: result.conversation });
        setTimeout(() => this.remove(item), 15_000);
      } else this.remove(item);
      this.dispatchEvent(new CustomEvent("result", { detail: { item, result, fresh: !conversation } }));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.unheard) {
        if (!this.items.includes(item)) this.items.push(item);
        Object.assign(item, { state: "failed", words: refusal(error).replace(/^not sent: /, "") });
      } else {
        this.remove(item);
        this.dispatchEvent(new CustomEvent("refused", { detail: { item, problem: error } }));
      }
    }
    this.changed();
  }

  /** @param {Waiting} item */
  remove(item) {
    if (!this.items.includes(item)) return;
    this.items = this.items.filter((one) => one !== item);
    this.changed();
  }

  /**
   * The history has an entry of this person: it is the confirmed form of what waits here.
   * @param {string} conversation @param {string | null} run @param {string} text
   * @returns {Waiting | undefined} what was confirmed
   */
  claim(conversation, run, text) {
    const item = this.items.find((one) => one.state !== "failed" && one.text === text && (one.run ? one.run === run : one.conversation === conversation));
    if (item) this.remove(item);
    return item;
  }

  changed() {
    try {
      sessionStorage.setItem(PLACE, JSON.stringify(this.items));
    } catch {
      // A full or forbidden storage only means that a reload forgets.
    }
    this.dispatchEvent(new Event("change"));
  }
}

/** @returns {Waiting[]} */
function load() {
  try {
    return JSON.parse(sessionStorage.getItem(PLACE) ?? "[]");
  } catch {
    return [];
  }
}
