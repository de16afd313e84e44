/**
 * <sayso-pending>: everything that waits for the person, across conversations: open questions and tasks to resume.
 * Must not know: how answers and stops are carried out.
 */

import { api, Problem } from "./api.js";
import { el, fill, icon, reconcile } from "./dom.js";
import { visible } from "./escapes.js";
import { CardElement } from "./card.js";
import { cancelButton } from "./task-buttons.js";
import { refusal, stateWords } from "./words.js";

export class PendingElement extends HTMLElement {
  constructor() {
    super();
    /** @type {import("./store.js").Store | null} */
    this.store = null;
    /** @type {import("./card.js").Doors | null} */
    this.doors = null;
    /** @type {any[]} */
    this.cards = [];
    /** @type {any[]} */
    this.runs = [];
    this.loaded = false;
    this.questions = el("div", { class: "lines" });
    this.tasks = el("div", { class: "lines" });
    this.nothing = el("div", { class: "nothing", hidden: true }, el("p", null, "Nothing waits for you."), el("p", { class: "hint" }, "Questions of your agents and paused tasks of all conversations appear here."));
    this.trouble = el("p", { class: "trouble", hidden: true });
    this.head = [el("h2", null, "Open questions"), el("h2", null, "Paused tasks")];
  }

  connectedCallback() {
    if (this.childElementCount) return;
    this.append(el("div", { class: "scroller" }, el("div", { class: "column" }, this.trouble, this.nothing, this.head[0], this.questions, this.head[1], this.tasks)));
  }

  /**
   * @param {import("./store.js").Store} store
   * @param {import("./card.js").Doors} doors
   */
  async show(store, doors) {
    this.store = store;
    this.doors = doors;
    this.draw();
    try {
      const { requests, runs } = await api.pending();
      const fresh = new Set(requests.map((/** @type {any} */ card) => card.request));
      const kept = this.cards.filter((card) => card.state === "settled" && !fresh.has(card.request));
      this.cards = [...kept, ...requests];
      this.runs = runs;
      this.trouble.hidden = true;
      this.loaded = true;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      this.trouble.hidden = false;
      fill(this.trouble, error.unheard ? "The list could not be loaded; it is tried again when the connection is back." : refusal(error));
    }
    this.draw();
  }

  /** A card was answered here or elsewhere: it stays as one line until the next visit. @param {string} request @param {any} changes */
  changed(request, changes) {
    this.cards = this.cards.map((card) => (card.request === request ? { ...card, ...changes } : card));
    this.draw();
  }

  leave() {
    this.cards = this.cards.filter((card) => card.state === "open");
  }

  draw() {
    const { store, doors } = this;
    if (!store || !doors) return;
    reconcile(this.questions, this.cards, (card) => card.request, (card, old) => {
      const node = old ?? el("section", null, this.from(card.conversation, undefined, card.foreign), new CardElement());
      /** @type {CardElement} */ (node.querySelector("sayso-card")).show(card, doors);
      return node;
    });
    fill(this.tasks, this.runs.map((run) => el("section", { class: "paused-task" }, this.from(run.conversation, run.title),
      el("p", { class: "paused-words" }, icon("pause"), stateWords(run)),
      run.error ? el("p", { class: "run-error" }, visible(run.error)) : null,
      el("div", { class: "verdict" },
        el("button", { type: "button", class: "button small", onclick: () => doors.acts.run(run.run, "resume") }, icon("play"), run.cause === "turn_failed" ? "Retry" : "Resume"),
        cancelButton(run.run, doors.acts, "link")))));
    this.head[0].hidden = !this.cards.length;
    this.head[1].hidden = !this.runs.length;
    this.nothing.hidden = !this.loaded || this.cards.length > 0 || this.runs.length > 0;
  }

  /** Where it comes from; a foreign conversation cannot be opened. @param {string} conversation @param {string} [title] @param {boolean} [foreign] */
  from(conversation, title, foreign) {
    if (foreign) return el("span", { class: "from" }, "Asked of you, in a conversation of somebody else");
    const name = title || this.store?.list.find((one) => one.id === conversation)?.title || "Conversation";
    return el("a", { class: "from", href: `#${conversation}` }, visible(name), icon("right"));
  }
}

customElements.define("sayso-pending", PendingElement);
