// Reloads the element with `data-refresh` (an interval in seconds) from the server. Without JavaScript, reload the page.
"use strict";

(() => {
  const part = document.querySelector("[data-refresh]");
  if (!part) return;
  const seconds = Math.max(1, Number(part.dataset.refresh));

  const refresh = async () => {
    // Skip hidden pages, and do not replace a selected text or a focused link.
    const busy = part.contains(document.activeElement) || !document.getSelection().isCollapsed;
    if (document.hidden || busy) return again();
    try {
      const response = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!response.ok) return again(4);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = page.querySelector("[data-refresh]") || page.querySelector(`#${part.id}`);
      if (!fresh) return location.reload();
      part.replaceChildren(...fresh.childNodes);
      if (fresh.dataset.refresh) again();
    } catch {
      again(4);
    }
  };

  const again = (times = 1) => setTimeout(refresh, times * seconds * 1000);
  again();
})();
