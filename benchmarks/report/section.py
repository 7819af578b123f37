"""What a benchmark found: tables, charts and single figures, as docs/explanation/benchmarks.json keeps them.

A module of this package that `python -m benchmarks` runs has a function `section(options) -> Section`, whose name is
that of the module, and calls `benchmarks.harness.alone.alone` where it is run by itself.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Table:
    """A Markdown table; the caption is a line above it."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""

    def markdown(self) -> str:
        """The caption, an empty line, the table."""
        lines = [[*self.header], ["---"] * len(self.header), *self.rows]
        assert all(len(line) == len(self.header) for line in lines), f"a row of another length: {self.caption}"
        table = "\n".join("|" + "".join(f" {cell} |" if cell else " |" for cell in line) for line in lines)
        return f"{self.caption}\n\n{table}" if self.caption else table


@dataclass(frozen=True)
class Line:
    """One set of points of a chart; `x` are numbers, or the names of bars from top to bottom."""

    name: str
    x: Sequence[float] | Sequence[str]
    y: Sequence[float]
    low: Sequence[float] | None = None
    """With `high` the least and the most that was measured at each point."""
    high: Sequence[float] | None = None


@dataclass(frozen=True)
class Chart:
    """A picture: `ratios` (bars, log axis), `growth` (points and a fitted line, log-log), `stacked` or `beside` (bars).

    Its file is images/bench-NAME.svg; the name begins with that of its section.
    """

    kind: str
    name: str
    title: str
    axes: Sequence[str]
    """What is across, and, but for bars, what is up."""
    lines: Sequence[Line]

    def markdown(self) -> str:
        """The picture on the page."""
        return f"![{self.title}](images/bench-{self.name}.svg)"


@dataclass(frozen=True)
class Section:
    """All that one benchmark found. A string among the parts is a paragraph."""

    name: str
    parts: Sequence[str | Table | Chart]
    figures: dict[str, float] = field(default_factory=dict)
    """Name -> number, for aims and for programs; times are in seconds, memory in MiB."""

    @property
    def charts(self) -> list[Chart]:
        """Its pictures."""
        return [part for part in self.parts if isinstance(part, Chart)]

    def markdown(self) -> str:
        """All parts, an empty line between two."""
        return "\n\n".join(part if isinstance(part, str) else part.markdown() for part in self.parts)

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads."""
        return {
            "name": self.name,
            "figures": self.figures,
            "parts": [part if isinstance(part, str) else asdict(part) for part in self.parts],
        }

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Section:
        """The section that gave this JSON."""
        return cls(kept["name"], [_part(part) for part in kept["parts"]], kept["figures"])


def _part(kept: str | dict[str, Any]) -> str | Table | Chart:
    if isinstance(kept, str):
        return kept
    if "header" in kept:
        return Table(**kept)
    return Chart(**kept | {"lines": [Line(**line) for line in kept["lines"]]})
