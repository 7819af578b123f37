// Forms with files: they keep their files when the server refuses them (of several, those that it refused), files can be
// dropped on them, and lines are counted before anything is sent. Without JavaScript the form is sent as usual, and files are chosen again after an error.
"use strict";
(() => {
  const LARGEST = 64 * 1024 * 1024;
  const form = document.querySelector("main form[enctype='multipart/form-data']");
  if (!form) return;
  const grouped = (number) => number.toLocaleString("en");
  const plain = (file) => !/\.(gz|zip|xml|sgml?|sgm|jsonl?|tsv)$/i.test(file.name) && file.size <= LARGEST;

  const countLines = async (file) => {
    const bytes = new Uint8Array(await file.arrayBuffer());
    let lines = 0;
    for (const byte of bytes) if (byte === 10) lines += 1;
    return bytes.length && bytes[bytes.length - 1] !== 10 ? lines + 1 : lines;
  };
  // How many segments the chosen test set has; NaN where that is not known here.
  const expected = (scope) => {
    const choice = scope.querySelector("select[name='test_set']");
    const place = choice ? choice.selectedOptions[0] : scope.querySelector("[data-segments]");
    return place && place.dataset.segments ? Number(place.dataset.segments) : NaN;
  };
  const tell = async (input) => {
    const scope = input.form;
    let note = input.parentElement.querySelector(".counted");
    if (!note) {
      note = document.createElement("p");
      note.className = "hint counted";
      note.setAttribute("role", "status");
      input.after(note);
    }
    const found = [];
    for (const file of input.files) {
      const text = document.createElement("span");
      const size = file.size < 1e6 ? `${grouped(Math.ceil(file.size / 1000))} kB` : `${(file.size / 1e6).toFixed(1)} MB`;
      text.textContent = `${file.name}: ${size}`;
      if (plain(file)) {
        const lines = await countLines(file);
        const wanted = input.name === "file" ? expected(scope) : NaN;
        text.textContent = `${file.name}: ${grouped(lines)} line${lines === 1 ? "" : "s"}, ${size}`;
        if (wanted && lines !== wanted) {
          text.className = "error";
          text.textContent += `; the test set has ${grouped(wanted)} segments, ${grouped(Math.abs(lines - wanted))} ${lines < wanted ? "more" : "fewer"}`;
        }
      }
      found.push(text, document.createElement("br"));
    }
    note.replaceChildren(...found.slice(0, -1));
  };

  // Several files for one test set are named after the files.
  const tellSystem = (scope) => {
    const input = scope.querySelector("input[data-drop]"), system = scope.querySelector("input[name='system']");
    if (!input || !system) return;
    const choice = scope.querySelector("select[name='test_set']");
    const named = input.files.length > 1 && !(choice && choice.value === "*");
    system.required = !named;
    system.disabled = named;
    system.placeholder = named ? "Each system is named after its file" : "";
  };
  const prepare = () => {
    const input = document.querySelector("main input[data-drop]");
    if (!input) return;
    input.closest(".field").classList.add("drop");
    input.title = input.multiple ? "Choose files, or drop them here" : "Choose a file, or drop it here";
    tellSystem(input.form);
  };

  // Browsers send no file that was changed after it was chosen, as one is that was refused and corrected: it must be chosen
  // again. Whether there is one; its form says so.
  const changed = async (scope) => {
    for (const input of scope.querySelectorAll("input[type='file']")) {
      const names = [];
      for (const file of input.files) await file.slice(0, 1).arrayBuffer().catch(() => names.push(file.name));
      if (!names.length) continue;
      input.value = "";
      tellSystem(scope);
      await tell(input);
      const note = input.parentElement.querySelector(".counted");
      const text = document.createElement("span");
      text.className = "error";
      text.textContent = `${names.join(", ")} was changed since you chose it. Choose ${input.multiple ? "the files" : "it"} again.`;
      note.replaceChildren(text);
      input.focus();
      return true;
    }
    return false;
  };

  const send = async (event) => {
    const scope = event.target;
    event.preventDefault();
    if (await changed(scope)) return;
    const content = new FormData(scope, event.submitter);
    if (event.submitter) event.submitter.disabled = true;
    try {
      const response = await fetch(scope.action, { method: "POST", body: content, headers: { Accept: "text/html" } });
      if (response.redirected) return location.assign(response.url);
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = page.querySelector("main");
      // The files that were chosen move into the new form.
      for (const input of scope.querySelectorAll("input[type='file']")) {
        const place = fresh.querySelector(`input[type='file'][name='${CSS.escape(input.name)}']`);
        if (!place || !input.files.length) continue;
        for (const name of ["aria-describedby", "aria-invalid"]) {
          if (place.hasAttribute(name)) input.setAttribute(name, place.getAttribute(name));
          else input.removeAttribute(name);
        }
        if (place.dataset.again) {
          const again = JSON.parse(place.dataset.again), kept = new DataTransfer();
          for (const file of input.files) if (again.includes(file.name)) kept.items.add(file);
          input.files = kept.files;
        }
        place.replaceWith(input);
        tell(input);
      }
      for (const each of fresh.querySelectorAll("[data-choose-again]")) each.remove();
      document.querySelector("main").replaceWith(fresh);
      document.title = page.title;
      prepare();
      const wrong = fresh.querySelector("[aria-invalid='true'], [role='alert']");
      if (wrong) {
        if (!wrong.matches("input, select, textarea")) wrong.tabIndex = -1;
        wrong.focus();
      }
    } catch {
      // Without an answer, the browser itself says what is wrong with the connection.
      scope.submit();
    } finally {
      if (event.submitter) event.submitter.disabled = false;
    }
  };

  document.addEventListener("submit", (event) => {
    if (event.target.matches("main form[enctype='multipart/form-data']") && !event.defaultPrevented) send(event);
  });
  document.addEventListener("change", (event) => {
    if (event.target.matches("main input[type='file']")) tell(event.target);
    const scope = event.target.form;
    if (scope) tellSystem(scope);
    if (event.target.matches("select[name='test_set']") && scope) {
      for (const input of scope.querySelectorAll("input[type='file']")) if (input.files.length) tell(input);
    }
  });
  const inputFor = (event) => {
    const scope = event.target.closest && event.target.closest("form[enctype='multipart/form-data']");
    const over = event.target.closest && event.target.closest(".field");
    return (over && over.querySelector("input[type='file']")) || (scope && scope.querySelector("input[type='file']"));
  };
  document.addEventListener("dragover", (event) => {
    const input = inputFor(event);
    if (!input) return;
    event.preventDefault();
    input.closest(".field").classList.add("over");
  });
  for (const kind of ["dragleave", "drop"]) document.addEventListener(kind, () => {
    for (const each of document.querySelectorAll(".over")) each.classList.remove("over");
  });
  prepare();
  document.addEventListener("drop", (event) => {
    const input = inputFor(event);
    if (!input || !event.dataTransfer.files.length) return;
    event.preventDefault();
    const kept = new DataTransfer();
    for (const file of input.multiple ? event.dataTransfer.files : [event.dataTransfer.files[0]]) kept.items.add(file);
    input.files = kept.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
})();
