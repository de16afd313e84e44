/**
 * The dialog of people and secrets: who may come in with which role, chat accounts, groups, what the vault keeps.
 * Must not know: how somebody signs in. Names come from people: shown as text.
 */

import { api, Problem } from "./api.js";
import { copyButton, el, fill, icon } from "./dom.js";
import { visible } from "./escapes.js";
import { moment, refusal } from "./words.js";

const ROLES = [["owner", "Owner"], ["approver", "Approver"], ["member", "Member"]];

/** Open the dialog. @param {{person: {id: string, role: string}}} me */
export async function showPeople(me) {
  const owner = me.person.role === "owner";
  const body = el("div", { class: "dialog-body people" }, el("p", { class: "hint" }, "Loading…"));
  const says = el("p", { class: "way", role: "status" });
  const dialog = el("dialog", { class: "dialog", "aria-labelledby": "people-title" },
    el("header", null, el("h2", { id: "people-title" }, owner ? "People and secrets" : "Your stored secrets"),
      el("button", { type: "button", class: "icon-button", "aria-label": "Close", onclick: () => dialog.close() }, icon("close"))), says, body);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (/** @type {Event} */ event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();

  /** Do something, then show how things are. @param {() => Promise<any>} act @returns {Promise<any>} */
  const attempt = async (act) => {
    fill(says, null);
    try {
      const result = await act();
      await load();
      return result ?? {};
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      fill(says, el("span", { class: "bad" }, refusal(error)));
      says.scrollIntoView({ block: "nearest" });
      return null;
    }
  };
  const load = async () => {
    const [all, vault] = await Promise.all([owner ? api.people() : null, api.vault()]);
    fill(body, all ? [persons(all, attempt), invitations(all, attempt), accounts(all, attempt), groups(all, attempt)] : null, secrets(vault.secrets, attempt, owner));
  };
  try {
    await load();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    fill(body, el("p", { class: "bad" }, refusal(error)));
  }
}

/** @typedef {(act: () => Promise<any>) => Promise<any>} Attempt */

/** A button that asks once more before it acts. @param {string} words @param {string} sure @param {() => void} act */
function careful(words, sure, act) {
  const button = el("button", { type: "button", class: "button small", onclick: () => {
    if (button.classList.contains("danger")) return act();
    button.classList.add("danger");
    fill(button, sure);
    setTimeout(() => { button.classList.remove("danger"); fill(button, words); }, 5000);
  } }, words);
  return button;
}

/** @param {string} current @param {(role: string) => void} change @param {string} label */
function roles(current, change, label) {
  const select = el("select", { "aria-label": label, onchange: () => change(select.value) },
    ROLES.map(([role, words]) => el("option", { value: role, ...(role === current ? { selected: true } : {}) }, words)));
  return select;
}

/** @param {any} all @param {Attempt} attempt */
function persons(all, attempt) {
  return el("section", null, el("h3", null, "People"), el("p", { class: "hint" }, "Members have their own tasks; approvers also answer for others in groups; owners also look after people. Nobody sees the private conversations of others."), el("ul", { class: "rows" }, all.people.map((/** @type {any} */ one) => {
    const first = one.id === "web:owner";
    const name = el("input", { type: "text", value: one.name, maxlength: "60", "aria-label": `Name of ${one.name}`, onchange: () => attempt(() => api.changePerson(one.id, { name: name.value })) });
    return el("li", null, el("div", { class: "row-main" }, name,
      first ? el("span", { class: "hint" }, one.you ? "Owner, you" : "Owner") : roles(one.role, (role) => attempt(() => api.changePerson(one.id, { role })), `Role of ${one.name}`)),
      one.identities.length ? el("ul", { class: "chips" }, one.identities.map((/** @type {string} */ identity) => el("li", null, visible(identity),
        el("button", { type: "button", class: "icon-button", "aria-label": `Unlink ${identity}`, title: "Unlink", onclick: () => attempt(() => api.unpair(identity)) }, icon("cross"))))) : null,
      el("div", { class: "verdict" }, careful("Sign out", "Sign out everywhere?", () => attempt(() => api.signOut(one.id))),
        first ? null : careful("Remove", `Remove ${one.name}?`, () => attempt(() => api.removePerson(one.id)))));
  })));
}

/** @param {any} all @param {Attempt} attempt */
function invitations(all, attempt) {
  const name = el("input", { type: "text", maxlength: "60", required: true, placeholder: "Name", "aria-label": "Name of the new person", autocomplete: "off" });
  let role = "member";
  const invite = async () => {
    if (!name.value.trim()) return name.focus();
    const made = await attempt(() => api.invite(name.value, role));
    if (made?.link) document.querySelector(".people .invited")?.replaceChildren(
      el("p", { class: "hint" }, `Send this link to ${made.name}. It lets in whoever opens it first, once, until ${moment(made.until)}.`),
      el("div", { class: "secret-row" }, el("input", { type: "text", readonly: true, value: made.link, "aria-label": "Invite link", onfocus: (/** @type {any} */ event) => event.target.select() }), copyButton(() => made.link, "Copy the link")));
  };
  return el("section", null, el("h3", null, "Invite somebody"),
    el("form", { class: "row-main", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); void invite(); } }, name, roles(role, (picked) => { role = picked; }, "Role"), el("button", { type: "submit", class: "button small primary" }, "Make a link")),
    el("div", { class: "invited", "aria-live": "polite" }),
    el("ul", { class: "rows" }, all.invitations.map((/** @type {any} */ one) => el("li", { class: "row-main" }, el("span", null, visible(one.name), el("span", { class: "hint" }, ` ${one.role}, until ${moment(one.until)}`)),
      careful("Take back", "Take it back?", () => attempt(() => api.uninvite(one.id)))))));
}

