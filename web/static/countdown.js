// Counts down to a moment that the page already states in words: <span data-until="SECONDS" data-now="SECONDS">. What the
// page says is another thing from that moment on, so it is loaded again.
"use strict";
for (const place of document.querySelectorAll("[data-until]")) {
  // The server's clock counts, not the browser's: what matters is how far they are apart.
  const ahead = Number(place.dataset.now) * 1000 - Date.now();
  const until = Number(place.dataset.until) * 1000;
  const show = () => {
    const left = Math.max(0, Math.ceil((until - Date.now() - ahead) / 1000));
    const days = Math.floor(left / 86400), hours = Math.floor(left / 3600) % 24, minutes = Math.floor(left / 60) % 60;
    const two = (number) => String(number).padStart(2, "0");
    if (days) place.textContent = `${days} day${days === 1 ? "" : "s"}${hours ? ` ${hours} h` : ""}`;
    else place.textContent = `${hours}:${two(minutes)}:${two(left % 60)}`;
    if (left) setTimeout(show, days ? 60000 : 1000);
    else setTimeout(() => location.reload(), 1000);
  };
  show();
}
