/**
 * The page's words for times, states, outcomes and errors: one place, plain language.
 * Must not know: how anything is drawn.
 */

let skew = 0;

/**
 * Learn how far this clock is from the server's, from a `Date` header (it has whole seconds).
 * @param {string | null} header
 */
export function learnClock(header) {
  const server = header ? Date.parse(header) : NaN;
  if (Number.isNaN(server)) return;
  const off = server + 500 - Date.now();
  skew = Math.abs(off) > 1500 ? off : 0;
}

/** The server's time now, in ms. */
export function now() {
  return Date.now() + skew;
}

/**
 * A span in short words: `4 s`, `2:07`, `1 h 05 min`.
 * @param {number} ms
 */
export function span(ms) {
  const s = Math.max(0, Math.round(ms / 1000));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${String(Math.floor((s % 3600) / 60)).padStart(2, "0")} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor((s % 86400) / 3600)} h`;
}

/**
 * A moment, as short as it stays clear: the time today, otherwise the day.
 * @param {number} ms
 */
export function moment(ms) {
  const then = new Date(ms - skew);
  const today = new Date();
  const clock = then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  if (then.toDateString() === today.toDateString()) return clock;
  const day = then.toLocaleDateString([], { day: "numeric", month: "short", ...(then.getFullYear() === today.getFullYear() ? {} : { year: "numeric" }) });
  return `${day}, ${clock}`;
}

/**
 * How long ago, for lists.
 * @param {number} ms
 */
export function ago(ms) {
  const s = (now() - ms) / 1000;
  if (s < 60) return "now";
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  if (s < 86400) return `${Math.floor(s / 3600)} h`;
  if (s < 7 * 86400) return new Date(ms - skew).toLocaleDateString([], { weekday: "short" });
  return new Date(ms - skew).toLocaleDateString([], { day: "numeric", month: "short" });
}

/** @param {number} bytes */
export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(bytes < 10240 ? 1 : 0)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** @type {Record<string, string>} Where an answer came from. */
const PLACES = { chat: "the dashboard", web: "the dashboard", tg: "Telegram", dc: "Discord", cli: "the terminal", api: "the API" };

/** @param {string | null | undefined} where */
export function place(where) {
  return where ? (PLACES[where.split(/[-:]/, 1)[0]] ?? where) : "";
}

/** @type {Record<string, string>} Why a run is paused. */
const CAUSES = {
  user_paused: "Paused",
  user_aborted: "Paused at a question",
  deadline: "Paused: nobody answered in time",
  undeliverable: "Paused: the question could not be shown",
  turn_failed: "Stopped by an error",
  worker_lost: "Paused: the program that did the work went away",
  client_disconnected: "Paused: its window was closed",
  shutdown: "Paused: Sayso was shut down",
};

/**
 * A run's state for its status bar.
 * @param {{state: string, cause?: string | null, resumed?: boolean, retry?: number | null}} run
 */
export function stateWords(run) {
  switch (run.state) {
    case "queued": return run.retry ? "Trying again: the program that did the work went away" : "Starting";
    case "working": return "Working";
    case "waiting": return "Waiting for your answer";
    case "canceling": return "Canceling";
    case "pausing": return "Pausing";
    case "paused": return CAUSES[run.cause ?? ""] ?? "Paused";
    case "completed": return "Done";
    case "failed": return "Failed";
    case "canceled": return "Canceled";
    default: return run.state;
  }
}

/** @type {Record<string, string>} */
export const LIST_STATES = {
  idle: "", working: "working", waiting: "waits for an answer", paused: "paused", stopping: "stopping", queued: "starting",
};

/**
 * What is said when something was not taken.
 * @param {{code?: string, detail?: string, status?: number}} problem
 */
export function refusal(problem) {
  if (problem.code === "offline") return "not sent: no connection";
  if (problem.code === "timeout") return "not sent: the server did not answer in time";
  if (problem.detail) return problem.detail;
  return problem.status ? `the server answered ${problem.status}` : "something went wrong";
}

export const HELP = [
  "/pending: everything that waits for you, in all conversations",
  "/cancel, /pause, /resume: stop or continue the task here",
  "/approve, /deny, /answer, /abort with a question's id: answer from anywhere",
  "/grants: what you allowed for longer here",
  "/new: start over in a new conversation",
  "/stop all, /freeze, /thaw: everybody's tasks, for owners",
].join("\n");
