// Follows the part of a page with `data-live`: a stream of the server says when it has changed, and it is loaded again, also
// where `swap.js` brought it. Without JavaScript the part has a link that reloads the page.
"use strict";

(() => {
  const AGAIN = 15000, AFTER = 1000;
  let stream = null, waiting = 0, offer = null;
  const live = () => document.querySelector("[data-live]");

  const close = () => {
    clearTimeout(waiting);
    if (stream) stream.close();
    stream = null;
  };
  const later = () => {
    close();
    waiting = setTimeout(() => refresh(), AGAIN);
  };
  const open = () => {
    close();
    const part = live();
    // Browsers open few connections to a server at once: pages that nobody sees need none.
    if (!part || document.hidden) return;
    if (!window.EventSource) return later();
    const page = encodeURIComponent(location.pathname + location.search);
    stream = new EventSource(`/live?since=${part.dataset.since}&page=${page}`);
    stream.addEventListener("changed", () => refresh());
    stream.addEventListener("gone", () => location.reload());
    stream.addEventListener("error", () => {
      // Browsers reconnect by themselves, unless the server has refused the stream: then it has too many.
      if (stream && stream.readyState === EventSource.CLOSED) later();
    });
  };

  // Nothing that somebody selects, reads with the keyboard or fills in is replaced.
  const busy = (part) => part.contains(document.activeElement) || !document.getSelection().isCollapsed ||
    [...part.querySelectorAll("input, textarea")].some((field) => field.checked !== field.defaultChecked ||
      (!["checkbox", "radio"].includes(field.type) && field.value !== field.defaultValue));
  const offerIt = (part) => {
    if (offer) return;
    offer = document.createElement("p");
    offer.className = "notice note";
    offer.setAttribute("role", "status");
    offer.append("This page has changed. ");
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Show what is new";
    button.addEventListener("click", () => refresh(true));
    offer.append(button);
    part.before(offer);
  };

  const refresh = async (asked = false) => {
    const part = live();
    if (!part) return close();
    if (!asked && busy(part)) return offerIt(part);
    const address = location.href;
    try {
      const response = await fetch(address, { headers: { Accept: "text/html" } });
      if (!response.ok) return later();
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      // Somebody may have chosen something else in the meantime.
      if (address !== location.href || !part.isConnected) return;
      const fresh = page.getElementById(part.id);
      if (!fresh) return location.reload();
      const unfolded = [...part.querySelectorAll("details")].map((each) => each.open);
      part.replaceChildren(...fresh.childNodes);
      part.querySelectorAll("details").forEach((each, place) => { each.open = unfolded[place] || each.open; });
      if (offer) offer.remove();
      offer = null;
      document.dispatchEvent(new Event("refreshed"));
      if ("live" in fresh.dataset) {
        part.dataset.since = fresh.dataset.since;
        if (!stream) open();
      } else {
        delete part.dataset.live;
        close();
      }
    } catch {
      later();
    }
  };

  document.addEventListener("swapped", open);
  document.addEventListener("visibilitychange", open);
  window.addEventListener("pagehide", close);
  window.addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  // The server looks at the page as soon as it is watched. It has just been made: its first paint need not wait for that.
  window.addEventListener("load", () => setTimeout(() => { if (!stream) open(); }, AFTER));
})();
