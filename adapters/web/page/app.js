/**
 * The page: makes the parts, connects them, and keeps the address, the title and what is shown in step.
 * Must not know: how any part draws itself.
 */

import "./timeline.js";
import "./composer.js";
import "./run-bar.js";
import "./sidebar.js";
import "./pending.js";
import "./health.js";
import { Acts } from "./acts.js";
import { Answers } from "./answers.js";
import { Commands } from "./commands.js";
import { announce, el, fill, icon } from "./dom.js";
import { keepDraft } from "./drafts.js";
import { visible } from "./escapes.js";
import { showFreeze } from "./freeze.js";
import { showGrants } from "./grants.js";
import { Drawer } from "./drawer.js";
import { showNews } from "./news.js";
import { Outbox } from "./outbox.js";
import { Store } from "./store.js";
import { welcome } from "./welcome.js";
import { now, place, refusal } from "./words.js";

/** @param {string} id @returns {any} */
const part = (id) => document.getElementById(id);

const store = new Store();
const outbox = new Outbox();
const answers = new Answers();
const acts = new Acts(store);
const commands = new Commands(store, acts, notice);
const [side, timeline, pending, health, runs, composer, empty] = ["side", "timeline", "pending", "health", "runs", "composer", "empty"].map(part);
/** @type {Record<string, string>} places that are no conversation */
const TITLES = { pending: "Waiting for you", health: "Health" };
const drawer = new Drawer(side, part("menu"), part("shade"));
const doors = {
  answers,
  acts,
  retry: (/** @type {string} */ key) => outbox.retry(key),
  edit: (/** @type {string} */ key) => { composer.put(outbox.discard(key)?.text ?? ""); composer.takeFocus(); },
  older: () => store.older(),
};

// ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────────────

function showThread() {
  if (store.place !== "chat") return;
  const { thread } = store;
  const waiting = outbox.of(store.current);
  const blank = !thread && !waiting.length;
  empty.hidden = !blank || Boolean(store.trouble);
  timeline.hidden = blank;
  timeline.show(thread, waiting, doors);
  const asking = new Set(thread?.open.map((item) => item.card.run));
  const shown = (thread?.active ?? []).filter((run) => run.state !== "waiting" || !asking.has(run.run));
  runs.show(shown.map((run) => ({ ...run, asked: thread?.asked(run.run) })), acts);
  composer.show(store.current, ...expectation());
  const title = thread?.conversation.title || (store.current ? "Conversation" : "New conversation");
  fill(part("title"), visible(title));
  fill(part("agent"), thread?.conversation.agent ? visible(thread.conversation.agent) : null);
  part("permissions").hidden = !thread;
  if (store.trouble && !thread?.loaded) notice(store.trouble);
  showTitle();
}

/** What a text would do now: in the empty box, and in a line above what is typed. @returns {[string, string]} */
function expectation() {
  const { thread } = store;
  const open = thread?.open ?? [];
  if (open.length > 1) return ["Answer on the cards above", ""];
  if (open.length) {
    const [field, more] = open[0].card.fields;
    if (more) return ["Fill in the form above", ""];
    if (field.kind === "secret") return ["Never type a secret here", "A secret is asked for: what you type here is not kept"];
    if (field.kind === "file") return ["Attach the file here", `Waits for a file: ${open[0].card.title}`];
    if (field.kind === "text") return ["Type your answer", `Answers: ${open[0].card.title}`];
    return ["Press an option, or type it", `Answers: ${open[0].card.title}`];
  }
  const works = thread?.active.some((run) => run.state === "working" || run.state === "queued");
  if (works) return ["Steer the running task", "Steers the running task"];
  return [thread ? "Reply…" : `Message ${store.agent || "the agent"}…`, ""];
}

function showPlace() {
  if (store.place === "health" && store.me && !store.owner) return location.replace("#new");
  const title = TITLES[store.place];
  pending.hidden = store.place !== "pending";
  health.hidden = store.place !== "health" || !store.me;
  part("dock").hidden = Boolean(title);
  if (health.hidden) health.leave();
  else health.show();
  if (pending.hidden) pending.leave();
  else pending.show(store, doors);
  if (title) {
    empty.hidden = timeline.hidden = true;
    fill(part("title"), title);
    fill(part("agent"));
    part("permissions").hidden = true;
  } else {
    if (store.me && !empty.childElementCount) greet();
    showThread();
    if (!matchMedia("(pointer: coarse)").matches && !document.querySelector("dialog[open]")) composer.takeFocus();
  }
  side.show(store, acts);
  showTitle();
}

/** The empty view: with the agent that the next conversation is with. */
function greet() {
  if (!store.me) return;
  const choose = (/** @type {string} */ name) => { store.agent = name; greet(); showThread(); };
  fill(empty, el("div", { class: "column" }, welcome({ agent: store.agent, agents: store.me.agents, say, choose })));
}

function showTitle() {
  const name = TITLES[store.place] ?? store.thread?.conversation.title;
  document.title = `${store.waiting ? `(${store.waiting}) ` : ""}${name ? `${name} · ` : ""}Sayso`;
}

function showLink() {
  const words = { connecting: "", live: "", reconnecting: "Reconnecting…" }[store.socket.state];
  const line = part("link");
  if (line.textContent !== words) fill(line, words);
  line.classList.toggle("is-lost", store.socket.state === "reconnecting");
}

