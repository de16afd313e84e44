/**
 * <sayso-card>: one question with its buttons, through its life: open → settled line, or paused, or not sent yet.
 * Must not know: where the card stands (timeline or list of what waits), what the agent does with the answer.
 */

import { el, fill, icon } from "./dom.js";
import { visible } from "./escapes.js";
import { makeField } from "./fields.js";
import { approvalButtons, subjectBlock } from "./approval.js";
import { settledLine } from "./receipt.js";
import { taskButtons } from "./task-buttons.js";
import { moment, now, place, span } from "./words.js";

/**
 * @typedef {{answers: import("./answers.js").Answers, acts: import("./acts.js").Acts}} Doors
 */

export class CardElement extends HTMLElement {
  constructor() {
    super();
    /** @type {any} */
    this.card = null;
    /** @type {Doors | null} */
    this.doors = null;
    this.drawn = "";
    /** @type {import("./fields.js").Field[]} */
    this.fields = [];
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.clock = undefined;
    this.resting = false;
    this.onway = () => this.showWay();
  }

  connectedCallback() {
    this.clock = setInterval(() => this.showDeadline(), 1000);
    this.doors?.answers.addEventListener("change", this.onway);
  }

  disconnectedCallback() {
    clearInterval(this.clock);
    this.doors?.answers.removeEventListener("change", this.onway);
  }

  /** @param {any} card @param {Doors} doors */
  show(card, doors) {
    if (!this.doors && this.isConnected) doors.answers.addEventListener("change", this.onway);
    this.doors = doors;
    const { given, deadline, state, ...fixed } = card;
    const signature = JSON.stringify(state === "settled" ? card : [state, fixed]);
    const hadFocus = this.contains(document.activeElement);
    this.card = card;
    if (signature !== this.drawn) {
      if (!this.drawn && doors.answers.justGiven) this.rest();
      this.drawn = signature;
      this.draw();
      if (hadFocus && state === "settled") /** @type {any} */ (this.querySelector("summary") ?? document.getElementById("message"))?.focus();
    }
    this.showGiven();
    this.showDeadline();
    this.showWay();
  }

  draw() {
    const { card } = this;
    this.className = `card card-${card.state}`;
    this.fields = [];
    if (card.state === "settled") {
      this.removeAttribute("role");
      return fill(this, settledLine(card));
    }
    const title = `card-${card.request}`;
    this.setAttribute("role", "group");
    this.setAttribute("aria-labelledby", title);
    const words = card.title || (card.subject ? `May ${card.subject.tool} run?` : "A question");
    this.deadlineAt = el("span", { class: "deadline" });
    this.way = el("p", { class: "way", role: "status" });
    fill(this,
      el("header", null, el("span", { class: "card-kind" }, card.state === "withdrawn" ? "Paused" : kindWords(card)), this.deadlineAt),
      el("h3", { id: title, tabindex: "-1" }, visible(words)),
      card.message ? el("p", { class: "card-message" }, visible(card.message)) : null,
      card.subject ? subjectBlock(card.subject) : null,
      card.state === "withdrawn" ? this.paused() : this.inputs(),
      this.way,
      card.state === "open" ? this.unshown() : null,
      card.state === "open" ? taskButtons(card, /** @type {Doors} */ (this.doors).acts) : null);
  }

  /** Where it could not be shown, and a button to try again. */
  unshown() {
    const places = Object.entries(this.card.not_shown ?? {});
    if (!places.length) return null;
    const words = places.map(([where, why]) => `${place(where)} (${why})`).join(", ");
    return el("div", { class: "unshown" }, el("span", null, visible(`Not shown on ${words}. It can be answered here.`)),
      el("button", { type: "button", class: "link", onclick: () => this.doors?.acts.showAgain(this.card) }, places.length > 1 ? "Try again there" : `Try ${place(places[0][0])} again`));
  }

  /** Take no press for a moment. */
  rest() {
    this.resting = true;
    setTimeout(() => { this.resting = false; this.showWay(); }, 600);
  }

  /** What stands on a card of a paused task. */
  paused() {
    const { acts } = /** @type {Doors} */ (this.doors);
    return el("div", { class: "verdict" }, el("p", { class: "hint" }, "This task is paused. Resume it first, then answer."),
      el("button", { type: "button", class: "button", onclick: () => acts.run(this.card.run, "resume") }, icon("play"), "Resume"));
  }

