/**
 * The page's one WebSocket: notices within 20 s that it is dead, mends itself, follows again from the last event seen.
 * Must not know: what events mean. Each event of a conversation is handed on once, in order of `seq`.
 */

const PING = 10_000;
const SILENCE = 10_000;
const LONGEST = 15_000;

/**
 * @typedef {{type: string, conversation?: string, seq?: number, [more: string]: any}} Told
 * @typedef {"connecting" | "live" | "reconnecting"} Link
 */

export class Socket extends EventTarget {
  /**
   * Fires `told` (detail: the event), `link` (detail: the state), `opened` with each connection (what happens from then
   * on is told), `mended` after a lost one is back, and `doubt` when it cannot be opened: the server is away, or this
   * browser is signed out.
   */
  constructor() {
    super();
    /** @type {WebSocket | null} */
    this.ws = null;
    /** @type {Link} */
    this.state = "connecting";
    /** @type {Map<string, number>} conversation → last seq handed on */
    this.following = new Map();
    this.tries = 0;
    this.pings = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.deadline = undefined;
    this.wasLost = false;
    addEventListener("online", () => this.reopen());
    addEventListener("offline", () => this.lost());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && this.look());
  }

  open() {
    clearTimeout(this.timer);
    const address = new URL("/v1/ws", location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const ws = new WebSocket(address);
    this.ws = ws;
    this.deadline = setTimeout(() => ws === this.ws && this.lost(), SILENCE);
    ws.addEventListener("open", () => ws === this.ws && this.opened());
    ws.addEventListener("message", (message) => ws === this.ws && this.heard(message.data));
    ws.addEventListener("close", (event) => ws === this.ws && this.closed(event.code));
  }

  /** Something was heard: whatever was asked before is as good as answered. */
  alive() {
    clearTimeout(this.deadline);
    this.deadline = undefined;
  }

  opened() {
    this.alive();
    this.tries = 0;
    this.set("live");
    for (const [conversation, after] of this.following) this.say({ follow: conversation, after });
    this.ping();
    this.dispatchEvent(new Event("opened"));
    if (this.wasLost) this.dispatchEvent(new Event("mended"));
    this.wasLost = false;
  }

  /** @param {unknown} data */
  heard(data) {
    if (typeof data !== "string") return;
    this.alive();
    for (const line of data.split("\n")) if (line) this.handOn(line);
  }

  /** @param {string} line */
  handOn(line) {
    /** @type {Told} */
    let told;
    try {
      told = JSON.parse(line);
    } catch {
      return;
    }
    if (told.type === "pong") return;
    const { conversation, seq } = told;
    if (conversation && typeof seq === "number" && told.type !== "followed") {
      const last = this.following.get(conversation);
      if (last === undefined || seq <= last) return;
      this.following.set(conversation, seq);
    }
    this.dispatchEvent(new CustomEvent("told", { detail: told }));
  }

  /** @param {number} code  4401: signed out. Before it was ever open, a refusal looks like a dead server: ask which. */
  closed(code) {
    if (code === 4401) return location.assign("/login");
    if (this.state !== "live" && this.tries % 3 === 0) this.dispatchEvent(new Event("doubt"));
    this.lost();
  }

  ping() {
    clearTimeout(this.timer);
    const ws = this.ws;
    if (!ws || ws.readyState !== WebSocket.OPEN) return;
    this.pings += 1;
    this.say({ ping: this.pings });
    this.deadline ??= setTimeout(() => ws === this.ws && this.lost(), SILENCE);
    this.timer = setTimeout(() => this.ping(), PING);
  }

  /** Look now whether the connection lives, after the page slept. */
  look() {
    if (this.state === "live") this.ping();
    else this.reopen();
  }

  reopen() {
    if (this.state === "live") this.ping();
    else {
      this.tries = 0;
      this.drop();
      this.open();
    }
  }

  drop() {
    clearTimeout(this.timer);
    this.alive();
    const old = this.ws;
    this.ws = null;
    old?.close();
  }

  lost() {
    this.drop();
    this.wasLost = true;
    this.set("reconnecting");
    const pause = Math.min(LONGEST, 500 * 2 ** this.tries) * (0.5 + Math.random());
    this.tries += 1;
    this.timer = setTimeout(() => this.open(), pause);
  }

  /** @param {Link} state */
  set(state) {
    if (this.state === state) return;
    this.state = state;
    this.dispatchEvent(new CustomEvent("link", { detail: state }));
  }

  /**
   * Follow a conversation's events after a place.
   * @param {string} conversation
   * @param {number} after
   */
  follow(conversation, after) {
    this.following.set(conversation, after);
    this.say({ follow: conversation, after });
  }

  /** @param {string} conversation */
  unfollow(conversation) {
    if (this.following.delete(conversation)) this.say({ unfollow: conversation });
  }

  /** @param {object} what */
  say(what) {
    if (this.ws?.readyState === WebSocket.OPEN) this.ws.send(JSON.stringify(what));
  }
}
