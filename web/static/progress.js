// Shows the progress of a submission. Without JavaScript the page has a link that reloads it.
"use strict";
(() => {
  const section = document.getElementById("progress");
  if (!section || !section.dataset.events || !window.EventSource) return;
  const part = (name) => section.querySelector(`[data-part="${name}"]`);
  const labels = { queued: "queued", running: "scoring", reducing: "computing totals" };
  const set = (name, text) => {
    const place = part(name);
    if (place && place.textContent !== text) place.textContent = text;
  };
  const span = (seconds) => {
    const whole = Math.max(1, Math.round(seconds));
    if (whole < 60) return `${whole} s`;
    if (whole < 3600) return `${Math.round(whole / 60)} min`;
    return `${Math.floor(whole / 3600)} h ${Math.round((whole % 3600) / 60)} min`;
  };
  const show = (progress) => {
    const badge = part("state").querySelector(".badge");
    const state = labels[progress.state] || progress.state;
    if (badge && badge.textContent.trim() !== state) badge.textContent = state;
    const ahead = progress.ahead;
    set("place", ahead ? `${ahead} submission${ahead > 1 ? "s" : ""} ahead in the queue.` : ahead === 0 ? "First in the queue." : "");
    set("left", progress.seconds_left === null ? "" : `About ${span(progress.seconds_left)} left.`);
    set("segments", `${progress.segments_done.toLocaleString("en")} of ${progress.segments.toLocaleString("en")}`);
    const bar = document.getElementById("segments");
    if (bar) {
      bar.max = Math.max(1, progress.segments);
      bar.value = progress.segments_done;
    }
  };
  const events = new EventSource(section.dataset.events);
  events.addEventListener("progress", (event) => show(JSON.parse(event.data)));
  events.addEventListener("error", () => {
    // Browsers reconnect automatically, unless the server rejected the connection.
    if (events.readyState === EventSource.CLOSED) set("left", "Reload the page to see the progress.");
  });
  events.addEventListener("end", (event) => {
    events.close();
    show(JSON.parse(event.data));
    // Do not reload while somebody fills in a form.
    if (document.activeElement && document.activeElement.closest("form") && document.activeElement.tagName !== "BUTTON") {
      set("left", "Reload the page to see the scores.");
    } else {
      window.location.replace(window.location.pathname);
    }
  });
})();
