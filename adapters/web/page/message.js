/**
 * Single lines of the timeline: what people and agents said, tools, notes, what is on its way.
 * Must not know: their order, where they come from.
 */

import { copyButton, el, fill, icon, serverHtml } from "./dom.js";
import { shownArguments, visible } from "./escapes.js";
import { streamed } from "./streamed.js";
import { moment, size, span } from "./words.js";

/**
 * @param {import("./thread.js").Said} item
 * @param {HTMLElement | null} old
 */
export function saidLine(item, old) {
  const node = el("article", { class: `said said-${item.role}${item.failed ? " is-failed" : ""}${item.steer ? " is-steer" : ""}` });
  const time = el("time", { datetime: new Date(item.at).toISOString() }, moment(item.at));
  node.append(el("span", { class: "unseen" }, item.role === "person" ? `${item.by?.name ?? "You"}: ` : "Agent: "));
  if (item.role === "agent") {
    const body = el("div", { class: "prose" });
    if (item.html !== undefined) serverHtml(body, item.html);
    else fill(body, streamed(item.text));
    const foot = el("div", { class: "said-foot" }, item.failed ? el("span", { class: "bad" }, "The task failed.") : item.interrupted ? el("span", { class: "cut" }, "interrupted") : null, copyButton(() => item.text, "Copy this message"), time);
    node.append(body, ...files(item.attachments), foot);
  } else {
    const label = item.steer ? el("span", { class: "steer-label" }, item.taken ? "steered the task" : "steers the task, not taken in yet") : null;
    node.append(el("div", { class: "bubble" }, visible(item.text)), ...files(item.attachments), el("div", { class: "said-foot" }, time, label));
  }
  if (old?.classList.contains("streaming")) node.classList.add("no-entrance");
  return node;
}

/**
 * Text that is still coming.
 * @param {import("./thread.js").Streaming} item
 * @param {HTMLElement | null} old
 */
export function streamingLine(item, old) {
  const node = old?.classList.contains("streaming") ? old : el("article", { class: "said said-agent streaming", "aria-busy": "true" }, el("div", { class: "prose" }));
  const prose = /** @type {Element} */ (node.querySelector(".prose"));
  const blocks = streamed(item.text);
  let same = 0;
  while (same < blocks.length && prose.children[same]?.isEqualNode(blocks[same])) same += 1;
  while (prose.children.length > same) prose.lastElementChild?.remove();
  prose.append(...blocks.slice(same));
  return node;
}

/** @type {Record<string, [string, string]>} Words and tone of each way a tool ends. */
const OUTCOMES = {
  done: ["done", "good"], denied: ["denied", "bad"], failed: ["failed", "bad"], interrupted: ["interrupted", "dull"],
};

/**
 * @param {import("./thread.js").Tool} item
 * @param {HTMLElement | null} old
 */
export function toolLine(item, old) {
  const [words, tone] = item.outcome ? OUTCOMES[item.outcome] ?? [item.outcome, "dull"] : ["running", "busy"];
  const mark = item.outcome ? icon(item.outcome === "done" ? "check" : item.outcome === "interrupted" ? "stop" : "cross") : el("span", { class: "spinner" });
  const took = item.ended && item.ended - item.at >= 1000 ? ` · ${span(item.ended - item.at)}` : "";
  const open = old?.querySelector("details")?.open ?? false;
  return el("div", { class: `tool ${tone}` },
    el("details", { open },
      el("summary", null, el("span", { class: "tool-mark" }, mark), el("code", null, visible(item.tool, { strict: true })),
        el("span", { class: "tool-state" }, words + took), item.summary ? el("span", { class: "tool-summary" }, inline(item.summary)) : null),
      el("div", { class: "tool-more" }, shownArguments(item.arguments), toolResult(item))));
}

/** What a tool says in one line; what it put between backticks is code. @param {string} text */
function inline(text) {
  return text.split(/`([^`]+)`/).map((part, at) => (at % 2 ? el("code", null, visible(part)) : visible(part)));
}

/** @param {import("./thread.js").Tool} item */
function toolResult(item) {
  const result = item.result ?? item.summary;
  if (result === undefined || result === null) return null;
  return el("div", { class: "tool-result" }, el("span", { class: "hint" }, item.outcome === "done" ? "Result" : "What happened"), shownArguments(result));
}

/** @param {import("./thread.js").Note} item */
export function noteLine(item) {
  const canceled = /^\[Canceled\]/.test(item.text);
  const words = canceled ? `Canceled${item.text.slice("[Canceled]".length)}.` : item.text.replace(/^\[(\w+)\] /, "$1: ");
  const effects = item.tone === "done" ? " Something it did remains done." : item.tone === "unknown" ? " It is not known whether its last step happened." : "";
  return el("div", { class: "note" }, el("span", null, visible(words + effects)));
}

/**
 * Something said here that is not confirmed yet.
 * @param {import("./outbox.js").Waiting} item
 * @param {{retry: (key: string) => void, edit: (key: string) => void}} doors
 */
export function waitingLine(item, doors) {
  const failed = item.state === "failed";
  const foot = failed
    ? el("div", { class: "said-foot unsent", role: "alert" }, el("span", { class: "bad" }, `Not sent: ${item.words}.`),
      el("span", { class: "unsent-buttons" },
        el("button", { type: "button", class: "button small", onclick: () => doors.retry(item.key) }, icon("retry"), "Retry"),
        el("button", { type: "button", class: "button small", onclick: () => doors.edit(item.key) }, "Edit")))
    : el("div", { class: "said-foot" }, item.state === "sent" ? "sent" : "sending…");
  return el("article", { class: `said said-person is-waiting${failed ? " is-unsent" : ""}` }, el("div", { class: "bubble" }, visible(item.text)), ...files(item.attachments), foot);
}

/**
 * Attached files as links.
 * @param {any[] | undefined | null} attachments
 */
export function files(attachments) {
  if (!attachments?.length) return [];
  return [el("ul", { class: "files", "aria-label": "Files" }, attachments.map((file) => {
    const id = typeof file === "string" ? file : file.id;
    const name = typeof file === "string" ? "file" : file.name;
    return el("li", null, el("a", { class: "file", href: `/v1/files/${encodeURIComponent(id)}`, download: name },
      icon("file"), el("span", { class: "file-name" }, visible(name)), file.size !== undefined ? el("span", { class: "file-size" }, size(file.size)) : null));
  }))];
}
