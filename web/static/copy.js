// Adds a copy button to signatures and hashes. Without JavaScript they can be selected like any text.
"use strict";
(() => {
  if (!navigator.clipboard) return;

  const offer = (text) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${text.textContent}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
      window.setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    text.after(" ", button);
  };

  const begin = () => {
    for (const text of document.querySelectorAll("[data-copy]")) {
      if (!text.nextElementSibling || !text.nextElementSibling.matches("button.copy")) offer(text);
    }
  };
  document.addEventListener("refreshed", begin);
  begin();
})();
