/**
 * <sayso-sidebar>: the person's conversations, what waits for an answer, and who is signed in.
 * Must not know: what a conversation holds.
 */

import { api } from "./api.js";
import { el, fill, icon, reconcile } from "./dom.js";
import { visible } from "./escapes.js";
import { showPeople } from "./people.js";
import { themeButton } from "./theme.js";
import { ago, LIST_STATES, moment } from "./words.js";

export class SidebarElement extends HTMLElement {
  constructor() {
    super();
    /** @type {any} */
    this.shownMe = null;
    this.list = el("ul", { class: "conversations" });
    this.pendingLink = el("a", { class: "side-link", href: "#pending" }, icon("bell"), el("span", null, "Waiting for you"), el("span", { class: "badge", hidden: true }));
    this.newLink = el("a", { class: "side-link new", href: "#new" }, icon("plus"), el("span", null, "New conversation"));
    this.healthLink = el("a", { class: "side-link", href: "#health" }, icon("pulse"), el("span", null, "Health"));
    this.who = el("div", { class: "who" });
  }

  connectedCallback() {
    if (this.childElementCount) return;
    this.append(
      el("div", { class: "side-top" }, el("a", { class: "brand", href: "#new", "aria-label": "Sayso, new conversation" }, mark(), el("span", null, "Sayso")),
        el("button", { type: "button", class: "icon-button side-close", "aria-label": "Close the list", onclick: () => this.dispatchEvent(new Event("close")) }, icon("close"))),
      this.newLink, this.pendingLink,
      el("h2", { class: "side-title", id: "conversations-title" }, "Conversations"),
      el("div", { class: "side-scroll", role: "group", "aria-labelledby": "conversations-title" }, this.list),
      this.who);
    setInterval(() => { for (const time of this.list.querySelectorAll("time")) fill(time, ago(Number(time.dataset.at))); }, 30_000);
  }

  /**
   * @param {import("./store.js").Store} store
   * @param {import("./acts.js").Acts} acts
   */
  show(store, acts) {
    reconcile(this.list, store.list, (item) => item.id, (item, old) => {
      const current = store.place === "chat" && store.current === item.id;
      const signature = JSON.stringify([item.title, item.state, item.open, item.changed, current]);
      if (old?.dataset.signature === signature || old?.querySelector(".sure-row")) return old;
      const node = row(item, current, acts);
      if (old?.contains(document.activeElement)) queueMicrotask(() => node.querySelector("a")?.focus());
      node.dataset.signature = signature;
      return node;
    });
    const badge = /** @type {HTMLElement} */ (this.pendingLink.querySelector(".badge"));
    badge.hidden = !store.waiting;
    fill(badge, store.waiting);
    current(this.pendingLink, store.place === "pending");
    current(this.healthLink, store.place === "health");
    current(this.newLink, store.place === "chat" && !store.current);
    if (store.me && this.shownMe !== store.me) this.showWho(store.me);
  }

  /** @param {any} me */
  showWho(me) {
    this.shownMe = me;
    const name = me.person.name || me.person.id;
    const out = el("button", { type: "button", class: "icon-button", "aria-label": "Sign out", title: "Sign out", "aria-expanded": "false" }, icon("out"));
    const words = me.person.role === "owner" ? "People and secrets" : "Your stored secrets";
    const people = el("button", { type: "button", class: "icon-button", "aria-label": words, title: words, onclick: () => showPeople(me) }, icon("people"));
    const panel = el("div", { class: "out-panel", hidden: true },
      el("span", { class: "hint" }, "Sign out"),
      el("button", { type: "button", class: "button small", "aria-label": "Sign out here", onclick: () => leave(false) }, "Here"),
      el("button", { type: "button", class: "button small", "aria-label": "Sign out everywhere", onclick: () => leave(true) }, "Everywhere"));
    out.addEventListener("click", () => { panel.hidden = !panel.hidden; out.setAttribute("aria-expanded", String(!panel.hidden)); });
    fill(this.who, me.person.role === "owner" ? this.healthLink : null, panel, el("div", { class: "who-row" }, el("span", { class: "avatar", "aria-hidden": "true" }, [...name][0]?.toUpperCase() ?? "?"),
      el("span", { class: "who-name", title: `Sayso ${me.version ?? ""}` }, visible(name)), people, themeButton(), out));
  }
}

/** @param {HTMLElement} link @param {boolean} is */
function current(link, is) {
  if (is) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
}

/** @param {boolean} everywhere */
async function leave(everywhere) {
  await api.logout(everywhere).catch(() => null);
  location.assign("/login#out");
}

/** @param {any} item @param {boolean} current @param {import("./acts.js").Acts} acts */
function row(item, current, acts) {
  const words = LIST_STATES[item.state] ?? "";
  const state = item.open ? "waiting" : item.state;
  const link = el("a", { class: "conversation", href: `#${item.id}`, "aria-current": current ? "page" : null },
    el("span", { class: `dot ${state}`, title: words, "aria-hidden": "true" }),
    el("span", { class: "conversation-title" }, visible(item.title || "New conversation")),
    words ? el("span", { class: "unseen" }, `(${words})`) : null,
    item.open ? el("span", { class: "badge", title: `${item.open} open` }, item.open) : el("time", { dataset: { at: String(item.changed) }, title: moment(item.changed) }, ago(item.changed)));
  const remove = el("button", { type: "button", class: "icon-button remove", "aria-label": `Delete “${item.title || "New conversation"}”`, title: "Delete" }, icon("trash"));
  const node = el("li", { class: current ? "is-current" : "" }, link, remove);
  remove.addEventListener("click", () => {
    const no = el("button", { type: "button", class: "button small", onclick: () => { fill(node, link, remove); node.dataset.signature = ""; remove.focus(); } }, "Keep");
    fill(node, el("div", { class: "sure-row", role: "group", "aria-label": "Delete this conversation?" }, el("span", null, "Delete for good?"),
      el("button", { type: "button", class: "button small danger", onclick: () => acts.remove(item.id) }, "Delete"), no));
    no.focus();
  });
  return node;
}

/** The sign of Sayso: a speech bubble with a tick. */
export function mark() {
  const picture = el("img", { src: "/page/icon.svg", alt: "", width: "24", height: "24" });
  return picture;
}

customElements.define("sayso-sidebar", SidebarElement);
