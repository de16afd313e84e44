/**
 * <sayso-pending>: everything that waits for the person, across conversations: open questions, tasks to resume, and for
 * owners tasks that nobody saw end. Must not know: how answers and stops are carried out.
 */

import { api, Problem } from "./api.js";
import { el, fill, icon, reconcile } from "./dom.js";
import { visible } from "./escapes.js";
import { CardElement } from "./card.js";
import { cancelButton, sureButton } from "./task-buttons.js";
import { moment, refusal, stateWords } from "./words.js";

export class PendingElement extends HTMLElement {
  constructor() {
    super();
    /** @type {import("./store.js").Store | null} */
    this.store = null;
    /** @type {import("./card.js").Doors | null} */
    this.doors = null;
    /** @type {any[]} */
    this.cards = [];
    this.visited = false;
    this.questions = el("div", { class: "lines" });
    this.tasks = el("div", { class: "lines" });
    this.ends = el("div", { class: "lines" });
    this.nothing = el("div", { class: "nothing", hidden: true }, el("p", null, "Nothing waits for you."), el("p", { class: "hint" }, "Questions of your agents and paused tasks of all conversations appear here."));
    this.trouble = el("p", { class: "trouble", hidden: true });
    this.head = [el("h2", null, "Open questions"), el("h2", null, "Paused tasks"), el("h2", null, "Not seen to end")];
  }

  connectedCallback() {
    if (this.childElementCount) return;
    this.append(el("div", { class: "scroller" }, el("div", { class: "column" }, this.trouble, this.nothing, this.head[0], this.questions, this.head[1], this.tasks, this.head[2], this.ends)));
  }

  /**
   * @param {import("./store.js").Store} store
   * @param {import("./card.js").Doors} doors
   */
  show(store, doors) {
    this.store = store;
    this.doors = doors;
    if (this.visited) return;
    this.visited = true;
    this.cards = store.waits.requests ?? [];
    this.update();
    void store.waits.look();
  }

  /** What waits is known anew: cards keep their places, those that are open no more become a line until the next visit. */
  update() {
    const { store } = this;
    if (!store || !this.visited) return;
    const { requests, trouble } = store.waits;
    this.trouble.hidden = !trouble;
    if (trouble) fill(this.trouble, trouble.unheard ? "The list could not be loaded; it is tried again when the connection is back." : refusal(trouble));
    if (requests) {
      const fresh = new Map(requests.map((card) => [card.request, card]));
      for (const card of this.cards) if (card.state === "open" && !fresh.has(card.request)) void this.closed(card.request);
      const known = new Set(this.cards.map((card) => card.request));
      const kept = this.cards.map((card) => (card.state === "settled" ? card : fresh.get(card.request) ?? card));
      this.cards = [...kept, ...requests.filter((card) => !known.has(card.request))];
    }
    this.draw();
  }

  /** A question is open no more: show what came of it, or nothing. @param {string} request */
  async closed(request) {
    const found = await api.request(request).catch(() => null);
    if (found?.state === "settled" && found.title) return this.changed(request, found);
    this.cards = this.cards.filter((card) => card.request !== request || card.state === "settled");
    this.draw();
  }

  /** A card was answered here or elsewhere: it stays as one line until the next visit. @param {string} request @param {any} changes */
  changed(request, changes) {
    this.cards = this.cards.map((card) => (card.request === request ? { ...card, ...changes } : card));
    this.draw();
  }

  leave() {
    this.visited = false;
  }

  draw() {
    const { store, doors } = this;
    if (!store || !doors) return;
    reconcile(this.questions, this.cards, (card) => card.request, (card, old) => {
      const node = old ?? el("section", null, this.from(card.conversation, undefined, card.foreign), new CardElement());
      /** @type {CardElement} */ (node.querySelector("sayso-card")).show(card, doors);
      return node;
    });
    const { runs, unproved, requests } = store.waits;
    lines(this.tasks, runs, (run) => run.run, (run) => this.task(run));
    lines(this.ends, unproved, (leak) => `${leak.run} ${leak.worker}`, (leak) => this.leak(leak));
    [this.cards, runs, unproved].forEach((list, at) => { /** @type {HTMLElement} */ (this.head[at]).hidden = !list.length; });
    this.nothing.hidden = !requests || this.cards.length > 0 || runs.length > 0 || unproved.length > 0;
  }

  /** A paused task. @param {any} run */
  task(run) {
    const { doors } = this;
    return el("section", { class: "paused-task" }, this.from(run.conversation, run.title),
      el("p", { class: "paused-words" }, icon("pause"), stateWords(run)),
      run.error ? el("p", { class: "run-error" }, visible(run.error)) : null,
      el("div", { class: "verdict" },
        el("button", { type: "button", class: "button small", onclick: () => doors?.acts.run(run.run, "resume") }, icon("play"), run.cause === "turn_failed" ? "Retry" : "Resume"),
        doors ? cancelButton(run.run, doors.acts, "link") : null));
  }

  /** A task whose end nobody saw: where it may still be at work, and the button that takes it as stopped. @param {any} leak */
  leak(leak) {
    const { doors } = this;
    const where = [leak.host && `on ${leak.host}`, leak.pid && `process ${leak.pid}`].filter(Boolean).join(", ");
    const listed = this.store?.list.find((one) => one.id === leak.conversation);
    const from = !leak.conversation ? "A task of a deleted conversation" : listed ? null : "A task in a conversation of somebody else";
    return el("section", { class: "paused-task leak", "aria-label": "Task not seen to end" },
      from ? el("span", { class: "from" }, from) : this.from(leak.conversation),
      el("p", { class: "paused-words" }, icon("stop"), el("span", null, "Stop not confirmed since ", el("time", { datetime: new Date(leak.since_ms).toISOString() }, moment(leak.since_ms)), where ? ` (${where})` : "", ".",
        leak.alive ? " Its worker is alive and was told to stop." : " Its worker does not answer any more.")),
      el("div", { class: "verdict" }, sureButton("Accept as stopped", "Your name stands with it: you know that it has ended.", "Yes, it has ended", () => doors?.acts.run(leak.run, "accept-stopped"))));
  }

  /** Where it comes from; a foreign conversation cannot be opened. @param {string} conversation @param {string} [title] @param {boolean} [foreign] */
  from(conversation, title, foreign) {
    if (foreign) return el("span", { class: "from" }, "Asked of you, in a conversation of somebody else");
    const name = title || this.store?.list.find((one) => one.id === conversation)?.title || "Conversation";
    return el("a", { class: "from", href: `#${conversation}` }, visible(name), icon("right"));
  }
}

/**
 * Keep a list in step with what there is; what did not change stays as it is, with whatever is asked in it just now.
 * @template T
 * @param {Element} list @param {T[]} items @param {(item: T) => string} key @param {(item: T) => HTMLElement} draw
 */
function lines(list, items, key, draw) {
  reconcile(list, items, key, (item, old) => {
    const signature = JSON.stringify(item);
    const node = old?.dataset.signature === signature ? old : draw(item);
    node.dataset.signature = signature;
    return node;
  });
}

customElements.define("sayso-pending", PendingElement);
