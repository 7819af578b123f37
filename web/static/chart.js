// Adds buttons under charts that save them as SVG or PNG, and their numbers as CSV where a table beside them has these.
// Nothing leaves the browser. Without JavaScript charts and numbers are there all the same.
"use strict";
(() => {
  const SCALE = 2;

  const save = (name, address) => {
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
  };
  // The colours of a file are those of its attributes: classes belong to the style sheet of the page.
  const source = (svg) => {
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    for (const each of [copy, ...copy.querySelectorAll("[class]")]) each.removeAttribute("class");
    return new XMLSerializer().serializeToString(copy);
  };
  const asData = (text, type) => `data:${type};charset=utf-8,${encodeURIComponent(text)}`;

  const savePng = (svg, name) => {
    const picture = new Image();
    picture.addEventListener("load", () => {
      const canvas = document.createElement("canvas");
      canvas.width = SCALE * svg.width.baseVal.value;
      canvas.height = SCALE * svg.height.baseVal.value;
      const pen = canvas.getContext("2d");
      pen.fillStyle = "#fff";
      pen.fillRect(0, 0, canvas.width, canvas.height);
      pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
      save(`${name}.png`, canvas.toDataURL("image/png"));
    });
    picture.src = asData(source(svg), "image/svg+xml");
  };
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const csv = (table, columns) =>
    [...table.rows].map((row) => (columns ? columns.map((column) => row.cells[column]) : [...row.cells])
      .map((each) => cell(each.textContent.trim().replaceAll("−", "-"))).join(",")).join("\n") + "\n";

  const button = (text, label, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "quiet";
    made.textContent = text;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  };

  const offer = () => document.querySelectorAll("figure svg.chart").forEach((svg, place) => {
    const figure = svg.closest("figure");
    if (figure.querySelector(".chart-files")) return;
    const name = figure.dataset.file || `chart-${place + 1}`;
    const title = svg.querySelector("title") ? svg.querySelector("title").textContent : name;
    const files = document.createElement("p");
    files.className = "chart-files";
    files.append(
      "Save: ",
      button("SVG", `Save as SVG: ${title}`, () => save(`${name}.svg`, asData(source(svg), "image/svg+xml"))), " ",
      button("PNG", `Save as PNG: ${title}`, () => savePng(svg, name)),
    );
    // The numbers are in a table of the chart's own, or in some columns of one that it shares with others.
    const columns = figure.dataset.columns && figure.dataset.columns.split(" ");
    const shared = columns && figure.parentElement.nextElementSibling;
    const table = figure.querySelector("table[data-file]") || (shared && shared.querySelector("table"));
    if (table) files.append(" ", button("CSV", `Save as CSV: ${title}`, () => save(`${name}.csv`, asData(csv(table, columns), "text/csv"))));
    // Or the server has them as a file.
    if (figure.dataset.csv) {
      const link = document.createElement("a");
      link.href = figure.dataset.csv;
      link.textContent = "CSV";
      link.className = "button quiet";
      link.setAttribute("aria-label", `Save as CSV: ${title}`);
      files.append(" ", link);
    }
    figure.append(files);
  });
  offer();
  // Charts may come later.
  for (const event of ["swapped", "refreshed"]) document.addEventListener(event, offer);
})();
