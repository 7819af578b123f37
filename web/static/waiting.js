// Shows the position in the queue of uploads while a form with a file is submitted.
"use strict";
(() => {
  const PAUSE = 1000;
  for (const form of document.querySelectorAll("form[enctype='multipart/form-data']")) {
    form.addEventListener("submit", () => {
      const place = document.createElement("p");
      place.className = "soft";
      place.setAttribute("role", "status");
      place.textContent = "Uploading.";
      form.querySelector(".actions").append(place);
      const poll = async () => {
        try {
          const response = await fetch("/api/v1/me/waiting-uploads", { headers: { Accept: "application/json" } });
          const { items } = await response.json();
          const before = items.length ? items[items.length - 1].before : null;
          if (before === null) place.textContent = "Uploading or processing the file.";
          else place.textContent = before ? `${before} file${before > 1 ? "s" : ""} ahead of yours.` : "Your file is next.";
        } catch {
          // The page may be unloading.
        }
        window.setTimeout(poll, PAUSE);
      };
      window.setTimeout(poll, PAUSE);
    });
  }
})();
