/**
 * Light, dark, or as the system says; remembered in this browser.
 * Must not know: colours; they are in the stylesheet.
 */

import { el, fill, icon } from "./dom.js";

const PLACE = "sayso.theme";
/** @type {("auto" | "light" | "dark")[]} */
const ORDER = ["auto", "light", "dark"];
const WORDS = { auto: "as the system", light: "light", dark: "dark" };
const DRAWINGS = { auto: "auto", light: "sun", dark: "moon" };

function chosen() {
  try {
    return ORDER.find((one) => one === localStorage.getItem(PLACE)) ?? "auto";
  } catch {
    return "auto";
  }
}

/** Put the remembered choice on the page. */
export function applyTheme() {
  const theme = chosen();
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** A button that goes through the three. */
export function themeButton() {
  const button = el("button", { type: "button", class: "icon-button" });
  const show = () => {
    const theme = chosen();
    fill(button, icon(DRAWINGS[theme]));
    button.title = `Colours: ${WORDS[theme]}`;
    button.setAttribute("aria-label", `Colours: ${WORDS[theme]}. Change`);
  };
  button.addEventListener("click", () => {
    const next = ORDER[(ORDER.indexOf(chosen()) + 1) % ORDER.length];
    try {
      localStorage.setItem(PLACE, next);
    } catch {
      // It then holds until the next reload only.
    }
    applyTheme();
    show();
  });
  show();
  return button;
}

