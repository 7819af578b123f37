// Adds a copy button to signatures and hashes. Without JavaScript they can be selected like any text.
"use strict";
(() => {
  if (!navigator.clipboard) return;
  for (const text of document.querySelectorAll("[data-copy]")) {
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
  }
})();
