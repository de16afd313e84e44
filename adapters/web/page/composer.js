/**
 * <sayso-composer>: where a person writes: text that grows, files by button, drop or paste, a draft that survives.
 * Must not know: whether a text starts, steers or answers something; it only says which to expect.
 */

import { api, Problem } from "./api.js";
import { announce, el, fill, icon } from "./dom.js";
import { draft, keepDraft } from "./drafts.js";
import { visible } from "./escapes.js";
import { refusal, size } from "./words.js";

/** @typedef {{key: number, name: string, size: number, state: "loading" | "ready" | "failed", words?: string, file: File, stored?: any}} Attached */

export class ComposerElement extends HTMLElement {
  constructor() {
    super();
    /** @type {string | null} */
    this.conversation = null;
    /** @type {Map<string, Attached[]>} files by conversation */
    this.attachedBy = new Map();
    this.count = 0;
    this.started = false;
    this.box = el("textarea", { id: "message", rows: "1", "aria-label": "Message", autocomplete: "off", enterkeyhint: "send", "aria-describedby": "message-hint" });
    this.sendButton = el("button", { type: "submit", class: "send", "aria-label": "Send", title: "Send (Enter)" }, icon("send"));
    this.picker = el("input", { type: "file", multiple: true, class: "unseen", tabindex: "-1", "aria-hidden": "true" });
    this.chips = el("ul", { class: "attached", "aria-label": "Attached files", hidden: true });
    this.hint = el("p", { class: "unseen", id: "message-hint" }, "Enter sends, Shift and Enter makes a new line.");
    this.caption = el("p", { class: "caption", hidden: true });
  }

  connectedCallback() {
    if (this.childElementCount) return;
    const attach = el("button", { type: "button", class: "icon-button attach", "aria-label": "Attach files", title: "Attach files", onclick: () => this.picker.click() }, icon("attach"));
    const form = el("form", { class: "composer-box", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); this.send(); } },
      this.caption, this.chips, el("div", { class: "composer-row" }, attach, this.box, this.sendButton), this.picker);
    this.append(form, this.hint);
    this.box.addEventListener("input", () => this.typed());
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.box.addEventListener("paste", (event) => {
      const files = [...(event.clipboardData?.files ?? [])];
      if (files.length) { event.preventDefault(); this.attach(files); }
    });
    this.picker.addEventListener("change", () => { this.attach([...this.picker.files]); this.picker.value = ""; });
    this.dropZone(document.getElementById("main") ?? this);
  }

  /** @param {HTMLElement} zone */
  dropZone(zone) {
    let depth = 0;
    const carries = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files");
    const over = (/** @type {number} */ by) => { depth = Math.max(0, depth + by); zone.classList.toggle("is-dropping", depth > 0); };
    zone.addEventListener("dragenter", (event) => { if (carries(event)) { event.preventDefault(); over(1); } });
    zone.addEventListener("dragover", (event) => { if (carries(event)) event.preventDefault(); });
    zone.addEventListener("dragleave", (event) => { if (carries(event)) over(-1); });
    zone.addEventListener("drop", (event) => {
      if (!carries(event)) return;
      const taken = event.defaultPrevented; // a question on a card took it
      event.preventDefault();
      over(-depth);
      if (!taken && !this.hidden) this.attach([...(event.dataTransfer?.files ?? [])]);
    });
  }

  /**
   * @param {string | null} conversation
   * @param {string} placeholder  what a text would do now
   * @param {string} caption  the same in a line that stays while one types; empty: nothing special
   */
  show(conversation, placeholder, caption) {
    this.box.placeholder = placeholder;
    if (this.caption.textContent !== caption) fill(this.caption, visible(caption));
    this.showCaption();
    if (this.started && conversation === this.conversation) return;
    this.started = true;
    this.conversation = conversation;
    this.box.value = draft(conversation);
    this.showFiles();
    this.grow();
  }

  get files() {
    const name = this.conversation ?? "new";
    if (!this.attachedBy.has(name)) this.attachedBy.set(name, []);
    return /** @type {Attached[]} */ (this.attachedBy.get(name));
  }

  typed() {
    keepDraft(this.conversation, this.box.value);
    this.grow();
  }

  grow() {
    this.box.style.height = "auto";
    this.box.style.height = `${Math.min(this.box.scrollHeight, Math.round(innerHeight * 0.4))}px`;
    this.sendButton.disabled = !this.ready;
    this.showCaption();
  }

  showCaption() {
    this.caption.hidden = !this.caption.textContent || !this.box.value;
  }

  get ready() {
    return Boolean(this.box.value.trim() || this.files.some((file) => file.state === "ready")) && !this.files.some((file) => file.state === "loading");
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.send();
  }

  send() {
    if (!this.ready) return;
    const attachments = this.files.filter((file) => file.state === "ready").map((file) => file.stored);
    const text = this.box.value;
    this.attachedBy.set(this.conversation ?? "new", []);
    this.put("");
    this.showFiles();
    this.dispatchEvent(new CustomEvent("said", { detail: { text, attachments } }));
  }

  /** Put a text into the box, as the draft. @param {string} text */
  put(text) {
    this.box.value = text;
    this.typed();
  }

  /** @param {File[]} files */
  attach(files) {
    const place = this.files;
    for (const file of files) {
      /** @type {Attached} */
      const one = { key: (this.count += 1), name: file.name || "file", size: file.size, state: "loading", file };
      place.push(one);
      this.upload(one);
    }
    this.box.focus();
  }

  /** @param {Attached} one */
  async upload(one) {
    Object.assign(one, { state: "loading", words: undefined });
    this.showFiles();
    try {
      one.stored = await api.upload(one.file);
      one.state = "ready";
      announce(`${one.name} is attached`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      Object.assign(one, { state: "failed", words: error.unheard ? "not uploaded" : refusal(error) });
    }
    this.showFiles();
  }

  showFiles() {
    const { files } = this;
    this.chips.hidden = !files.length;
    fill(this.chips, files.map((one) => el("li", { class: `chip ${one.state}` },
      one.state === "loading" ? el("span", { class: "spinner" }) : icon("file"),
      el("span", { class: "file-name" }, one.name), el("span", { class: "file-size" }, one.words ?? size(one.size)),
      one.state === "failed" ? el("button", { type: "button", class: "link", onclick: () => this.upload(one) }, "Retry") : null,
      el("button", { type: "button", class: "icon-button", "aria-label": `Remove ${one.name}`, onclick: () => { files.splice(files.indexOf(one), 1); this.showFiles(); } }, icon("close")))));
    this.sendButton.disabled = !this.ready;
  }

  takeFocus() {
    this.box.focus({ preventScroll: true });
  }
}

customElements.define("sayso-composer", ComposerElement);
