// The page works without this file. With it, it follows what happens, counts down, and
// sends a message on Enter.
"use strict";
(() => {
  const left = () => {
    for (const time of document.querySelectorAll("time[data-expires]")) {
      const seconds = Math.floor((Date.parse(time.dateTime) - Date.now()) / 1000);
      time.textContent = seconds < 0 ? "the time is over"
        : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")} left`;
    }
  };
  left();
  setInterval(left, 1000);

  const live = document.getElementById("live");
  if (!live) return;
  const nearEnd = () => innerHeight + scrollY > document.body.scrollHeight - 160;
  const toEnd = () => scrollTo(0, document.body.scrollHeight);
  const marks = (html) => html.replace(/name="nonce" value="[^"]*"/g, "");
  const open = () => [...live.querySelectorAll(".question.open")].map((q) => q.id).join();
  toEnd();

  let last = null, busy = false, again = false;
  const refresh = async () => {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch("/live", {credentials: "same-origin"});
      if (answer.status === 401) { location.assign("/signin"); return; }
      if (!answer.ok) return;
      const html = await answer.text(), mark = marks(html);
      if (mark === last) return;
      last = mark;
      const before = open(), focused = document.activeElement?.id, follow = nearEnd();
      live.innerHTML = html; // made by the gateway from escaped text, as at the first load
      left();
      if (focused) document.getElementById(focused)?.focus();
      if (follow) toEnd();
      if (open() !== before) hold();
    } catch { /* the next event or tick tries again */ } finally {
      busy = false;
      if (again) { again = false; refresh(); }
    }
  };
  // Questions that moved must not catch a click that was meant for another one.
  const hold = () => {
    const buttons = live.querySelectorAll(".buttons button");
    for (const button of buttons) button.disabled = true;
    setTimeout(() => { for (const button of buttons) button.disabled = false; }, 700);
  };

  const news = document.getElementById("news");
  const said = {asked: "A question waits for an answer", reply: "A new reply", decided: "A question was decided", edited: "A question was decided"};
  const events = new EventSource("/events");
  for (const kind of ["asked", "decided", "edited", "closed", "reply", "lost"]) {
    events.addEventListener(kind, () => { if (said[kind]) news.textContent = said[kind]; refresh(); });
  }
  events.addEventListener("open", refresh);
  // What another process does is not always told: look now and then, while somebody looks at the page.
  setInterval(() => { if (!document.hidden) refresh(); }, 5000);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });

  const form = document.querySelector(".composer"), text = document.getElementById("text");
  text.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); form.requestSubmit(); }
  });
  let sent = false;
  form.addEventListener("submit", (event) => { if (sent) event.preventDefault(); sent = true; });
  addEventListener("pageshow", () => { sent = false; });
})();
