// Says, while a form with a file is on its way, how many files are read before it; without this script nothing is said.
"use strict";
(() => {
  const PAUSE = 1000;
  for (const form of document.querySelectorAll("form[enctype='multipart/form-data']")) {
    form.addEventListener("submit", () => {
      const place = document.createElement("p");
      place.className = "soft";
      place.setAttribute("role", "status");
      place.textContent = "The file is on its way.";
      form.querySelector(".actions").append(place);
      const look = async () => {
        try {
          const answer = await fetch("/api/v1/me/waiting-uploads", { headers: { Accept: "application/json" } });
          const { items } = await answer.json();
          const before = items.length ? items[items.length - 1].before : null;
          if (before === null) place.textContent = "The file is sent, or being read.";
          else place.textContent = before ? `${before} file${before > 1 ? "s are" : " is"} read before yours.` : "Yours is the next to be read.";
        } catch {
          // The page may be on its way out.
        }
        window.setTimeout(look, PAUSE);
      };
      window.setTimeout(look, PAUSE);
    });
  }
})();
