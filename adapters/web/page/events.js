/**
 * What each event of the journal changes in a thread, one function a type. Pure.
 * Must not know: where events come from; the socket hands each one on once.
 */

/**
 * @typedef {import("./thread.js").Thread} Thread
 * @typedef {import("./socket.js").Told} Told
 */

/** @type {Record<string, (thread: Thread, told: Told) => void>} */
const APPLY = {
  "run.queued"(thread, told) {
    if (told.moved_from) {
      const before = thread.runs.get(told.moved_from);
      thread.runs.delete(told.moved_from);
      if (before) thread.runs.set(told.run, { ...before, run: told.run });
      for (const item of thread.items) if (item.kind === "card" && item.card.run === told.moved_from) thread.put({ ...item, card: { ...item.card, run: told.run } });
    }
    thread.run(told.run, { state: "queued", cause: null, error: null, retry: told.retry ?? null, status: undefined, ...(told.agent ? { agent: told.agent } : {}) }, told.at);
    if (told.text !== undefined && told.entry) said(thread, told, told.text, { steer: false });
  },
  "run.working"(thread, told) {
    thread.run(told.run, { state: "working", cause: null, error: null, retry: null }, told.at);
    for (const id of told.delivered ?? []) settledCard(thread, id, { delivered: true });
  },
  "run.waiting"(thread, told) {
    thread.run(told.run, { state: "waiting", cause: null, status: undefined }, told.at);
    for (const id of told.requests ?? []) card(thread, id, { state: "open" }, "withdrawn");
  },
  "run.canceling": stopping("canceling"),
  "run.pausing": stopping("pausing"),
  "run.paused"(thread, told) {
    interrupt(thread, told.run);
    thread.run(told.run, { state: "paused", cause: told.cause, error: told.error ?? null, status: undefined, unconfirmed: false }, told.at);
  },
  "run.completed"(thread, told) {
    thread.acted(told.run);
    thread.run(told.run, { state: "completed" }, told.at);
    interrupt(thread, told.run, "done");
  },
  "run.failed"(thread, told) {
    thread.acted(told.run);
    thread.run(told.run, { state: "failed", error: told.error }, told.at);
    interrupt(thread, told.run);
    thread.markFailed(told.run);
  },
  "run.canceled"(thread, told) {
    interrupt(thread, told.run);
    thread.run(told.run, { state: "canceled", cause: told.cause, effects: told.effects, ended: told.ended, ended_by: told.ended_by }, told.at);
    thread.put({ kind: "note", key: `canceled:${told.run}`, run: told.run ?? null, text: "[Canceled]", tone: told.effects, at: told.at });
  },
  "request.opened"(thread, told) {
    const { type, seq, at, ...rest } = told;
    const before = thread.find(`q:${told.request}`);
    thread.put({ kind: "card", key: `q:${told.request}`, card: { ...rest, state: told.state ?? "open", ...(before?.kind === "card" && before.card.state === "settled" ? before.card : {}) }, at: told.created ?? at });
  },
  "request.updated"(thread, told) {
    const { given, deadline, state } = told;
    card(thread, told.request, { ...(given ? { given } : {}), ...(deadline ? { deadline } : {}), ...(state ? { state } : {}) });
    if (state === "withdrawn") card(thread, told.request, { deadline: undefined });
    if (told.not_shown || told.shown) {
      const before = thread.find(`q:${told.request}`);
      const { [told.shown ?? told.not_shown]: _, ...rest } = before?.kind === "card" ? before.card.not_shown ?? {} : {};
      card(thread, told.request, { not_shown: told.not_shown ? { ...rest, [told.not_shown]: told.reason } : rest });
    }
  },
  "request.closed"(thread, told) {
    const { outcome, by, where, values, reason, cause } = told;
    card(thread, told.request, { state: "settled", outcome, by, where, values, reason, cause, changed: told.arguments, at: told.at, receipt: true });
  },
  "message.delta"(thread, told) {
    thread.acted(told.run);
    const key = `m:${told.message}`;
    const before = thread.find(key);
    if (before?.kind === "said") return;
    const text = (before?.kind === "streaming" ? before.text : "") + told.text;
    thread.put({ kind: "streaming", key, run: told.run ?? null, text, at: before?.at ?? told.at });
  },
  "message.completed"(thread, told) {
    thread.acted(told.run);
    const key = `m:${told.message ?? told.entry}`;
    if (told.entry && told.entry !== told.message && thread.find(`m:${told.entry}`)) return thread.drop(key);
    thread.put({ kind: "said", key, role: "agent", run: told.run ?? null, text: told.text ?? "", html: told.html ?? undefined, at: told.at, interrupted: told.interrupted, attachments: told.files ?? told.attachments });
  },
  "tool.started"(thread, told) {
    thread.acted(told.run);
    thread.put({ kind: "tool", key: `t:${told.call}`, run: told.run ?? null, tool: told.tool, arguments: told.arguments, outcome: null, at: told.at });
  },
  "tool.completed"(thread, told) {
    thread.acted(told.run);
    const before = thread.find(`t:${told.call}`);
    const known = before?.kind === "tool" ? before : { kind: /** @type {const} */ ("tool"), key: `t:${told.call}`, run: told.run ?? null, tool: told.tool, at: told.at };
    thread.put({ ...known, tool: told.tool ?? known.tool, outcome: told.outcome ?? "done", summary: told.summary, result: told.result, ended: told.at });
  },
  "status"(thread, told) {
    if (told.steer !== undefined) return said(thread, told, told.steer, { steer: true });
    thread.run(told.run, { status: told.text, ...(told.since ? { unconfirmed: true } : {}) }, told.at);
  },
  "steer.taken"(thread, told) {
    for (const item of thread.items) if (item.kind === "said" && item.steer && item.run === told.run && !item.taken) thread.put({ ...item, taken: true });
  },
};

