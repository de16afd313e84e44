/**
 * One conversation as the page knows it: a snapshot, then each event applied once. Pure: no network, no elements.
 * Must not know: how it is drawn, what the person typed and did not send.
 *
 *     items   what the timeline shows, in order: said · streaming · tool · card · note
 *     runs    the runs that are not over yet, and how the others ended
 */

/**
 * @typedef {{kind: "said", key: string, role: "person" | "agent", run: string | null, text: string, html?: string, by?: any, at: number,
 *   steer?: boolean, taken?: boolean, failed?: boolean, interrupted?: boolean, attachments?: any[], seq?: number}} Said
 * @typedef {{kind: "streaming", key: string, run: string | null, text: string, at: number}} Streaming
 * @typedef {{kind: "tool", key: string, run: string | null, tool: string, arguments?: any, outcome: string | null, summary?: string, result?: any, at: number, ended?: number}} Tool
 * @typedef {{kind: "card", key: string, card: any, at: number}} CardItem
 * @typedef {{kind: "note", key: string, run: string | null, text: string, tone?: string, at: number}} Note
 * @typedef {Said | Streaming | Tool | CardItem | Note} Item
 * @typedef {{run: string, state: string, agent?: string, cause?: string | null, error?: string | null, created: number, status?: string,
 *   effects?: string | null, ended?: number | null, ended_by?: string | null, stop_requested?: number | null, requests?: string[], unconfirmed?: boolean, retry?: number | null, moved_from?: string | null,
 *   moved_to?: string | null}} RunView
 */

export const OVER = new Set(["completed", "failed", "canceled"]);

export class Thread {
  /** @param {string} id */
  constructor(id) {
    this.id = id;
    /** @type {any} */
    this.conversation = { id, title: "", agent: "", state: "idle", open: 0 };
    /** @type {Item[]} */
    this.items = [];
    /** @type {Map<string, RunView>} */
    this.runs = new Map();
    this.seq = 0;
    this.oldest = 0;
    this.more = false;
    this.loaded = false;
    this.loadingOlder = false;
  }

  /** @param {any} snapshot */
  load(snapshot) {
    this.conversation = snapshot.conversation;
    this.items = [];
    this.runs = new Map();
    this.seq = snapshot.seq;
    for (const run of snapshot.runs ?? []) this.runs.set(run.run, { ...run, created: run.created ?? run.changed ?? Date.now() });
    for (const entry of snapshot.history ?? []) this.enter(entry);
    for (const [call, one] of Object.entries(snapshot.tools ?? {})) {
      if (!this.find(`t:${call}`)) this.put({ kind: "tool", key: `t:${call}`, run: one.run ?? null, tool: one.tool, arguments: one.arguments, outcome: null, at: one.at ?? Date.now() });
    }
    for (const [run, status] of Object.entries(snapshot.status ?? {})) if (this.runs.has(run)) this.run(run, { status }, 0);
    for (const [message, one] of Object.entries(snapshot.partial ?? {})) {
      if (!this.find(`m:${message}`)) this.put({ kind: "streaming", key: `m:${message}`, run: one.run ?? null, text: one.text ?? "", at: Date.now() });
    }
    for (const card of snapshot.requests ?? []) this.put({ kind: "card", key: `q:${card.request}`, card, at: card.created });
    for (const run of this.runs.values()) if (run.state === "failed") this.markFailed(run.run);
    this.oldest = snapshot.history?.[0]?.seq ?? 0;
    this.more = (snapshot.history?.length ?? 0) >= 50 && this.oldest > 1;
    this.loaded = true;
  }

  /**
   * Begin with nothing: everything comes as events.
   * @param {any} conversation
   */
  begin(conversation) {
    this.conversation = { ...this.conversation, ...conversation };
    this.loaded = true;
  }

