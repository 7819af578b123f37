"""A board as the table of a page: names that may be shown, marks, whiskers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from campaigns.leaderboards.names import Name, name_of
from campaigns.reports.leaderboard import Cell, drawn
from campaigns.reports.numbers import digits, number
from models.schema.roles import DeclaredKind

if TYPE_CHECKING:
    from campaigns.leaderboards.snapshot import Contender
    from campaigns.leaderboards.view import BoardView, Line
    from campaigns.permissions import Sight
    from metrics.ranking import Place


@dataclass(frozen=True, slots=True)
class Row:
    """A system in a table."""

    submission: int
    name: Name
    opens: str
    """What its name leads to: "submission", "segments", or "" for nothing."""
    rank: int | None
    place: Place | None
    cells: Sequence[Cell]
    contender: Contender
    marks: Sequence[tuple[str, str]]
    """Words about it, and what kind of badge each is."""
    remark: str


@dataclass(frozen=True, slots=True)
class Table:
    """Some lines of a board."""

    clusters: Sequence[Sequence[Row]]
    """Those of each cluster together; all in one where there are none."""
    axes: Sequence[tuple[str, str] | None]
    """The ends of the axis that the whiskers of a metric share; None where it has none."""


def make_table(view: BoardView, sight: Sight, lines: Sequence[Line]) -> Table:
    """A table of some lines; whiskers lie on axes that the whole board shares."""
    axes = view.drawn.get("axes")
    if axes is None:
        axes = view.drawn["axes"] = [_axis(view, metric) for metric in range(len(view.listed.metrics))]
    rows = [_row(sight, line, [axis for axis, _ in axes]) for line in lines]
    clusters, numbered = [], []
    # What is not ranked stands in the cluster that it stands below, or above the first one.
    last = next((row.place.cluster for row in rows if row.place), 0)
    for row in rows:
        last = row.place.cluster if row.place else last
        numbered.append((last, row))
    for _, of_cluster in groupby(numbered, key=lambda each: each[0]):
        clusters.append([row for _, row in of_cluster])
    return Table(clusters, [ends for _, ends in axes])


def _axis(view: BoardView, metric: int) -> tuple[tuple[float, float], tuple[str, str] | None]:
    found = [line.contender.figures[metric] for line in view.lines if line.contender.figures]
    intervals = [figure.interval for figure in found if figure.interval]
    if not intervals:
        return (0.0, 0.0), None
    axis = min(low for low, _ in intervals), max(high for _, high in intervals)
    places = digits(found[0].scale)
    return axis, (number(axis[0], places), number(axis[1], places))


def _row(sight: Sight, line: Line, axes: Sequence[tuple[float, float]]) -> Row:
    contender, name = line.contender, name_of(sight, line.contender)
    cells = [
        drawn(figure.score, figure.interval, figure.scale, axis)
        for figure, axis in zip(contender.figures, axes, strict=False)
    ]
    cells += [Cell(number(None))] * (len(axes) - len(cells))
    sees = sight.sees_output(contender.team, contender.kind, ranked=contender.ranked)
    opens = "submission" if sight.organises or name.own else "segments" if sees else ""
    return Row(
        contender.submission, name, opens, line.rank, line.place, cells, contender, _marks(contender, name),
        _remark(sight, line),
    )  # fmt: skip


def _marks(contender: Contender, name: Name) -> list[tuple[str, str]]:
    marks = [("yours", "strong")] if name.own else []
    if contender.kind is not DeclaredKind.UNDECLARED:
        marks.append((contender.kind.value, ""))
    elif not contender.ranked:
        marks.append(("not ranked", ""))
    if contender.constrained is not None:
        marks.append(("constrained" if contender.constrained else "unconstrained", ""))
    if not contender.team:
        marks.append(("organisers'", ""))
    if contender.late_seconds > 0:
        marks.append(("late", "warning"))
    return marks


def _remark(sight: Sight, line: Line) -> str:
    contender = line.contender
    if line.same_as is not None and contender.figures:
        return f"same output as {name_of(sight, line.same_as).title}"
    if contender.figures:
        return ""
    state = contender.state.value
    # It may quote a text: what its team may know of it stands on the page of the submission.
    if contender.reason and sight.organises:
        state += f": {contender.reason}"
    several = len(contender.runs)
    return f"{contender.runs_done} of {several} runs done; {state}" if several > 1 else state
