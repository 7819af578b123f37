// Follows a submission while it is measured; without this script the page has a link that loads it anew.
"use strict";
(() => {
  const section = document.getElementById("progress");
  if (!section || !section.dataset.events || !window.EventSource) return;
  const part = (name) => section.querySelector(`[data-part="${name}"]`);
  const words = { queued: "waiting", running: "being measured", reducing: "being added up" };
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
  const show = (told) => {
    const badge = part("state").querySelector(".badge");
    const state = words[told.state] || told.state;
    if (badge && badge.textContent.trim() !== state) badge.textContent = state;
    const ahead = told.ahead;
    set("place", ahead ? `${ahead} submission${ahead > 1 ? "s" : ""} before it.` : ahead === 0 ? "Nothing before it." : "");
    set("left", told.seconds_left === null ? "" : `About ${span(told.seconds_left)} left.`);
    set("segments", `${told.segments_done.toLocaleString("en")} of ${told.segments.toLocaleString("en")}`);
    const bar = document.getElementById("segments");
    if (bar) {
      bar.max = Math.max(1, told.segments);
      bar.value = told.segments_done;
    }
  };
  const events = new EventSource(section.dataset.events);
  events.addEventListener("progress", (event) => show(JSON.parse(event.data)));
  events.addEventListener("error", () => {
    // A browser tries again by itself, but not where the server has refused it.
    if (events.readyState === EventSource.CLOSED) set("left", "Load the page again to see how far it is.");
  });
  events.addEventListener("end", (event) => {
    events.close();
    show(JSON.parse(event.data));
    // A form that somebody fills in is not thrown away.
    if (document.activeElement && document.activeElement.closest("form") && document.activeElement.tagName !== "BUTTON") {
      set("left", "Load the page again to see the scores.");
    } else {
      window.location.replace(window.location.pathname);
    }
  });
})();
