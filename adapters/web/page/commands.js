/**
 * What is shown after a text that was no message: an answer, a stop, a command.
 * Must not know: how commands are read; the server says what a text was.
 */

import { halt } from "./freeze.js";
import { showGrants } from "./grants.js";
import { HELP, stateWords } from "./words.js";

export class Commands {
  /**
   * @param {import("./store.js").Store} store
   * @param {import("./acts.js").Acts} acts
   * @param {(words: string) => void} notice
   */
  constructor(store, acts, notice) {
    this.store = store;
    this.acts = acts;
    this.notice = notice;
  }

  /** @param {any} result @param {import("./outbox.js").Waiting} item */
  did(result, item) {
    switch (result.kind) {
      case "opened":
        location.hash = result.conversation;
        break;
      case "stopped":
        this.notice(result.joined ? "It is stopping already." : `${stateWords({ state: result.state })}.`);
        break;
      case "told":
        this.told(result);
        break;
      default:
    }
  }

  /** Whom the next task here is for. @param {string} agent */
  chosen(agent) {
    const { thread } = this.store;
    if (thread) thread.conversation.agent = agent;
    else this.store.agent = agent;
    this.notice(thread ? `From its next task on, this conversation is with ${agent}.` : `The next conversation is with ${agent}.`);
  }

  /** @param {any} result */
  told({ command, argument }) {
    const { store } = this;
    switch (command) {
      case "pending":
        location.hash = "pending";
        break;
      case "grants":
        if (store.current) void showGrants(store.current, this.acts);
        break;
      case "status":
        this.notice(store.thread?.active.map((run) => stateWords(run)).join("\n") || "Nothing is running here.");
        break;
      case "stop":
      case "freeze":
      case "thaw":
        void halt(this.acts, command, argument ?? "").then((words) => words && this.notice(words));
        break;
      case "agent":
        if (argument) this.chosen(argument);
        else this.notice(`Agents here: ${store.me?.agents.join(", ")}. This conversation is with ${store.thread?.conversation.agent || store.agent}. Choose with /agent NAME.`);
        break;
      case "jobs":
        this.notice(["No background jobs.", ...(store.thread?.active ?? []).map((run) => `At work here: ${stateWords(run)}.`)].join("\n"));
        break;
      case "cancel":
      case "pause":
        this.notice("Nothing is running here. Paused tasks stand under “Waiting for you”.");
        break;
      case "resume":
        location.hash = "pending";
        break;
      case "help":
      case "start":
        this.notice(HELP);
        break;
      default:
        this.notice(`/${command} needs more: ${argument || HELP}`);
    }
  }
}
