/**
 * What the page knows: who is here, the list of conversations, the threads that were opened, which one is shown.
 * Must not know: elements. Says `list`, `thread`, `place`, `link`, `waits` when something changed, at most once a frame.
 */

import { api, Problem } from "./api.js";
import { apply } from "./events.js";
import { refusal } from "./words.js";
import { Thread } from "./thread.js";
import { Socket } from "./socket.js";
import { Waits } from "./waits.js";

const KEPT = 8;
const AGAIN = 3000;

export class Store extends EventTarget {
  constructor() {
    super();
    /** @type {{person: {id: string, name: string, role: string}, agents: string[], agent: string, version: string} | null} */
    this.me = null;
    /** The agent that a new conversation is with. */
    this.agent = "";
    /** @type {any[]} */
    this.list = [];
    /** @type {Map<string, Thread>} the newest used is last */
    this.threads = new Map();
    /** @type {string | null} the conversation shown; null: a new one */
    this.current = null;
    /** @type {"chat" | "pending" | "health"} */
    this.place = "chat";
    /** @type {string | null} */
    this.trouble = null;
    /** @type {import("./freeze.js").Frozen} */
    this.frozen = { frozen: false };
    this.socket = new Socket();
    this.waits = new Waits(this);
    /** @type {Map<string, any>} what was heard of the list while it was loaded: it is newer */
    this.meanwhile = new Map();
    /** @type {Set<string>} */
    this.due = new Set();
    this.socket.addEventListener("told", (/** @type {any} */ event) => this.heard(event.detail));
    this.socket.addEventListener("link", () => this.changed("link"));
    this.socket.addEventListener("opened", () => this.refresh());
    this.socket.addEventListener("mended", () => this.mend());
    this.socket.addEventListener("doubt", () => void api.me().catch(() => null));
  }

  async open() {
    this.socket.open();
    await Promise.all([this.introduce(), this.refresh()]);
    this.changed("place");
  }

