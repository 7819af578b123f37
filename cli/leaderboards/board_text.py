"""A leaderboard as a table for terminals, wherever its numbers come from: a database or a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.results.entries import RULE
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

CORRECTED = {"none": "not corrected", "holm": "Holm's correction", "bh": "Benjamini-Hochberg"}
KINDS = {"percentile": "", "bca": "BCa "}


@dataclass(frozen=True, slots=True)
class Range:
    """The ranks that a system may have, and its cluster."""

    low: int
    high: int
    cluster: int


@dataclass(frozen=True, slots=True)
class Line:
    """A system in the table."""

    rank: int | None
    range: Range | None
    name: str
    scores: Sequence[str]
    """One for each metric; empty where there are none."""
    remark: str


@dataclass(frozen=True, slots=True)
class Method:
    """How the intervals of the table were made."""

    sorted_by: str
    replicates: int
    level: float
    kind: str
    seed: int


@dataclass(frozen=True, slots=True)
class Tests:
    """The tests behind rank ranges and clusters."""

    test: str
    draws: int
    """Replicates or trials."""
    alpha: float
    correction: str


def as_table(title: str, titles: Sequence[str], lines: Sequence[Line], method: Method, notes: Sequence[str]) -> str:
    """The title, the systems with a line between clusters, then method and notes."""
    ranges = any(line.range for line in lines)
    table = [["Rank", *(["Range"] if ranges else []), "System", *titles, ""]]
    rules = []
    for number, line in enumerate(lines, 1):
        cells = line.scores or ["n/a"] * len(titles)
        first = [str(line.rank) if line.rank else "-", *([shown_range(line.range)] if ranges else [])]
        table.append([*first, line.name, *cells, line.remark])
        below = lines[number].range if number < len(lines) else line.range
        if line.range and (below.cluster if below else None) != line.range.cluster:
            rules.append(number)
    intervals = "no intervals"
    if method.replicates:
        intervals = f"{100 * method.level:g} % {KINDS[method.kind]}intervals from {method.replicates:,} bootstrap "
        intervals += f"replicates, seed {method.seed}"
    made = f"Sorted by {method.sorted_by}; {intervals}; ↓ lower is better."
    return "\n".join([title, aligned(table, rules).rstrip("\n"), made, *notes]) + "\n"


def shown_range(ranks: Range | None) -> str:
    """The ranks that a system may have."""
    if ranks is None:
        return "-"
    return str(ranks.low) if ranks.low == ranks.high else f"{ranks.low}-{ranks.high}"


def ranking_notes(tests: Tests, *, ranges: bool, fault: str, not_ranked: int) -> list[str]:
    """Notes on unranked systems, and on how ranges and clusters were found or why there are none."""
    notes = []
    if not_ranked:
        are = "1 system is" if not_ranked == 1 else f"{not_ranked:,} systems are"
        notes.append(f"{RULE} {are} not ranked; --all shows every system.")
    if ranges:
        kind = "trials" if tests.test == "randomization" else "replicates"
        how = f"WMT's rule: paired {tests.test} with {tests.draws:,} {kind}, p < {tests.alpha:g}, "
        how += CORRECTED[tests.correction]
        notes.append(f"Range: possible ranks according to the tests. A line separates clusters ({how}).")
    return [*notes, *([fault] if fault else [])]


def shown_score(score: float | None, ends: tuple[float, float] | None, places: int) -> str:
    """Score and interval."""
    if score is None:
        return "n/a"
    interval = f" [{ends[0]:.{places}f}, {ends[1]:.{places}f}]" if ends else ""
    return f"{score:.{places}f}{interval}"
