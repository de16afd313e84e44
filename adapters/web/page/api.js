/**
 * Calls to the server: JSON in, JSON out, one time limit, refusals as `Problem`.
 * Must not know: what the page shows. Never reads the login cookie (it cannot), never repeats a call by itself.
 */

import { learnClock } from "./words.js";

const LIMIT = 12_000;

/** A call that changed nothing that we know of: refused (status, code), or not heard (`offline`, `timeout`). */
export class Problem extends Error {
  /** @param {{status?: number, code?: string, detail?: string, [more: string]: any}} body */
  constructor(body) {
    super(body.detail ?? body.code ?? "problem");
    this.status = body.status ?? 0;
    this.code = body.code ?? "";
    this.detail = body.detail ?? "";
    this.standing = body;
  }

  /** True when the server may never have heard of it: the same call with the same key is safe and wanted. */
  get unheard() {
    return this.status === 0 || this.status >= 500 || this.status === 408 || this.status === 429;
  }
}

/** A fresh key that names one act of the person; sent again with every retry of it. */
export function freshKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * @param {string} method
 * @param {string} path
 * @param {{body?: unknown, key?: string, limit?: number}} [more]
 * @returns {Promise<any>}
 */
export async function call(method, path, { body, key, limit = LIMIT } = {}) {
  const form = body instanceof FormData;
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body !== undefined && !form) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), limit);
  try {
    const response = await fetch(path, {
      method,
      headers,
      body: body === undefined ? undefined : form ? body : JSON.stringify(body),
      credentials: "same-origin",
      redirect: "error",
      cache: "no-store",
      signal: stop.signal,
    });
    learnClock(response.headers.get("Date"));
    const text = await response.text();
    const answer = text ? parsed(text) : {};
    if (response.ok) return answer;
    if (response.status === 401 && path !== "/v1/login") location.assign("/login");
    throw new Problem({ ...(answer && typeof answer === "object" ? answer : {}), status: response.status });
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem({ code: stop.signal.aborted ? "timeout" : "offline" });
  } finally {
    clearTimeout(timer);
  }
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const enc = encodeURIComponent;
const once = () => freshKey();

/** The routes by name. */
export const api = {
  me: () => call("GET", "/v1/me"),
  logout: (/** @type {boolean} */ everywhere) => call("POST", "/v1/logout", { body: everywhere ? { everywhere: true } : {} }),
  login: (/** @type {string} */ code) => call("POST", "/v1/login", { body: { code } }),
  conversations: () => call("GET", "/v1/conversations"),
  snapshot: (/** @type {string} */ id) => call("GET", `/v1/conversations/${enc(id)}`),
  older: (/** @type {string} */ id, /** @type {number} */ before) => call("GET", `/v1/conversations/${enc(id)}?before=${before}`),
  remove: (/** @type {string} */ id) => call("DELETE", `/v1/conversations/${enc(id)}`, { key: once() }),
  send: (/** @type {object} */ body, /** @type {string} */ key) => call("POST", "/v1/send", { body, key }),
  answer: (/** @type {string} */ id, /** @type {object} */ body, /** @type {string} */ key) => call("POST", `/v1/requests/${enc(id)}/answer`, { body, key }),
  extend: (/** @type {string} */ id, /** @type {number} */ seconds) => call("POST", `/v1/requests/${enc(id)}/extend`, { body: { seconds }, key: once() }),
  showAgain: (/** @type {string} */ id) => call("POST", `/v1/requests/${enc(id)}/show`, { body: {}, key: once() }),
  abort: (/** @type {string} */ id) => call("POST", `/v1/requests/${enc(id)}/abort`, { body: {}, key: once() }),
  request: (/** @type {string} */ id) => call("GET", `/v1/requests/${enc(id)}`),
  pending: () => call("GET", "/v1/pending"),
  unproved: () => call("GET", "/v1/unproved"),
  run: (/** @type {string} */ id, /** @type {"cancel"|"pause"|"resume"|"revert"|"accept-stopped"} */ verb, /** @type {object} */ body = {}) => call("POST", `/v1/runs/${enc(id)}/${verb}`, { body, key: once() }),
  grants: (/** @type {string} */ id) => call("GET", `/v1/conversations/${enc(id)}/grants`),
  withdraw: (/** @type {string} */ id, /** @type {string} */ digest) => call("DELETE", `/v1/conversations/${enc(id)}/grants/${enc(digest)}`, { key: once() }),
  lookSecret: (/** @type {string} */ id, /** @type {string | undefined} */ ticket) => call("POST", `/v1/requests/${enc(id)}/secret/look`, { body: ticket ? { ticket } : {} }),
  giveSecret: (/** @type {string} */ id, /** @type {object} */ body, /** @type {string} */ key) => call("POST", `/v1/requests/${enc(id)}/secret`, { body, key }),
  vault: () => call("GET", "/v1/vault"),
  dropSecret: (/** @type {string} */ id) => call("DELETE", `/v1/vault/${enc(id)}`),
  health: () => call("GET", "/v1/health"),
  frozen: () => call("GET", "/v1/freeze"),
  freeze: (/** @type {string} */ reason) => call("POST", "/v1/freeze", { body: { reason } }),
  thaw: () => call("POST", "/v1/thaw"),
  stopAll: () => call("POST", "/v1/stop-all", { limit: 60_000 }),
  people: () => call("GET", "/v1/people"),
  invite: (/** @type {string} */ name, /** @type {string} */ role) => call("POST", "/v1/invitations", { body: { name, role } }),
  uninvite: (/** @type {string} */ id) => call("DELETE", `/v1/invitations/${enc(id)}`),
  join: (/** @type {string} */ code) => call("POST", "/v1/invitations/accept", { body: { code } }),
  changePerson: (/** @type {string} */ id, /** @type {{name?: string, role?: string}} */ body) => call("PATCH", `/v1/people/${enc(id)}`, { body }),
  removePerson: (/** @type {string} */ id) => call("DELETE", `/v1/people/${enc(id)}`),
  signOut: (/** @type {string} */ id) => call("POST", `/v1/people/${enc(id)}/sign-out`),
  pair: (/** @type {string} */ code, /** @type {string} */ person) => call("POST", "/v1/pairings", { body: { code, person } }),
  unpair: (/** @type {string} */ identity) => call("DELETE", `/v1/identities/${enc(identity)}`),
  bind: (/** @type {string} */ place, /** @type {string[]} */ people) => call("PUT", "/v1/groups", { body: { place, people } }),
  upload: (/** @type {File} */ file) => {
    const form = new FormData();
    form.append("file", file, file.name);
    return call("POST", "/v1/files", { body: form, key: once(), limit: 120_000 });
  },
};
