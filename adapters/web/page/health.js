/**
 * <sayso-health>: for owners, what works and what needs somebody, in the words that the server has for it; looked at
 * again while it is open. Must not know: what any check is about. Names and errors of platforms are in the words: text.
 */

import { api, Problem } from "./api.js";
import { announce, el, fill, icon, reconcile } from "./dom.js";
import { visible } from "./escapes.js";
import { refusal } from "./words.js";

const AGAIN = 5000;
/** @typedef {{what: string, ok: boolean, words: string}} Check */

export class HealthElement extends HTMLElement {
  constructor() {
    super();
    this.open = false;
    this.looks = 0;
    this.said = "";
    this.sum = el("p", { class: "health-sum" });
    this.trouble = group("health-trouble", "Look here");
    this.fine = group("health-fine", "In order");
    this.foot = el("p", { class: "hint", hidden: true });
  }

  connectedCallback() {
    if (this.childElementCount) return;
    this.append(el("div", { class: "scroller" }, el("div", { class: "column" }, this.sum, this.trouble, this.fine, this.foot)));
    document.addEventListener("visibilitychange", () => { if (this.open && !document.hidden) void this.look(); });
  }

  show() {
    if (this.open) return;
    this.open = true;
    this.said = "";
    fill(this.sum, "Looking…");
    void this.look();
  }

  leave() {
    this.open = false;
    this.looks += 1;
  }

  /** Look, and again after a while; of several looks under way the newest counts. */
  async look() {
    const mine = ++this.looks;
    const found = await api.health().catch((/** @type {unknown} */ error) => { if (error instanceof Problem) return error; throw error; });
    if (mine !== this.looks) return;
    if (found instanceof Problem) this.draw([{ what: "server", ok: false, words: unread(found) }], "");
    else this.draw(found.checks, `Sayso ${found.version}. What each line means, and what to do: docs/operations.md, “Health”.`);
    setTimeout(() => { if (mine === this.looks && !document.hidden) void this.look(); }, AGAIN);
  }

  /** @param {Check[]} checks @param {string} foot */
  draw(checks, foot) {
    const named = keyed(checks);
    const bad = named.filter((check) => !check.ok);
    lines(this.trouble, bad);
    lines(this.fine, named.filter((check) => check.ok));
    const words = bad.length ? `${bad.length} of ${checks.length} checks ${bad.length === 1 ? "needs" : "need"} a look` : "Everything is in order";
    if (this.said !== words) {
      fill(this.sum, icon(bad.length ? "alert" : "check"), words);
      this.sum.classList.toggle("is-bad", bad.length > 0);
      announce(words);
    }
    this.said = words;
    fill(this.foot, foot ? visible(foot) : null);
    this.foot.hidden = !foot;
  }
}

/** @param {Problem} problem */
function unread(problem) {
  if (problem.code === "offline" || problem.code === "timeout") return "The server does not answer; it is asked again. See that `sayso web` or `sayso up` runs.";
  return `Health could not be read: ${refusal(problem)}`;
}

/** @param {string} id @param {string} title */
function group(id, title) {
  return el("section", { "aria-labelledby": id, hidden: true }, el("h2", { id }, title), el("ul", { class: "health-lines" }));
}

/** One name may stand on several lines. @param {Check[]} checks */
function keyed(checks) {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return checks.map((check) => {
    const before = seen.get(check.what) ?? 0;
    seen.set(check.what, before + 1);
    return { ...check, key: `${check.what} ${before}` };
  });
}

/** @param {HTMLElement} place @param {(Check & {key: string})[]} checks */
function lines(place, checks) {
  place.hidden = !checks.length;
  reconcile(/** @type {Element} */ (place.querySelector("ul")), checks, (check) => check.key, (check, old) => {
    if (old?.dataset.words === check.words) return old;
    const node = old ?? el("li", { class: check.ok ? "health-line" : "health-line is-bad" }, icon(check.ok ? "check" : "alert"),
      el("b", null, visible(check.what)), el("p"));
    fill(/** @type {Element} */ (node.querySelector("p")), sentence(check.words));
    node.dataset.words = check.words;
    return node;
  });
}

/** What stands between backticks is to be typed. @param {string} words */
function sentence(words) {
  const parts = words.split("`");
  if (parts.length % 2 === 0) return [visible(words)];
  return parts.map((part, at) => (at % 2 ? el("code", null, visible(part)) : visible(part)));
}

customElements.define("sayso-health", HealthElement);
