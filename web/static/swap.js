// Replaces a part of the page instead of loading all of it: links inside of the part that lead to the same page, and the
// form with `data-swap`, which is sent as soon as a choice changes. Without JavaScript they load the page.
"use strict";
(() => {
  const form = document.querySelector("form[data-swap]");
  const part = form && document.getElementById(form.dataset.swap);
  if (!part) return;
  let asked = 0;
  // Every choice is shown at once, so nothing needs to be sent.
  form.classList.add("live");

  const show = async (address, remember) => {
    const own = ++asked;
    part.setAttribute("aria-busy", "true");
    try {
      const response = await fetch(address, { headers: { Accept: "text/html" } });
      if (!response.ok) throw new Error(response.statusText);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (own !== asked) return;
      const fresh = page.getElementById(part.id);
      const freshForm = page.querySelector("form[data-swap]");
      if (!fresh || !freshForm) throw new Error("another page");
      const focused = document.activeElement && form.contains(document.activeElement) ? document.activeElement.id : "";
      const open = [...form.querySelectorAll("details")].map((each) => each.open);
      part.replaceChildren(...fresh.childNodes);
      for (const name of ["live", "since"]) {
        if (name in fresh.dataset) part.dataset[name] = fresh.dataset[name];
        else delete part.dataset[name];
      }
      form.replaceChildren(...freshForm.childNodes);
      form.querySelectorAll("details").forEach((each, place) => { each.open = open[place]; });
      if (focused && document.getElementById(focused)) document.getElementById(focused).focus();
      const views = document.querySelector("nav.sub"), freshViews = page.querySelector("nav.sub");
      if (views && freshViews) views.replaceChildren(...freshViews.childNodes);
      if (remember) history.pushState(null, "", address);
      part.removeAttribute("aria-busy");
      document.dispatchEvent(new Event("swapped"));
    } catch {
      location.assign(address);
    }
  };

  form.addEventListener("change", () => {
    show(`${location.pathname}?${new URLSearchParams(new FormData(form))}`, true);
  });
  part.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const address = new URL(link.href);
    if (address.pathname !== location.pathname || address.origin !== location.origin || link.hash) return;
    event.preventDefault();
    show(link.href, true);
  });
  window.addEventListener("popstate", () => show(location.href, false));
})();
