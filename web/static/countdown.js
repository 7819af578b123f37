// Counts down to a time: <span data-until="SECONDS" data-now="SECONDS">. At that time the content of the page changes, so it
// is reloaded.
"use strict";
(() => {
  const begun = new WeakSet();

  const count = (place) => {
    // Use the server's clock: the browser's may be wrong.
    const ahead = Number(place.dataset.now) * 1000 - Date.now();
    const until = Number(place.dataset.until) * 1000;
    const show = () => {
      // `refresh.js` may have replaced it.
      if (!place.isConnected) return;
      const left = Math.max(0, Math.ceil((until - Date.now() - ahead) / 1000));
      const days = Math.floor(left / 86400), hours = Math.floor(left / 3600) % 24, minutes = Math.floor(left / 60) % 60;
      const two = (number) => String(number).padStart(2, "0");
      if (days) place.textContent = `${days} day${days === 1 ? "" : "s"}${hours ? ` ${hours} h` : ""}`;
      else place.textContent = `${hours}:${two(minutes)}:${two(left % 60)}`;
      if (left) setTimeout(show, days ? 60000 : 1000);
      else setTimeout(() => location.reload(), 1000);
    };
    show();
  };

  const begin = () => {
    for (const place of document.querySelectorAll("[data-until]")) {
      if (begun.has(place)) continue;
      begun.add(place);
      count(place);
    }
  };
  document.addEventListener("refreshed", begin);
  begin();
})();
