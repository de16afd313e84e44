/**
 * <sayso-timeline>: the conversation from its first shown line to the newest, kept at its end while one reads there.
 * Must not know: how things are sent or stopped; it hands that to its doors.
 */

import { announce, el, fill, icon, reconcile } from "./dom.js";
import { noteLine, saidLine, streamingLine, toolLine, waitingLine } from "./message.js";
import { CardElement } from "./card.js";

const NEAR = 80;

/**
 * @typedef {import("./card.js").Doors & {retry: (key: string) => void, edit: (key: string) => void, older: () => void}} TimelineDoors
 */

export class TimelineElement extends HTMLElement {
  constructor() {
    super();
    /** @type {WeakMap<HTMLElement, any>} what each element shows */
    this.shown = new WeakMap();
    /** @type {string | null} */
    this.of = null;
    this.atEnd = true;
    this.known = new Set();
    /** @type {string | null} the newest card that was shown */
    this.lastCard = null;
    /** @type {TimelineDoors | null} */
    this.doors = null;
    /** @type {import("./thread.js").Thread | null} */
    this.thread = null;
    this.list = el("div", { class: "lines" });
    this.olderButton = el("button", { type: "button", class: "button small older", onclick: () => this.doors?.older() }, "Show earlier");
    this.jump = el("button", { type: "button", class: "jump", hidden: true, onclick: () => this.toEnd(true) }, icon("down"), el("span"));
    this.scroller = el("div", { class: "scroller", tabindex: "-1" }, el("div", { class: "column" }, el("h2", { class: "unseen" }, "Messages"), this.olderButton, this.list));
  }

  connectedCallback() {
    if (this.childElementCount) return;
    this.append(this.scroller, this.jump);
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.atEnd && this.toEnd(false)).observe(this.list);
    new ResizeObserver(() => this.atEnd && this.toEnd(false)).observe(this.scroller);
  }

  /**
   * @param {import("./thread.js").Thread | null} thread
   * @param {import("./outbox.js").Waiting[]} waiting
   * @param {TimelineDoors} doors
   */
  show(thread, waiting, doors) {
    this.doors = doors;
    this.thread = thread;
    const id = thread?.id ?? null;
    const fresh = this.of !== id;
    const height = this.scroller.scrollHeight - this.scroller.scrollTop;
    const first = this.list.firstElementChild;
    if (fresh) {
      this.of = id;
      this.atEnd = true;
      this.known.clear();
      this.list.classList.add("settling");
      requestAnimationFrame(() => requestAnimationFrame(() => this.list.classList.remove("settling")));
    }
    const lines = [...(thread?.items ?? []), ...waiting.map((item) => ({ kind: "waiting", key: `w:${item.key}`, item, state: item.state }))];
    reconcile(this.list, /** @type {any[]} */ (lines), (line) => line.key, (line, old) => this.draw(line, old));
    this.olderButton.hidden = !thread?.more;
    this.tellNew(thread, fresh || !thread?.loaded);
    const asks = this.newCard(thread, fresh);
    if (this.atEnd && asks) this.toCard(asks);
    else if (this.atEnd) this.toEnd(false);
    else if (first && first !== this.list.firstElementChild) this.scroller.scrollTop = this.scroller.scrollHeight - height;
    else this.showJump(thread);
  }

  /** @param {any} line @param {HTMLElement | null} old */
  draw(line, old) {
    const before = old && this.shown.get(old);
    const same = before && (before === line || (line.kind === "waiting" && before.item === line.item && before.state === line.state));
    if (old && same) return old;
    const node = this.made(line, old);
    this.shown.set(node, line);
    return node;
  }

  /** @param {any} line @param {HTMLElement | null} old @returns {HTMLElement} */
  made(line, old) {
    switch (line.kind) {
      case "said": return saidLine(line, old);
      case "streaming": return streamingLine(line, old);
      case "tool": return toolLine(line, old);
      case "note": return noteLine(line);
      case "waiting": return waitingLine(line.item, /** @type {any} */ (this.doors));
      default: {
        const card = old instanceof CardElement ? old : new CardElement();
        card.show(line.card, /** @type {any} */ (this.doors));
        return card;
      }
    }
  }

  /** Say new messages and cards to those who listen. @param {any} thread @param {boolean} silent */
  tellNew(thread, silent) {
    for (const item of thread?.items ?? []) {
      const name = item.kind === "card" ? `${item.key}:${item.card.state}` : `${item.key}:${item.kind}`;
      if (this.known.has(name)) continue;
      this.known.add(name);
      if (silent) continue;
      if (item.kind === "said" && item.role === "agent") announce(`Agent: ${item.text.slice(0, 600)}`);
      if (item.kind === "card" && item.card.state === "open") announce(`A question waits for you: ${item.card.title || item.card.subject?.tool || ""}`);
      if (item.kind === "note") announce(item.text);
    }
  }

  /** A card that was not there before and is too tall to be seen whole at the end. @param {any} thread @param {boolean} fresh */
  newCard(thread, fresh) {
    const key = thread?.open.at(-1)?.key;
    if (!key || (!fresh && key === this.lastCard)) return null;
    this.lastCard = key;
    const card = /** @type {HTMLElement | undefined} */ ([...this.list.children].find((one) => /** @type {HTMLElement} */ (one).dataset.key === key));
    return card && card.offsetHeight > this.scroller.clientHeight - 32 ? card : null;
  }

  /** Its beginning is read first. @param {HTMLElement} card */
  toCard(card) {
    this.atEnd = false;
    card.scrollIntoView({ block: "start", behavior: "instant" });
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    this.atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    if (this.atEnd) this.jump.hidden = true;
    else this.showJump(this.thread);
    if (scrollTop < 40 && !this.olderButton.hidden && !this.atEnd) this.doors?.older();
  }

  /** @param {import("./thread.js").Thread | null} thread */
  showJump(thread) {
    const view = this.scroller.getBoundingClientRect();
    const inView = [...this.list.querySelectorAll(".card-open")].some((card) => {
      const { top, bottom } = card.getBoundingClientRect();
      return top < view.bottom - 40 && bottom > view.top + 40;
    });
    const open = inView ? 0 : thread?.open.length ?? 0;
    this.jump.hidden = false;
    this.jump.classList.toggle("asks", open > 0);
    const words = open ? (open === 1 ? "A question waits" : `${open} questions wait`) : inView ? "More below" : "Newest";
    this.jump.classList.toggle("more", inView);
    this.jump.title = inView ? words : "";
    fill(/** @type {Element} */ (this.jump.lastElementChild), el("span", inView ? { class: "unseen" } : null, words));
  }

  /** @param {boolean} smooth */
  toEnd(smooth) {
    this.atEnd = true;
    this.jump.hidden = true;
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.scroller.scrollTo({ top: this.scroller.scrollHeight, behavior: smooth && !calm ? "smooth" : "instant" });
  }
}

customElements.define("sayso-timeline", TimelineElement);
