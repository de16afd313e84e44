/**
 * What a newcomer sees before the first message: one sentence, and things to try with the demo agent.
 * Must not know: what the demo does with a word.
 */

import { el } from "./dom.js";

/** The demo agent's words, and what each shows. */
const TRY = [
  ["confirm", "Approve one exact command"],
  ["choose", "Pick one of several"],
  ["multi", "Pick any number"],
  ["form", "Fill in a small form"],
  ["text", "Type an answer"],
  ["secret", "Hand over a secret"],
  ["long", "A long task to pause or cancel"],
  ["file", "Get a file"],
  ["fail", "See an error, then retry"],
  ["steer", "Correct it while it works"],
];

/**
 * @param {string} agent
 * @param {(text: string) => void} say
 */
export function welcome(agent, say) {
  const chips = agent === "demo" ? el("ul", { class: "try" }, TRY.map(([word, more]) =>
    el("li", null, el("button", { type: "button", onclick: () => say(word) }, el("strong", null, word), el("span", null, more))))) : null;
  return el("div", { class: "welcome" },
    el("h1", null, "Your agents act on your say-so."),
    el("p", null, chips
      ? "Talk to an agent here. When it needs you, it asks, waits as long as it takes, and goes on exactly once. Try one with the demo agent:"
      : "Talk to an agent here. When it needs you, it asks, waits as long as it takes, and goes on exactly once."),
    chips);
}
