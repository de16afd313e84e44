/**
 * The list of conversations as a drawer on narrow screens: opened by a button, closed by Escape, the shade or a choice.
 * Must not know: what the list shows.
 */

export class Drawer {
  /**
   * @param {HTMLElement} side
   * @param {HTMLElement} button
   * @param {HTMLElement} shade
   */
  constructor(side, button, shade) {
    this.side = side;
    this.button = button;
    this.shade = shade;
    this.narrow = matchMedia("(max-width: 760px)");
    button.addEventListener("click", () => (this.isOpen ? this.close() : this.open()));
    shade.addEventListener("click", () => this.close());
    side.addEventListener("close", () => this.close());
    side.addEventListener("click", (event) => { if (/** @type {Element} */ (event.target).closest("a")) this.close(); });
    addEventListener("keydown", (event) => { if (event.key === "Escape" && this.isOpen) this.close(); });
    this.narrow.addEventListener("change", () => this.close());
    this.close();
  }

  get isOpen() {
    return this.side.classList.contains("is-open");
  }

  open() {
    this.set(true);
    /** @type {HTMLElement | null} */ (this.side.querySelector("a, button"))?.focus();
  }

  close() {
    const had = this.side.contains(document.activeElement) && this.narrow.matches;
    this.set(false);
    if (had) this.button.focus();
  }

  /** @param {boolean} open */
  set(open) {
    this.side.classList.toggle("is-open", open);
    this.side.toggleAttribute("inert", this.narrow.matches && !open);
    document.getElementById("main")?.toggleAttribute("inert", this.narrow.matches && open);
    this.shade.hidden = !open;
    this.button.setAttribute("aria-expanded", String(open));
  }
}
