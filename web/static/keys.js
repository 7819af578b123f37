// Keys for a list of articles: j goes to the next one, k to the previous one; past the end they turn the page. A note with
// `data-keys` says so. Without JavaScript the links of the page lead to the same places.
"use strict";
(() => {
  let articles = [];
  const begin = () => {
    articles = [...document.querySelectorAll("main article")];
    const note = document.querySelector("[data-keys]");
    if (note && articles.length) note.hidden = false;
  };
  begin();
  document.addEventListener("swapped", begin);

  const current = () => {
    const focused = document.activeElement ? document.activeElement.closest("article") : null;
    if (focused) return articles.indexOf(focused);
    // The last one whose beginning has left the window.
    return articles.findLastIndex((each) => each.getBoundingClientRect().top < 2);
  };
  document.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    if (event.target.closest("input, select, textarea, [contenteditable]")) return;
    const step = { j: 1, k: -1 }[event.key];
    if (!step) return;
    const following = articles[current() + step];
    event.preventDefault();
    if (following) {
      following.focus({ preventScroll: true });
      following.scrollIntoView({ block: "start" });
    } else {
      const link = document.querySelector(step > 0 ? "a[rel=next]" : "a[rel=prev]");
      if (link) link.click();
    }
  });
})();
