// Adds buttons under charts that save them as SVG or PNG, beside the link that saves their numbers as CSV. Nothing leaves
// the browser. Without JavaScript charts and numbers are there all the same.
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
    if (figure.dataset.offered) return;
    figure.dataset.offered = "yes";
    const name = figure.dataset.file || `chart-${place + 1}`;
    const title = svg.querySelector("title") ? svg.querySelector("title").textContent : name;
    // The server has the numbers as a file, whose link stands there already.
    let files = figure.querySelector(".chart-files");
    if (!files) {
      files = document.createElement("p");
      files.className = "chart-files";
      figure.append(files);
    }
    const csv = files.querySelector("a[download]");
    if (csv) csv.className = "button quiet";
    files.replaceChildren(
      "Save: ",
      button("SVG", `Save as SVG: ${title}`, () => save(`${name}.svg`, asData(source(svg), "image/svg+xml"))), " ",
      button("PNG", `Save as PNG: ${title}`, () => savePng(svg, name)),
      ...(csv ? [" ", csv] : []),
    );
  });
  offer();
  // Charts may come later.
  for (const event of ["swapped", "refreshed"]) document.addEventListener(event, offer);
})();
