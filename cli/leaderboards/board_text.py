"""A leaderboard as a table for people, wherever its numbers come from: a database or a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.results.entries import RULE
from steelyard.tables.formatting import MISSING, percentage
from steelyard.tables.table import Column, Kind, Table

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


def table_of(title: str, titles: Sequence[str], lines: Sequence[Line], method: Method, notes: Sequence[str]) -> Table:
    """The systems with a line between clusters; below them method and notes."""
    ranges, remarks = any(line.range for line in lines), any(line.remark for line in lines)
    columns = [Column("rank", "Rank", Kind.ID, missing="-")]
    columns += [Column("range", "Range", Kind.RANGE, missing="-")] if ranges else []
    columns.append(Column("system", "System", Kind.NAME))
    columns += [Column(each, each, Kind.ESTIMATE, missing=MISSING) for each in titles]
    columns += [Column("remark", "Remark")] if remarks else []
    rows = []
    rules = set()
    for number, line in enumerate(lines, 1):
        ends = (line.range.low, line.range.high) if line.range else None
        scores: Sequence[str | None] = line.scores or [None] * len(titles)
        first = [line.rank or None, *([ends] if ranges else []), line.name]
        rows.append([*first, *scores, *([line.remark] if remarks else [])])
        below = lines[number].range if number < len(lines) else line.range
        if line.range and (below.cluster if below else None) != line.range.cluster:
            rules.add(number)
    intervals = "no intervals"
    if method.replicates:
        intervals = f"{percentage(method.level)} {KINDS[method.kind]}intervals from {method.replicates:,} bootstrap "
        intervals += f"replicates, seed {method.seed}"
    made = f"Sorted by {method.sorted_by}; {intervals}; ↓ lower is better."
    return Table(columns, rows, title, notes=[made, *notes], rules=frozenset(rules))


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
