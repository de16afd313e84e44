/**
 * What waits for the person, across conversations: open questions, paused tasks, and for owners tasks that nobody saw
 * end. And which questions are news: those that came while this page showed something else.
 * Must not know: elements, or how anything is answered.
 */

import { api, Problem } from "./api.js";

export class Waits {
  /** @param {import("./store.js").Store} store */
  constructor(store) {
    this.store = store;
    /** @type {any[] | null} null before they were loaded */
    this.requests = null;
    /** @type {any[]} */
    this.runs = [];
    /** @type {any[]} */
    this.unproved = [];
    /** @type {Map<string, any>} */
    this.news = new Map();
    /** @type {Problem | null} why they could not be loaded */
    this.trouble = null;
    this.loading = false;
    this.again = false;
  }

  /** Load it all; while a load is under way, once more after it. */
  async look() {
    this.again = true;
    if (this.loading) return;
    this.loading = true;
    try {
      while (this.again) {
        this.again = false;
        await this.load();
      }
    } finally {
      this.loading = false;
    }
  }

  async load() {
    const { store } = this;
    try {
      const [{ requests, runs }, { unproved }] = await Promise.all([api.pending(), store.owner ? api.unproved() : { unproved: [] }]);
      const known = this.requests && new Set(this.requests.map((card) => card.request));
      if (known && store.place === "chat") {
        for (const card of requests) if (!known.has(card.request) && card.conversation !== store.current) this.news.set(card.request, card);
      }
      const open = new Set(requests.map((/** @type {any} */ card) => card.request));
      for (const id of [...this.news.keys()]) if (!open.has(id)) this.news.delete(id);
      this.requests = requests;
      this.runs = runs;
      this.unproved = unproved;
      this.trouble = null;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.trouble = error;
    }
    this.changed();
  }

  /** A question was answered: here it is not open any more, whatever was under way. @param {string} request */
  settled(request) {
    this.requests = this.requests?.filter((card) => card.request !== request) ?? null;
    this.news.delete(request);
    this.changed();
  }

  /** The person looks at a conversation. @param {string | null} conversation */
  seen(conversation) {
    for (const [id, card] of [...this.news]) if (card.conversation === conversation) this.news.delete(id);
    this.changed();
  }

  changed() {
    this.store.changed("waits");
    this.store.changed("list");
  }
}
