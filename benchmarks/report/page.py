"""Writes what benchmarks found into docs/explanation/performance.md, between marks; pictures and figures beside it.

What stands between `<!-- bench:NAME -->` and `<!-- /bench:NAME -->` belongs to `python -m benchmarks`; the rest is
written by hand and stays as it is.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.report.aims import aims_table
from benchmarks.report.charts import draw
from benchmarks.report.section import Section

DOCS = Path(__file__).parents[2] / "docs" / "explanation"
PAGE, FIGURES, IMAGES = "performance.md", "benchmarks.json", "images"
NOTHING = "Not measured yet: `make bench` writes it here."
COMPUTED = ("machine", "aims")
"""Marks of what comes from all sections together."""


class NoSuchMark(Exception):
    """The page has no marks of this name, or has them twice."""


@dataclass(frozen=True)
class Measured:
    """A section with what it was measured by, on and when."""

    section: Section
    command: str
    date: str
    load: str
    """Of the machine before and after."""
    machine: dict[str, str] = field(default_factory=dict)

    def markdown(self) -> str:
        """What stands between its marks."""
        return f"`{self.command}`, {self.date}, load {self.load}\n\n{self.section.markdown()}"

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        return {
            "command": self.command, "date": self.date, "load": self.load, "machine": self.machine,
            **self.section.as_json(),
        }  # fmt: skip

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Measured:
        """The section that gave this JSON."""
        return cls(Section.from_json(kept), kept["command"], kept["date"], kept["load"], kept["machine"])


def replaced(page: str, name: str, text: str) -> str:
    """The page with this text between the marks of that name; raises NoSuchMark."""
    begin, end = (f"<!-- {slash}bench:{name} -->" for slash in ("", "/"))
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise NoSuchMark(f"{PAGE} must have the lines {begin} and {end} once each, in this order.")
    before, _, rest = page.partition(begin)
    return f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}"


def marks(page: str) -> list[str]:
    """The names of all marks, in order."""
    return re.findall(r"<!-- bench:([\w-]+) -->", page)


def read_figures(docs: Path) -> dict[str, Measured]:
    """What was kept of all sections; name -> section."""
    if not (docs / FIGURES).exists():
        return {}
    kept = json.loads((docs / FIGURES).read_text())
    return {each["name"]: Measured.from_json(each) for each in kept["sections"]}


def keep(docs: Path, measured: Measured) -> None:
    """Put a section in the place of what was kept of it: page, pictures and figures."""
    name = measured.section.name
    everything = read_figures(docs) | {name: measured}
    order = {mark: place for place, mark in enumerate(marks((docs / PAGE).read_text()))}
    sections = sorted(everything.values(), key=lambda each: order.get(each.section.name, len(order)))
    kept = {"sections": [each.as_json() for each in sections]}
    (docs / FIGURES).write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    images = docs / IMAGES
    images.mkdir(exist_ok=True)
    for old in (images / f"bench-{name}.svg", *images.glob(f"bench-{name}-*.svg")):
        old.unlink(missing_ok=True)
    for chart in measured.section.charts:
        assert chart.name.split("-")[0] == name, f"the chart {chart.name} is not named after {name}"
        (images / f"bench-{chart.name}.svg").write_text(draw(chart))
    write_page(docs, {name: measured.markdown()})


def write_page(docs: Path, texts: dict[str, str]) -> None:
    """These texts between their marks, and, computed again, what follows from all figures."""
    page, everything = (docs / PAGE).read_text(), read_figures(docs)
    machines = [each.machine for each in everything.values()]
    figures = {
        f"{name}.{key}": value for name, each in everything.items() for key, value in each.section.figures.items()
    }
    computed = {"machine": machine_text(machines), "aims": aims_table(figures).markdown()}
    for name, text in (computed | texts).items():
        page = replaced(page, name, text)
    (docs / PAGE).write_text(page)


def machine_text(machines: list[dict[str, str]]) -> str:
    """A list of what was measured on; more than one value where sections differ in it."""
    lines = []
    for key in dict.fromkeys(key for each in machines for key in each):
        values = dict.fromkeys(each[key] for each in machines if key in each)
        lines.append(f"- {key}: {'; also '.join(values)}")
    return "\n".join(lines) or NOTHING
