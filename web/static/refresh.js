// Keeps the part of a page that has `data-refresh`, seconds, as it is on the server. Without it one loads the page anew.
"use strict";

(() => {
  const part = document.querySelector("[data-refresh]");
  if (!part) return;
  const seconds = Math.max(1, Number(part.dataset.refresh));

  const look = async () => {
    // Nobody looks: nobody need be asked. A text that is being selected or a link that has the focus stays.
    const held = part.contains(document.activeElement) || !document.getSelection().isCollapsed;
    if (document.hidden || held) return again();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
      if (!answer.ok) return again(4);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.querySelector("[data-refresh]") || page.querySelector(`#${part.id}`);
      if (!fresh) return location.reload();
      part.replaceChildren(...fresh.childNodes);
      if (fresh.dataset.refresh) again();
    } catch {
      again(4);
    }
  };

  const again = (times = 1) => setTimeout(look, times * seconds * 1000);
  again();
})();