  /** Learn who is here; while the server cannot tell, it is asked again. */
  async introduce() {
    try {
      this.me = await api.me();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) return;
      this.dispatchEvent(new CustomEvent("trouble", { detail: error.unheard ? `${error.detail || "The server does not answer."} It is tried again.` : refusal(error) }));
      if (error.unheard) setTimeout(() => void Promise.all([this.refresh(), this.mend()]), AGAIN);
      return;
    }
    this.agent ||= this.me?.agent ?? "";
    if (this.owner) void this.waits.look();
    this.changed("list");
    this.changed("place");
    this.changed("frozen");
  }

  async mend() {
    if (!this.me) await this.introduce();
    if (this.current && !this.thread?.loaded) await this.load(this.current);
  }

  async refresh() {
    void this.waits.look();
    try {
      const heard = this.meanwhile = new Map();
      const { conversations } = await api.conversations();
      this.list = conversations;
      for (const item of heard.values()) this.listed(item);
      this.changed("list");
      this.frozen = await api.frozen();
      this.changed("frozen");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  /** @param {string} what */
  changed(what) {
    if (!this.due.size) requestAnimationFrame(() => this.tell());
    if (document.hidden && !this.due.size) setTimeout(() => this.tell(), 50);
    this.due.add(what);
  }

  tell() {
    const due = [...this.due];
    this.due.clear();
    for (const what of due) this.dispatchEvent(new Event(what));
  }

  get thread() {
    return this.current ? this.threads.get(this.current) ?? null : null;
  }

  get owner() {
    return this.me?.person.role === "owner";
  }

  /** How many questions wait for this person, everywhere. */
  get waiting() {
    return this.waits.requests?.length ?? this.list.reduce((sum, one) => sum + (one.open ?? 0), 0);
  }

  /** Show a conversation; null: a new one. @param {string | null} id */
  async show(id) {
    const before = this.current;
    this.place = "chat";
    this.current = id;
    this.trouble = null;
    this.changed("place");
    this.changed("thread");
    if (before && before !== id) this.socket.unfollow(before);
    this.waits.seen(id);
    if (!id) return;
    const known = this.threads.get(id);
    if (known?.loaded) {
      this.threads.delete(id);
      this.threads.set(id, known);
      if (before !== id || !this.socket.following.has(id)) this.socket.follow(id, known.seq);
    } else await this.load(id);
  }

  /** A conversation that was made just now: it is followed from its first event. @param {string} id @param {any} known */
  begin(id, known) {
    if (this.threads.has(id)) return;
    const thread = new Thread(id);
    thread.begin(known);
    this.threads.set(id, thread);
  }

  /** Show something else than a conversation. @param {"pending" | "health"} place */
  showOther(place) {
    this.place = place;
    if (this.current) this.socket.unfollow(this.current);
    this.current = null;
    if (place === "pending") this.waits.news.clear();
    this.changed("place");
  }

  /** @param {string} id */
  async load(id) {
    const thread = this.threads.get(id) ?? new Thread(id);
    this.threads.set(id, thread);
    for (const old of [...this.threads.keys()].slice(0, -KEPT)) if (old !== this.current) this.threads.delete(old);
    try {
      const snapshot = await api.snapshot(id);
      thread.load(snapshot);
      this.trouble = null;
      if (this.current === id) this.socket.follow(id, thread.seq);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 404 || error.status === 410) this.forget(id);
      if (this.current === id || error.status === 404 || error.status === 410) {
        this.trouble = error.unheard ? "The conversation could not be loaded. It is tried again when the connection is back." : refusal(error);
        if (error.unheard) setTimeout(() => this.current === id && !thread.loaded && this.load(id), AGAIN);
      }
    }
    this.changed("thread");
  }

  async older() {
    const { thread } = this;
    if (!thread?.more || thread.loadingOlder) return;
    thread.loadingOlder = true;
    try {
      const page = await api.older(thread.id, thread.oldest);
      thread.prepend(page.history ?? []);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    } finally {
      thread.loadingOlder = false;
    }
    this.changed("thread");
  }

  /** @param {import("./socket.js").Told} told */
  heard(told) {
    const id = told.conversation;
    if (told.type === "conversation.changed") return this.listed(told.conversation);
    if (told.type === "pending.changed") return void this.refresh();
    if (told.type === "conversation.deleted" && id) return this.forget(id);
    if (told.type === "frozen") { this.frozen = /** @type {any} */ (told); return this.changed("frozen"); }
    const thread = id ? this.threads.get(id) : null;
    if (!thread || !id) return;
    if (told.type === "reset") return void this.load(id);
    if (told.type === "followed") return;
    apply(thread, told);
    this.dispatchEvent(new CustomEvent("told", { detail: told }));
    if (id === this.current) this.changed("thread");
  }

  /** @param {any} item  of the list; `deleted` takes it out */
  listed(item) {
    this.meanwhile.set(item.id, item);
    const at = this.list.findIndex((one) => one.id === item.id);
    if (matters(this.list[at]) || matters(item)) void this.waits.look();
    if (item.deleted) {
      if (at >= 0) this.list.splice(at, 1);
    } else if (at >= 0) this.list[at] = item;
    else this.list.push(item);
    this.list.sort((a, b) => b.changed - a.changed);
    const thread = this.threads.get(item.id);
    if (thread) thread.conversation = { ...thread.conversation, ...item };
    this.changed("list");
  }

  /** A conversation is gone. @param {string} id */
  forget(id) {
    const loaded = this.threads.get(id)?.loaded;
    this.meanwhile.set(id, { id, deleted: true });
    void this.waits.look();
    this.socket.unfollow(id);
    this.threads.delete(id);
    this.list = this.list.filter((one) => one.id !== id);
    this.changed("list");
    if (this.current !== id) return;
    this.current = null;
    this.changed("place");
    this.changed("thread");
    this.dispatchEvent(new CustomEvent("gone", { detail: loaded }));
  }

  /** A card is known better than before. @param {any} card */
  cardChanged(card) {
    const thread = this.threads.get(card.conversation);
    const before = thread?.find(`q:${card.request}`);
    if (before?.kind === "card") thread?.put({ ...before, card: { ...before.card, ...card } });
    this.dispatchEvent(new CustomEvent("card", { detail: card }));
    this.changed("thread");
  }
}

/** Whether something in a conversation waits for people. @param {any} item  of the list */
function matters(item) {
  return Boolean(item && (item.open || item.state === "paused" || item.state === "stopping"));
}
