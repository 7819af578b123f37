// Counts down to a time: <span data-until="SECONDS" data-now="SECONDS">. At that time the content of the page changes, so it
// is reloaded.
"use strict";
for (const place of document.querySelectorAll("[data-until]")) {
  // Use the server's clock: the browser's may be wrong.
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
