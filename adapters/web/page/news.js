/**
 * Lines above the box for questions that came while something else was shown; each goes when its question does.
 * Must not know: where questions come from, or how they are answered.
 */

import { el, icon, reconcile } from "./dom.js";
import { visible } from "./escapes.js";

const MOST = 2;

/**
 * @param {HTMLElement} place
 * @param {import("./store.js").Store} store
 */
export function showNews(place, store) {
  const { news } = store.waits;
  const cards = [...news.values()];
  const shown = cards.length > MOST ? cards.slice(-(MOST - 1)) : cards;
  const lines = cards.length > shown.length ? [{ request: "more", count: cards.length - shown.length }, ...shown] : shown;
  reconcile(place, lines, (line) => line.request, (line, old) => {
    const from = store.list.find((one) => one.id === line.conversation)?.title ?? "";
    const signature = `${line.count} ${from}`;
    if (old?.dataset.signature === signature) return old;
    const words = line.count ? `${line.count} more questions wait for you.` : [el("b", null, visible(line.title || "A question")), el("span", { class: "news-from" }, line.foreign ? " asked of you" : from ? [" in ", visible(from)] : null)];
    const away = () => { news.delete(line.request); store.waits.changed(); };
    return el("div", { class: "notice news", dataset: { signature } }, icon("bell"), el("span", null, words),
      el("a", { class: "button small", href: line.count || line.foreign ? "#pending" : `#${line.conversation}` }, "Open"),
      line.count ? null : el("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", onclick: away }, icon("close")));
  });
  place.hidden = !lines.length;
}
