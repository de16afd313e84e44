/**
 * <sayso-run-bar>: the tasks of the shown conversation that are not over: state, time, last words, and their buttons.
 * Must not know: how a task is stopped or resumed.
 */

import { el, fill, icon, reconcile } from "./dom.js";
import { visible } from "./escapes.js";
import { cancelButton } from "./task-buttons.js";
import { now, span, stateWords } from "./words.js";

/** @typedef {import("./thread.js").RunView & {asked?: boolean}} RunView  asked: it has a question to go back to */

/** ms in which a second press of the button before is not a press of *Stop now*, which stands at its place. */
const SECOND_PRESS = 1200;
const STEADY = new Set(["queued", "working", "waiting", "canceling", "pausing"]);

export class RunBarElement extends HTMLElement {
  constructor() {
    super();
    /** @type {RunView[]} */
    this.runs = [];
    /** @type {WeakMap<HTMLElement, string>} */
    this.drawn = new WeakMap();
  }

  connectedCallback() {
    this.clock = setInterval(() => this.tick(), 1000);
  }

  disconnectedCallback() {
    clearInterval(this.clock);
  }

  /**
   * @param {RunView[]} runs
   * @param {import("./acts.js").Acts} acts
   */
  show(runs, acts) {
    this.runs = runs;
    this.hidden = !runs.length;
    reconcile(this, runs, (run) => run.run, (run, old) => {
      const signature = JSON.stringify([run.state, run.cause, run.error, run.unconfirmed, run.stop_requested, run.retry, run.asked]);
      const node = old && this.drawn.get(old) === signature ? old : this.draw(run, acts);
      this.drawn.set(node, signature);
      const said = /** @type {HTMLElement} */ (node.querySelector(".run-status"));
      const words = run.state === "working" && run.status ? run.status : "";
      if (said.textContent !== words) fill(said, visible(words));
      return node;
    });
    this.tick();
  }

  /** @param {RunView} run @param {import("./acts.js").Acts} acts */
  draw(run, acts) {
    const paused = run.state === "paused";
    const node = el("div", { class: `run run-${run.state}`, role: "group", "aria-label": "Task" },
      el("span", { class: "run-mark" }, paused ? icon("pause") : el("span", { class: run.state === "waiting" ? "dot waits" : "spinner" })),
      el("span", { class: "run-words" },
        el("span", { class: "run-state", role: "status" }, stateWords(run)), el("span", { class: "run-time", "aria-hidden": "true" })),
      el("span", { class: "run-status" }),
      el("span", { class: "run-buttons" }, this.buttons(run, acts)));
    if (paused && run.error) node.append(el("p", { class: "run-error" }, visible(run.error)));
    if (run.unconfirmed && run.state !== "paused") node.append(el("p", { class: "run-error" }, "Stop not confirmed yet. You can go on here; its late results are dropped."));
    return node;
  }

  /** @param {RunView} run @param {import("./acts.js").Acts} acts */
  buttons(run, acts) {
    const button = (/** @type {string} */ words, /** @type {string} */ drawing, /** @type {() => void} */ act, /** @type {string} */ title = "") =>
      el("button", { type: "button", class: "button small", title, onclick: act }, icon(drawing), words);
    if (run.state === "paused") {
      const broke = run.cause === "turn_failed" || run.cause === "worker_lost";
      return [
        button(broke ? "Retry" : "Resume", broke ? "retry" : "play", () => acts.run(run.run, "resume"), broke ? "Try the same step again" : "Go on where it stopped"),
        run.asked ? el("button", { type: "button", class: "link", title: "Go back to its last question and ask it again; what came after is dropped", onclick: () => acts.run(run.run, "revert") }, "Revert") : null,
        cancelButton(run.run, acts, "link"),
      ];
    }
    if (run.state === "canceling" || run.state === "pausing") {
      const verb = run.state === "canceling" ? "cancel" : "pause";
      const rest = run.state === "pausing" ? cancelButton(run.run, acts, "link") : null;
      const stopNow = button("Stop now", "stop", () => acts.run(run.run, verb, { urgent: true }), "Do not wait for it to stop by itself");
      stopNow.disabled = true;
      setTimeout(() => { stopNow.disabled = false; }, SECOND_PRESS);
      const gone = run.unconfirmed ? el("button", { type: "button", class: "link", title: "You know that it has ended, although nobody saw it; your name stands with it", onclick: () => acts.run(run.run, "accept-stopped") }, "Accept as stopped") : null;
      return [stopNow, gone, rest];
    }
    const pause = run.state === "waiting" ? null : button("Pause", "pause", () => acts.run(run.run, "pause"), "Stop and keep everything; you can resume later");
    return [pause, cancelButton(run.run, acts, "link")];
  }

  tick() {
    for (const run of this.runs) {
      const node = /** @type {HTMLElement | undefined} */ ([...this.children].find((one) => /** @type {HTMLElement} */ (one).dataset.key === run.run));
      const time = node?.querySelector(".run-time");
      if (!time) continue;
      const since = run.state === "canceling" || run.state === "pausing" ? run.stop_requested ?? run.created : run.created;
      fill(time, STEADY.has(run.state) ? span(now() - since) : "");
    }
  }
}

customElements.define("sayso-run-bar", RunBarElement);
