/**
 * What a newcomer sees before the first message: one sentence, and things to try with the demo agent.
 * Must not know: what the demo does with a word.
 */

import { el } from "./dom.js";
import { visible } from "./escapes.js";

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
  ["upload", "Hand over a file"],
  ["fail", "See an error, then retry"],
  ["steer", "Correct it while it works"],
];

/**
 * @param {{agent: string, agents: string[], say: (text: string) => void, choose: (agent: string) => void}} it
 *   agent: the one that a first message goes to
 */
export function welcome({ agent, agents, say, choose }) {
  const chips = agent === "demo" ? el("ul", { class: "try" }, TRY.map(([word, more]) =>
    el("li", null, el("button", { type: "button", onclick: () => say(word) }, el("strong", null, word), el("span", null, more))))) : null;
  return el("div", { class: "welcome" },
    el("h2", null, "Your agents act on your say-so."),
    el("p", null, chips
      ? "Talk to an agent here. When it needs you, it asks, waits as long as it takes, and goes on exactly once. Try one with the demo agent:"
      : "Talk to an agent here. When it needs you, it asks, waits as long as it takes, and goes on exactly once."),
    agents.length > 1 ? agentChoice(agent, agents, choose) : null,
    chips);
}

/** Which agent the conversation is with. @param {string} agent @param {string[]} agents @param {(agent: string) => void} choose */
function agentChoice(agent, agents, choose) {
  return el("fieldset", { class: "agents" }, el("legend", null, "Talk to"), agents.map((name) => el("label", null,
    el("input", { type: "radio", name: "agent", value: name, ...(name === agent ? { checked: true } : {}), onchange: () => choose(name) }), el("span", null, visible(name)))));
}
