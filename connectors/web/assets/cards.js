// What the page and the dock have in common: questions that follow what happens, count
// down to the server's deadline and are answered without leaving the page.

const events = ["asked", "decided", "edited", "closed", "reply", "lost"];

// What is said here stands in the page, in its language.
const wordsOf = (root) => (root.querySelector("[data-words]") ?? document.querySelector("[data-words]")).dataset;
const clock = (seconds, words) => seconds <= 0 ? words.over : words.left.replace("{time}", `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`);

// cards keeps `root` (an element or a shadow root with #live in it) as the gateway has it.
export function cards({root, url, changed = () => {}, signedOut = () => location.assign("/signin")}) {
  const live = root.querySelector("#live"), say = root.querySelector("[data-news]"), saidHere = root.querySelector("[data-said]");
  const words = wordsOf(root);
  const marks = new WeakMap(); // each card as it came, less what differs every time
  const mark = (node) => node.outerHTML.replace(/name="nonce" value="[^"]*"/g, "");
  const open = () => [...live.querySelectorAll(".question.open")].map((q) => q.id).join();
  const inner = document.querySelector("main[data-live]") === root;
  for (const card of live.querySelectorAll("[data-key]")) marks.set(card, mark(card));

  let ahead = 0; // the server's clock less this one's
  const setClock = (from) => {
    const now = Date.parse(from.querySelector("[data-now]")?.dataset.now);
    if (now) ahead = now - Date.now();
  };
  const left = () => {
    for (const time of live.querySelectorAll("time[data-expires]")) {
      const seconds = Math.ceil((Date.parse(time.dateTime) - Date.now() - ahead) / 1000);
      time.textContent = clock(seconds, words);
      time.classList.toggle("soon", seconds <= 20);
    }
  };

  // swap makes one list what the server says. A card that is the same stays the same element, so
  // that folds, a reason half written and the focus stay too.
  const swap = (list, next) => {
    const keys = new Set([...next.children].map((card) => card.dataset.key));
    let moved = false;
    for (const gone of [...list.children]) if (!keys.has(gone.dataset.key)) gone.remove(), moved = true;
    const had = new Map([...list.children].map((card) => [card.dataset.key, card]));
    let at = list.firstElementChild;
    for (const fresh of [...next.children]) {
      const old = had.get(fresh.dataset.key), text = mark(fresh);
      let card = old;
      if (!old || marks.get(old) !== text) {
        card = fresh;
        marks.set(fresh, text);
        const missing = fresh.querySelector("[data-missing]")?.textContent;
        if (missing && missing !== old?.querySelector("[data-missing]")?.textContent) say.textContent = missing;
        if (old) {
          for (const [n, fold] of fresh.querySelectorAll("details").entries()) fold.open = Boolean(old.querySelectorAll("details")[n]?.open);
          if (at === old) at = old.nextElementSibling;
          old.replaceWith(fresh);
          moved = true;
        }
      }
      if (card === at) { at = at.nextElementSibling; continue; }
      if (card.nextElementSibling !== at || card.parentElement !== list) list.insertBefore(card, at), moved = true;
    }
    return moved;
  };

  const nearEnd = () => innerHeight + scrollY > document.body.scrollHeight - 160;
  const toEnd = () => { if (inner) scrollTo(0, document.body.scrollHeight); else live.scrollTop = [...live.querySelectorAll(".question.open")].at(-1)?.offsetTop ?? live.scrollHeight; };
  let busy = false, again = false;
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(url, {credentials: "same-origin"});
      if (answer.status === 401) { signedOut(); return; }
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html"); // scripts do not run in it
      const before = open(), focused = (root.activeElement ?? document.activeElement)?.id, follow = !inner || nearEnd();
      let moved = false;
      for (const next of page.querySelectorAll("[data-list]")) {
        moved = swap(live.querySelector(`[data-list="${next.dataset.list}"]`), next) || moved;
      }
      setClock(page);
      left();
      if (!moved) return;
      if (focused) live.querySelector(`#${CSS.escape(focused)}`)?.focus();
      if (follow) toEnd();
      if (open() !== before) hold();
      changed();
    } catch { /* the next event or tick tries again */ } finally {
      busy = false;
      if (again) { again = false; refresh(); }
    }
  };
  // Questions that moved must not catch a click that was meant for another one.
  const hold = () => {
    const buttons = live.querySelectorAll(".question button");
    for (const button of buttons) button.disabled = true;
    setTimeout(() => { for (const button of buttons) button.disabled = false; }, 700);
  };

  const tell = (said) => {
    const line = document.createElement("p");
    line.className = `flash ${said.kind}`;
    line.setAttribute("role", said.kind === "bad" ? "alert" : "status");
    line.textContent = said.text;
    saidHere.replaceChildren(...(said.text ? [line] : []));
  };
  const send = async (form, by) => {
    const body = form.enctype === "multipart/form-data" ? new FormData(form, by) : new URLSearchParams(new FormData(form, by));
    const buttons = [...form.querySelectorAll("button")];
    for (const button of buttons) button.disabled = true;
    try {
      // form.action is a button here.
      const answer = await fetch(form.getAttribute("action"), {method: "POST", body, credentials: "same-origin", headers: {Accept: "application/json"}});
      if (answer.status === 401) { signedOut(); return; }
      const spoken = answer.headers.get("Content-Language");
      if (inner && spoken && spoken !== document.documentElement.lang) { location.reload(); return; } // as was just asked for
      const said = answer.headers.get("Content-Type")?.startsWith("application/json") ? await answer.json()
        : {kind: "bad", text: words.old};
      tell(said);
      // What was taken must not be sent twice; what comes next is another answer.
      form.elements.nonce.value = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
      if (form.dataset.send === "message" && said.kind !== "bad") form.reset();
    } catch { // sent again it counts once: the nonce is the same
      tell({kind: "bad", text: words.silent});
    } finally {
      for (const button of buttons) button.disabled = false;
      refresh();
    }
  };
  root.addEventListener("submit", (event) => {
    if (!event.target.matches("form[data-send]")) return;
    event.preventDefault();
    if (!event.submitter?.disabled) send(event.target, event.submitter);
  });
  const text = root.querySelector("#text"), files = root.querySelector("#files");
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); text.form.requestSubmit(); }
  });
  root.addEventListener("dragover", (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); });
  root.addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    files.files = event.dataTransfer.files;
  });

  setClock(live);
  left();
  toEnd();
  setInterval(left, 1000);
  const source = new EventSource("/events");
  for (const kind of events) source.addEventListener(kind, () => { if (words[kind]) say.textContent = words[kind]; refresh(); });
  source.addEventListener("open", refresh);
  // What another process does is not always told: look now and then, while somebody looks at the page.
  setInterval(() => { if (!document.hidden) refresh(); }, 5000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  return {refresh};
}

// countdowns alone, for pages that show one question and do not follow.
export function countdowns() {
  const words = wordsOf(document);
  for (const time of document.querySelectorAll("main:not([data-live]) time[data-expires]")) {
    const tick = () => {
      const seconds = Math.ceil((Date.parse(time.dateTime) - Date.now()) / 1000);
      time.textContent = clock(seconds, words);
    };
    tick();
    setInterval(tick, 1000);
  }
}
