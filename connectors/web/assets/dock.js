// The dock: the conversation on another page of the same origin, and a mark on the field of
// that page which the current step of a handoff is about. docs/dock.md says how to use it.
import {cards} from "/assets/cards.js";

const place = document.getElementById("countersign-dock") ?? document.body.appendChild(document.createElement("aside"));
place.classList.add("countersign-dock");
const own = !place.id;
if (own) {
  Object.assign(place.style, {position: "fixed", insetInlineEnd: "1rem", insetBlockEnd: "1rem", inlineSize: "min(24rem, calc(100vw - 2rem))", zIndex: 2147483000});
}

// The mark is ours, whatever the page's own styles are.
const sheet = new CSSStyleSheet();
sheet.replaceSync(`[data-guide-active] { outline: 3px solid light-dark(#9a5000, #ffb454) !important; outline-offset: 4px !important; }`);
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

const filled = (target) => target?.matches("input, textarea, select") && target.value.trim() !== "";
const point = (root) => {
  // A field that has been filled in is done with; it decides nothing, the server does.
  const steps = [...root.querySelectorAll(".handoff.open")].at(-1)?.querySelectorAll("[data-highlight]") ?? [];
  const found = [...steps].map((step) => ({step, target: document.querySelector(`[data-guide-target="${CSS.escape(step.dataset.highlight)}"]`)}));
  const now = found.find(({target}) => target && !filled(target)) ?? found.findLast(({target}) => target);
  for (const other of document.querySelectorAll("[data-guide-active]")) if (other !== now?.target) delete other.dataset.guideActive;
  for (const {step} of found) step.toggleAttribute("aria-current", false);
  if (!now) return;
  now.step.setAttribute("aria-current", "step");
  if (now.target.dataset.guideActive === undefined) {
    now.target.dataset.guideActive = "";
    now.target.scrollIntoView({block: "nearest"});
  }
};

const signIn = (where, words) => {
  const link = document.createElement("a");
  link.href = "/signin";
  link.textContent = words?.enter ?? "Countersign";
  where.replaceChildren(link);
};

const answer = await fetch("/dock", {credentials: "same-origin"});
const page = new DOMParser().parseFromString(await answer.text(), "text/html");
const told = page.querySelector("[data-words]"), words = told?.dataset; // in the language of who is there
if (own && told) Object.assign(place, {ariaLabel: words.conversation, lang: told.lang});
if (answer.ok) {
  const root = place.attachShadow({mode: "open"});
  const style = document.createElement("link");
  Object.assign(style, {rel: "stylesheet", href: "/assets/page.css"});
  root.append(style, ...page.body.children);
  const mark = () => point(root);
  cards({root, url: "/dock", changed: mark, signedOut: () => signIn(root, words)});
  document.addEventListener("input", mark);
  mark();
} else {
  signIn(place, words);
}