  inputs() {
    const { card } = this;
    if (String(card.origin ?? "").startsWith("cli-")) return el("p", { class: "hint" }, "This question is answered in its own terminal window.");
    if (card.body && !card.whole) return this.loading();
    const alone = card.fields.length === 1;
    const [first] = card.fields;
    if (alone && first.kind === "confirm") {
      return approvalButtons(card, first, {
        approve: (option, more) => this.give({ outcome: "accepted", values: { [first.id]: option }, ...more }),
        deny: (_, reason) => this.give({ outcome: "declined", ...(reason ? { reason } : {}) }),
      });
    }
    this.fields = card.fields.map((/** @type {any} */ field) => makeField(field, {
      alone,
      request: card.request,
      pick: (value) => this.give({ outcome: "accepted", values: { [field.id]: value } }),
      changed: () => { if (!alone) this.keep(field.id); },
    }));
    const form = el(alone && first.kind === "secret" ? "div" : "form", { class: "fields", novalidate: true, onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this.submit(); } },
      this.fields.map((field) => field.node), this.doneButton(alone, first));
    return form;
  }

  /** @param {boolean} alone @param {any} first */
  doneButton(alone, first) {
    const quiet = alone && first.kind === "secret"; // the masked form has buttons of its own
    const decline = el("button", { type: "button", class: quiet ? "link" : "button", onclick: () => this.give({ outcome: "declined" }) }, alone ? "Skip" : "Decline");
    decline.title = "Tell the agent that you give no answer; the task goes on";
    if (alone && (first.kind === "secret" || (first.kind === "choice" && !first.multiple))) return el("div", { class: "verdict" }, decline);
    const words = !alone ? "Submit" : first.kind === "choice" ? "Done" : first.kind === "file" ? "Send" : "Answer";
    return el("div", { class: "verdict" }, el("button", { type: "submit", class: "button primary" }, words), decline);
  }

  /** A long question comes whole before it can be answered. */
  loading() {
    /** @type {Doors} */ (this.doors).acts.whole(this.card);
    return el("p", { class: "hint" }, "Loading the whole text. It can be approved only when all of it is shown.");
  }

  submit() {
    /** @type {Record<string, any>} */
    const values = {};
    for (const field of this.fields) {
      const busy = field.busy?.() ?? null;
      field.wrong(busy);
      if (busy) return;
      const value = field.value();
      if (value !== undefined) values[field.id] = value;
    }
    this.give({ outcome: "accepted", values });
  }

  /** @param {any} body */
  give(body) {
    this.doors?.answers.give(this.card.request, body);
  }

  /** Store one field of a form as it is given. @param {string} id */
  async keep(id) {
    const field = this.fields.find((one) => one.id === id);
    const value = field?.value();
    if (!field || value === undefined || value === "" || this.card.state !== "open") return;
    field.node.classList.remove("is-kept");
    const wrong = await this.doors?.answers.keep(this.card.request, { [id]: value });
    field.wrong(wrong ?? null);
    field.node.classList.toggle("is-kept", !wrong);
  }

  showGiven() {
    for (const field of this.fields) {
      const given = this.card.given?.[field.id];
      if (given === undefined || field.node.contains(document.activeElement)) continue;
      field.set(given);
      field.node.classList.add("is-kept");
    }
  }

  showDeadline() {
    const { card } = this;
    if (!card || !this.deadlineAt || card.state !== "open") return;
    const left = card.deadline ? card.deadline - now() : null;
    fill(this.deadlineAt, left === null ? null : left > 0 ? [icon("clock"), el("span", { title: `until ${moment(card.deadline)}` }, `${span(left)} left`)] : "time is over");
    this.deadlineAt.classList.toggle("soon", left !== null && left < 60_000);
  }

  /** How the answer fares that was pressed here. */
  showWay() {
    const { card } = this;
    if (!card || card.state === "settled" || !this.way) return;
    const way = this.doors?.answers.of(card.request) ?? null;
    this.classList.toggle("is-sending", way?.state === "sending");
    for (const control of this.querySelectorAll(".approval button, .fields button, .fields input, .fields textarea, .approval input, .approval textarea")) {
      if (!control.closest(".secret")) /** @type {any} */ (control).disabled = way?.state === "sending" || this.resting;
    }
    if (!way) return fill(this.way);
    const field = this.fields.find((one) => one.id === way.field);
    if (way.state === "refused" && field) {
      field.wrong(way.words);
      field.focus();
      return fill(this.way);
    }
    const retry = way.state === "failed" ? el("button", { type: "button", class: "button small", onclick: () => this.doors?.answers.retry(card.request) }, icon("retry"), "Retry") : null;
    fill(this.way, way.state === "failed" ? el("span", { class: "bad" }, `Not sent: ${way.words}.`) : way.state === "refused" ? el("span", { class: "bad" }, way.words) : "Sending…", retry);
  }
}

/** @param {any} card */
function kindWords(card) {
  if (card.fields.length > 1) return "Form";
  switch (card.fields[0]?.kind) {
    case "confirm": return card.restricted ? "Restricted approval" : card.subject ? "Approval" : "Confirmation";
    case "secret": return "Secret";
    case "file": return "File";
    default: return "Question";
  }
}

customElements.define("sayso-card", CardElement);
