// The page works without this file. With it, it follows what happens and has keys.
import {cards, countdowns} from "./cards.js";

const main = document.querySelector("main[data-live]");
if (main) cards({root: main, url: main.dataset.live});
countdowns();

// Single keys are off in fields, and can be switched off (WCAG 2.2, 2.1.4).
const dialog = document.getElementById("keys"), on = document.getElementById("keys-on");
const stored = (() => { try { return localStorage; } catch { return undefined; } })();
on.checked = stored?.getItem("countersign.keys") !== "off";
on.addEventListener("change", () => stored?.setItem("countersign.keys", on.checked ? "on" : "off"));
const help = document.querySelector("[data-keys]");
if (help) {
  help.hidden = false;
  help.addEventListener("click", () => dialog.showModal());
}

const questions = () => [...document.querySelectorAll("main .question.open")];
const current = () => document.activeElement?.closest?.(".question.open") ?? document.querySelector(".question.open.marked");
const go = (by) => {
  const all = questions(), at = all.indexOf(current());
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + by, 0), all.length - 1)];
  for (const q of all) q.classList.toggle("marked", q === next);
  next?.focus();
  next?.scrollIntoView({block: "nearest"});
};
const press = (...actions) => {
  for (const action of actions) current()?.querySelector(`.buttons button[value="${action}"]`)?.click();
};
const fold = () => {
  const folds = [...(current()?.querySelectorAll(".parameters details") ?? [])], some = folds.some((f) => !f.open);
  for (const f of folds) f.open = some;
};
const keys = {
  j: () => go(1), k: () => go(-1), a: () => press("yes", "done"), d: () => press("no", "cancel"), x: fold,
  "?": () => dialog.showModal(),
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing || dialog.open) return;
  const field = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key === "Escape") { field?.blur(); return; }
  if (field || event.target.shadowRoot || !help || (!on.checked && event.key !== "?")) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});