/** A line of ours above the box, for what was not taken. @param {string} words */
function notice(words) {
  const places = part("notices");
  const known = [...places.children].find((one) => one.dataset.words === words);
  known?.remove();
  const line = el("div", { class: "notice", dataset: { words } }, el("span", null, visible(words)),
    el("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", onclick: () => line.remove() }, icon("close")));
  places.append(line);
  while (places.childElementCount > 3) places.firstElementChild.remove();
  setTimeout(() => line.remove(), 20_000);
}

// ── what people do ──────────────────────────────────────────────────────────────────────────────────────────────────

/** @param {string} text @param {any[]} [attachments] */
function say(text, attachments = []) {
  part("notices").replaceChildren();
  timeline.toEnd(false);
  outbox.send({ conversation: store.current, text, attachments, agent: store.current ? undefined : store.agent || undefined });
}

composer.addEventListener("said", (/** @type {any} */ event) => say(event.detail.text, event.detail.attachments));
outbox.addEventListener("change", () => store.changed("thread"));
outbox.addEventListener("result", (/** @type {any} */ event) => {
  const { item, result, fresh } = event.detail;
  if (result.kind === "sent" && fresh) {
    store.begin(result.conversation, { title: item.text.trim().split("\n", 1)[0].slice(0, 80), agent: item.agent });
    if (store.place === "chat" && !store.current) location.hash = result.conversation;
  } else if (result.kind !== "sent") commands.did(result, item);
});
outbox.addEventListener("refused", (/** @type {any} */ event) => {
  const { item, problem } = event.detail;
  notice(problem.standing.outcome ? standingWords(problem.standing) : refusal(problem));
  if (problem.code === "secret") return;
  if (item.conversation !== store.current || composer.box.value) return keepDraft(item.conversation, item.text);
  composer.put(item.text);
});
answers.addEventListener("answered", (/** @type {any} */ event) => {
  const { request, result } = event.detail;
  if (!result.settled && result.settled !== undefined) return;
  const answer = result.answer ?? {};
  settle(request, { outcome: answer.outcome ?? "accepted", values: answer.values, reason: answer.reason, by: store.me?.person.name, where: "chat", at: now(), receipt: true });
});
answers.addEventListener("standing", (/** @type {any} */ event) => {
  const { request, standing } = event.detail;
  const { outcome, by, where, at, values, reason } = standing;
  settle(request, { outcome, by, where, at, values, reason });
  notice(standingWords(standing));
});
acts.addEventListener("notice", (/** @type {any} */ event) => notice(event.detail));
acts.addEventListener("done", (/** @type {any} */ event) => {
  if (event.detail.verb !== "whole") void store.waits.look();
});

/** A card is settled, before its event comes. @param {string} request @param {any} changes */
function settle(request, changes) {
  pending.changed(request, { state: "settled", ...changes });
  store.waits.settled(request);
  for (const thread of store.threads.values()) {
    const item = thread.find(`q:${request}`);
    if (item?.kind === "card" && item.card.state !== "settled") thread.put({ ...item, card: { ...item.card, state: "settled", ...changes } });
  }
  announce("Recorded");
  store.changed("thread");
}

/** @param {any} standing */
function standingWords(standing) {
  if (standing.outcome === "expired") return "Too late: nobody answered in time, the question is closed.";
  const who = standing.by ? ` by ${standing.by}` : "";
  const where = standing.where ? ` on ${place(standing.where)}` : "";
  return standing.by ? `Already answered${who}${where}. That answer stands.` : standing.detail || "The question is closed.";
}

// ── what the server tells ───────────────────────────────────────────────────────────────────────────────────────────

store.addEventListener("list", () => { side.show(store, acts); showTitle(); showNews(part("news"), store); });
store.addEventListener("thread", () => {
  for (const item of store.thread?.items ?? []) if (item.kind === "said" && item.role === "person") claim(item);
  showThread();
});
store.addEventListener("place", showPlace);
store.addEventListener("link", showLink);
store.addEventListener("frozen", () => showFreeze(part("frozen"), store.frozen, store.me?.person.role === "owner", acts));
store.addEventListener("trouble", (/** @type {any} */ event) => notice(event.detail));
store.addEventListener("gone", (/** @type {any} */ event) => {
  history.replaceState(null, "", "#new");
  if (event.detail) notice("This conversation was deleted.");
});
store.addEventListener("card", (/** @type {any} */ event) => pending.changed(event.detail.request, event.detail));
store.addEventListener("waits", () => {
  pending.update();
  part("menu").classList.toggle("has-news", store.waiting > 0);
});

/** @type {WeakSet<object>} */
const claimed = new WeakSet();
/** @param {import("./thread.js").Said} item */
function claim(item) {
  if (claimed.has(item) || !store.current) return;
  claimed.add(item);
  const sent = item.at > now() - 300_000 ? outbox.claim(store.current, item.run, item.text) : null;
  if (sent?.attachments.length && typeof item.attachments?.[0] === "string") store.thread?.put({ ...item, attachments: sent.attachments });
}

// ── addresses ───────────────────────────────────────────────────────────────────────────────────────────────────────

function route() {
  const name = decodeURIComponent(location.hash.slice(1));
  if (name === "message") return composer.takeFocus();
  drawer.close();
  part("notices").replaceChildren();
  if (name === "pending" || name === "health") store.showOther(name);
  else store.show(/^c[0-9a-z]{6,}$/.test(name) ? name : null);
}

addEventListener("hashchange", route);
addEventListener("keydown", (event) => {
  if (event.key === "/" && !/** @type {Element} */ (event.target).closest("input, textarea, [contenteditable]") && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    composer.takeFocus();
  }
});
part("menu").append(icon("menu"));
part("permissions").append(icon("shield"));
part("permissions").addEventListener("click", () => store.current && showGrants(store.current, acts));
route();
void store.open();
