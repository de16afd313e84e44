/**
 * The input for files of a question: chosen or dropped, uploaded at once, named with their size, removed again.
 * Must not know: how an answer is sent. What a file may be is the server's rule; the size is checked before it travels.
 */

import { api, Problem } from "./api.js";
import { announce, el, fill, icon } from "./dom.js";
import { visible } from "./escapes.js";
import { refusal, size } from "./words.js";

/**
 * @typedef {{name: string, size: number, state: "loading" | "ready" | "failed", words?: string, file?: File, id?: string}} Chosen
 */

/** What may be given, in words. @param {any} field */
export function fileHint(field) {
  const kinds = field.types?.length ? field.types.join(" or ") : "";
  const many = (field.max_files ?? 1) > 1 ? `Up to ${field.max_files} files` : "One file";
  return `${[many, kinds].filter(Boolean).join(", ")}${field.max_bytes ? `, at most ${size(field.max_bytes)}${(field.max_files ?? 1) > 1 ? " each" : ""}` : ""}.`;
}

/**
 * @param {any} field
 * @param {import("./fields.js").Use} use
 * @param {string} id  of what is focused
 * @param {HTMLElement} holder  where it is drawn
 * @param {{node: HTMLElement, wrong: (rule: string | null) => void}} frame
 * @returns {import("./fields.js").Field}
 */
export function fileField(field, use, id, holder, { node, wrong }) {
  const most = field.max_files ?? 1;
  /** @type {Chosen[]} */
  let chosen = [];
  let touched = false;
  const picker = el("input", { type: "file", class: "unseen", tabindex: "-1", "aria-hidden": "true", multiple: most > 1, accept: field.types?.join(",") || null });
  const button = el("button", { type: "button", id, class: "button", onclick: () => picker.click() }, icon("attach"), most > 1 ? "Choose files" : "Choose a file");
  const chips = el("ul", { class: "attached", "aria-label": "Chosen files", hidden: true });
  fill(holder, el("div", { class: "file-choose" }, button, el("span", { class: "hint" }, "or drop it here")), chips, picker);

  const draw = () => {
    chips.hidden = !chosen.length;
    fill(chips, chosen.map((one) => el("li", { class: `chip ${one.state}` },
      one.state === "loading" ? el("span", { class: "spinner" }) : icon("file"),
      el("span", { class: "file-name" }, visible(one.name)), el("span", { class: "file-size" }, one.words ?? size(one.size)),
      one.state === "failed" && one.file ? el("button", { type: "button", class: "link", onclick: () => upload(one) }, "Retry") : null,
      el("button", { type: "button", class: "icon-button", "aria-label": `Remove ${one.name}`, onclick: () => remove(one) }, icon("close")))));
  };

  /** @param {Chosen} one */
  const remove = (one) => {
    chosen = chosen.filter((other) => other !== one);
    touched = true;
    wrong(null);
    draw();
    button.focus();
    use.changed();
  };

  /** @param {Chosen} one */
  const upload = async (one) => {
    if (field.max_bytes && one.size > field.max_bytes) {
      Object.assign(one, { state: "failed", words: `larger than ${size(field.max_bytes)}`, file: undefined });
      return draw();
    }
    Object.assign(one, { state: "loading", words: undefined });
    draw();
    try {
      const stored = await api.upload(/** @type {File} */ (one.file));
      Object.assign(one, { state: "ready", id: stored.id, name: stored.name });
      announce(`${one.name} is uploaded`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      Object.assign(one, { state: "failed", words: error.unheard ? "not uploaded" : refusal(error) });
    }
    draw();
    if (one.state === "ready" && chosen.includes(one)) use.changed();
  };

  /** @param {File[]} files */
  const take = (files) => {
    if (!files.length) return;
    touched = true;
    wrong(null);
    const added = files.map((file) => /** @type {Chosen} */ ({ name: file.name || "file", size: file.size, state: "loading", file }));
    if (most === 1) chosen = [added[0]];
    else chosen = [...chosen, ...added].slice(0, most);
    if (added.length > most) wrong(most === 1 ? "One file is taken; the first one counts." : `At most ${most} files are taken.`);
    for (const one of added) if (chosen.includes(one)) void upload(one);
  };
  picker.addEventListener("change", () => { take([...picker.files]); picker.value = ""; });
  node.addEventListener("dragover", (/** @type {DragEvent} */ event) => { if (event.dataTransfer?.types.includes("Files")) { event.preventDefault(); node.classList.add("is-over"); } });
  node.addEventListener("dragleave", () => node.classList.remove("is-over"));
  node.addEventListener("drop", (/** @type {DragEvent} */ event) => {
    node.classList.remove("is-over");
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    take([...event.dataTransfer.files]);
  });

  return {
    id: field.id, node, wrong,
    value: () => {
      const ready = chosen.filter((one) => one.state === "ready").map((one) => one.id);
      return ready.length || (touched && !use.alone) ? ready : undefined;
    },
    busy: () => (chosen.some((one) => one.state === "loading") ? "It is still on its way here: wait a moment." : null),
    focus: () => button.focus(),
    set: (value) => {
      const given = Array.isArray(value) ? value : [];
      if (chosen.some((one) => one.state !== "ready") || String(given.map((one) => one.id)) === String(chosen.map((one) => one.id))) return;
      chosen = given.map((one) => ({ name: one.name, size: one.size, state: "ready", id: one.id }));
      draw();
    },
  };
}
