// Reloads the element with `data-refresh` (an interval in seconds) from the server, also where `swap.js` brought it. Without
// JavaScript, reload the page.
"use strict";

(() => {
  let waiting = 0;

  const again = (seconds) => {
    clearTimeout(waiting);
    waiting = setTimeout(refresh, seconds * 1000);
  };
  const begin = (times = 1) => {
    const part = document.querySelector("[data-refresh]");
    if (part) again(times * Math.max(1, Number(part.dataset.refresh)));
    else clearTimeout(waiting);
  };

  const refresh = async () => {
    const part = document.querySelector("[data-refresh]");
    if (!part) return;
    // Skip hidden pages, and do not replace a selected text or a focused link.
    const busy = part.contains(document.activeElement) || !document.getSelection().isCollapsed;
    if (document.hidden || busy) return begin();
    const address = location.href;
    try {
      const response = await fetch(address, { headers: { Accept: "text/html" } });
      if (!response.ok) return begin(4);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      // Somebody may have chosen something else in the meantime.
      if (address !== location.href) return begin();
      const fresh = page.querySelector("[data-refresh]") || page.querySelector(`#${part.id}`);
      if (!fresh) return location.reload();
      part.replaceChildren(...fresh.childNodes);
      if (!fresh.dataset.refresh) delete part.dataset.refresh;
      document.dispatchEvent(new Event("refreshed"));
      begin();
    } catch {
      begin(4);
    }
  };

  document.addEventListener("swapped", () => begin());
  begin();
})();