/**
 * Apply one event; unknown types are left alone.
 * @param {Thread} thread
 * @param {Told} told
 */
export function apply(thread, told) {
  APPLY[told.type]?.(thread, told);
  if (told.seq) thread.seq = told.seq;
}

/** @param {"canceling" | "pausing"} state */
function stopping(state) {
  return (/** @type {Thread} */ thread, /** @type {Told} */ told) =>
    thread.run(told.run, { state, cause: told.cause, stop_requested: told.stop_requested ?? told.at, status: undefined }, told.at);
}

/** @param {Thread} thread @param {Told} told @param {string} text @param {{steer: boolean}} how */
function said(thread, told, text, { steer }) {
  thread.put({ kind: "said", key: `m:${told.entry}`, role: "person", run: told.run ?? null, text, by: told.by ? { name: told.by } : undefined, at: told.at, steer, attachments: told.files ?? told.attachments });
}

/**
 * Change a card, if it is known (and in the state wanted).
 * @param {Thread} thread @param {string} id @param {object} changes @param {string} [only]
 */
function card(thread, id, changes, only) {
  const item = thread.find(`q:${id}`);
  if (item?.kind !== "card" || (only && item.card.state !== only)) return;
  thread.put({ ...item, card: { ...item.card, ...changes } });
}

/** @param {Thread} thread @param {string} id @param {object} changes */
function settledCard(thread, id, changes) {
  card(thread, id, changes, "settled");
}

/** Tools and texts that a run left unfinished end with it. @param {Thread} thread @param {string | undefined} run */
function interrupt(thread, run, outcome = "interrupted") {
  for (const item of [...thread.items]) {
    if (item.kind === "tool" && item.run === run && item.outcome === null) thread.put({ ...item, outcome });
    if (item.kind === "streaming" && item.run === run) thread.put({ kind: "said", key: item.key, role: "agent", run: item.run, text: item.text, at: item.at });
  }
}