  /**
   * Put an older page of history before what is known.
   * @param {any[]} entries
   */
  prepend(entries) {
    const later = this.items;
    this.items = [];
    for (const entry of entries) this.enter(entry);
    const known = new Set(this.items.map((item) => item.key));
    this.items.push(...later.filter((item) => !known.has(item.key)));
    const oldest = entries[0]?.seq ?? 0;
    this.more = entries.length > 0 && oldest > 1 && oldest < this.oldest;
    this.oldest = oldest || this.oldest;
  }

  /** @param {any} entry  one entry of the history */
  enter(entry) {
    const at = entry.at;
    const run = entry.run ?? null;
    if (entry.role === "person" || entry.role === "agent") {
      const { id, role, text, html, by, seq, steer, attachments, files, interrupted } = entry;
      const key = `m:${entry.message ?? id}`;
      this.put({ kind: "said", key, role, run, text, html: html ?? undefined, by: by ?? undefined, at, seq, steer, taken: steer || undefined, interrupted, attachments: files ?? attachments });
    } else if (entry.role === "tool") {
      const call = entry.call ?? entry.id;
      this.put({ kind: "tool", key: `t:${call}`, run, tool: entry.tool ?? entry.text ?? "tool", arguments: entry.arguments, outcome: entry.outcome ?? "done", summary: entry.summary, result: entry.result, at });
    } else if (entry.role === "request" || (entry.role === "note" && entry.request)) {
      const before = /** @type {CardItem | undefined} */ (this.find(`q:${entry.request}`));
      const { request, outcome, where, values, reason, cause, text } = entry;
      const title = entry.role === "request" ? text : before?.card.title ?? "";
      const card = { ...before?.card, request, run, state: "settled", title, outcome, where, values, reason, cause, changed: entry.arguments, by: entry.by?.name || entry.by?.id, at };
      this.put({ kind: "card", key: `q:${request}`, card, at });
    } else {
      this.put({ kind: "note", key: `n:${entry.id}`, run, text: entry.text, at });
    }
  }

  /** @param {string} key */
  find(key) {
    return this.items.find((item) => item.key === key);
  }

  /** @param {Item} item  replaces the one of its key, or is put at the end */
  put(item) {
    const place = this.items.findIndex((one) => one.key === item.key);
    if (place >= 0) this.items[place] = item;
    else this.items.push(item);
  }

  /** @param {string} key */
  drop(key) {
    this.items = this.items.filter((item) => item.key !== key);
  }

  /** @param {string} run @param {Partial<RunView>} changes @param {number} at */
  run(run, changes, at) {
    const before = this.runs.get(run) ?? { run, state: "queued", created: at };
    this.runs.set(run, { ...before, ...changes });
  }

  /** The runs that are not over, oldest first. */
  get active() {
    return [...this.runs.values()].filter((run) => !OVER.has(run.state) && !run.moved_to).sort((a, b) => a.created - b.created);
  }

  /** Whether a run asked anything, as far as is known here: then it can go back to its last question. @param {string} id */
  asked(id) {
    const now = (/** @type {string} */ old) => {
      let name = old;
      for (let run = this.runs.get(name); run?.moved_to; run = this.runs.get(name)) name = run.moved_to;
      return name;
    };
    return this.more || this.items.some((item) => item.kind === "card" && now(item.card.run) === id);
  }

  /** The cards that are open, in order. */
  get open() {
    return /** @type {CardItem[]} */ (this.items.filter((item) => item.kind === "card" && item.card.state === "open"));
  }

  /** @param {string} run */
  markFailed(run) {
    const last = this.items.findLast((item) => item.kind === "said" && item.role === "agent" && item.run === run);
    if (last?.kind === "said") this.put({ ...last, failed: true });
  }

  /**
   * A receipt's last step: the run does something after it has its answer.
   * @param {string | null | undefined} run
   */
  acted(run) {
    for (const item of this.items) {
      if (item.kind === "card" && item.card.state === "settled" && item.card.run === run && item.card.delivered && !item.card.acted) {
        this.put({ ...item, card: { ...item.card, acted: true } });
      }
    }
  }
}