/** @param {any} all @param {Attempt} attempt */
function accounts(all, attempt) {
  const code = el("input", { type: "text", class: "code", maxlength: "12", placeholder: "Code", "aria-label": "Code that the chat shows", autocomplete: "off", autocapitalize: "characters", spellcheck: "false" });
  const whose = el("select", { "aria-label": "Whose account it is" }, el("option", { value: "" }, "Whose is it?"), all.people.map((/** @type {any} */ one) => el("option", { value: one.id }, visible(one.name))));
  const pair = async () => {
    if (!code.value.trim()) return code.focus();
    if (!whose.value) return whose.focus();
    await attempt(() => api.pair(code.value, whose.value));
  };
  return el("section", null, el("h3", null, "Chat accounts"),
    el("p", { class: "hint" }, "Whoever writes to a bot of yours for the first time gets a code. Enter only a code that was shown to you by its person: the account then acts as the person you choose."),
    all.waiting.length ? el("p", null, "Waiting: ", all.waiting.map((/** @type {any} */ one) => `${visibleText(one.name)} (${one.identity})`).join(", ")) : null,
    el("form", { class: "row-main", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); void pair(); } }, code, whose, el("button", { type: "submit", class: "button small primary" }, "Link")));
}

/** @param {any} all @param {Attempt} attempt */
function groups(all, attempt) {
  if (!all.groups.length) return null;
  return el("section", null, el("h3", null, "Groups"), el("p", { class: "hint" }, "Only these people may talk to the agent in a group. Nobody chosen means nobody."),
    el("ul", { class: "rows" }, all.groups.map((/** @type {any} */ group) => el("li", null, el("div", { class: "row-main" }, el("b", null, visible(group.place)), group.people.length ? null : el("span", { class: "bad" }, "nobody may")),
      el("div", { class: "checks" }, all.people.map((/** @type {any} */ one) => {
        const box = el("input", { type: "checkbox", ...(group.people.includes(one.id) ? { checked: true } : {}), onchange: () => attempt(() => api.bind(group.place, box.checked ? [...group.people, one.id] : group.people.filter((/** @type {string} */ id) => id !== one.id))) });
        return el("label", null, box, visible(one.name));
      }))))));
}

/** @param {any[]} kept @param {Attempt} attempt @param {boolean} titled */
function secrets(kept, attempt, titled) {
  return el("section", null, titled ? el("h3", null, "Your stored secrets") : null,
    kept.length ? el("ul", { class: "rows" }, kept.map((one) => el("li", { class: "row-main" }, el("span", null, visible(one.name), el("span", { class: "hint" }, ` for ${one.agent}, ${one.used ? `last used ${moment(one.used)}` : `since ${moment(one.since)}`}`)),
      careful("Delete", "Delete it?", () => attempt(() => api.dropSecret(one.id)))))) : el("p", { class: "hint" }, "None. When an agent offers it, you can keep what you give."));
}

/** @param {string} text */
function visibleText(text) {
  return el("span", null, visible(text)).textContent ?? "";
}
