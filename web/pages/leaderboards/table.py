"""The table of a leaderboard page: names, intervals and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from campaigns.leaderboards.names import DisplayName, display_name, system_id_of
from campaigns.reports.leaderboard import Cell, drawn
from models.schema.roles import DeclaredKind
from steelyard.tables.formatting import TYPESET, digits
from steelyard_client.vocabulary import ORIGINS

if TYPE_CHECKING:
    from campaigns.leaderboards.snapshot import BoardEntry
    from campaigns.leaderboards.view import BoardLine, BoardView
    from campaigns.permissions import CampaignAccess
    from steelyard.ranking.clusters import SystemRank


@dataclass(frozen=True, slots=True)
class Row:
    """A system in a table."""

    submission: int
    name: DisplayName
    system: int | None
    """The number of the page that its name links to; None for none."""
    rank: int | None
    place: SystemRank | None
    cells: Sequence[Cell]
    entry: BoardEntry
    marks: Sequence[tuple[str, str]]
    """Labels, each with its kind of badge."""
    remark: str


@dataclass(frozen=True, slots=True)
class Table:
    """A part of a leaderboard."""

    clusters: Sequence[Sequence[Row]]
    """The rows of each cluster; a single group if there are no clusters."""
    axes: Sequence[tuple[str, str] | None]
    """The ends of the axis of each metric; None if it has no intervals."""
    columns: Sequence[int] = ()
    """The positions of the metrics shown, the ranking one first."""
    tracks: bool = False
    """Whether the systems differ in whether they are constrained, so that a column tells it."""
    shared: Sequence[str] = ()
    """Sentences that hold for all systems, instead of a label in each row."""


ORGANISERS = "organisers'"
"""The label of a system that the organisers submitted, and that is no baseline or online system."""

SHARED = {
    ORGANISERS: "All outputs are the organisers' own.",
    "primary": "All are primary submissions.",
    "contrastive": "All are contrastive submissions.",
    "constrained": "All are constrained.",
    "unconstrained": "All are unconstrained.",
}
"""Label -> the sentence for a leaderboard on which every system has it."""


def shown_columns(metrics: int, ranking: int, chosen: Sequence[int] = ()) -> list[int]:
    """Return the positions of the metrics to show, the ranking one first: all of them unless some are chosen."""
    wanted = [each for each in range(metrics) if (each in chosen or not chosen) and each != ranking]
    return [ranking, *wanted]


def make_table(
    view: BoardView,
    access: CampaignAccess,
    lines: Sequence[BoardLine],
    columns: Sequence[int] = (),
    clusters_of: Mapping[int, int] | None = None,
) -> Table:
    """Return the table of some lines. The axes cover the whole leaderboard.

    `clusters_of` submissions by another ranking, in whose order the lines are, take the place of the metric's.
    """
    shared = _shared(view.lines)
    axes = view.drawn.get("axes")
    if axes is None:
        axes = view.drawn["axes"] = [_axis(view, metric) for metric in range(len(view.listed.metrics))]
    rows = [_row(access, line, [axis for axis, _ in axes], shared) for line in lines]
    clusters, numbered = [], []
    if clusters_of is None:
        clusters_of = {row.submission: row.place.cluster for row in rows if row.place}
    # A system that is not ranked belongs to the cluster above it, or else to the first one.
    last = next((clusters_of[row.submission] for row in rows if row.submission in clusters_of), 0)
    for row in rows:
        last = clusters_of.get(row.submission, last)
        numbered.append((last, row))
    for _, of_cluster in groupby(numbered, key=lambda each: each[0]):
        clusters.append([row for _, row in of_cluster])
    tracks = {line.entry.constrained for line in view.lines}
    return Table(
        clusters,
        [ends for _, ends in axes],
        columns or shown_columns(len(axes), view.query.metric),
        tracks=len(tracks) > 1,
        shared=[SHARED[each] for each in shared],
    )


def _shared(lines: Sequence[BoardLine]) -> list[str]:
    """Return the labels that all of several systems have."""
    if len(lines) < 2:
        return []
    kinds = {line.entry.kind for line in lines}
    tracks = {line.entry.constrained for line in lines}
    found = [each.value for each in kinds if len(kinds) == 1 and each is not DeclaredKind.UNDECLARED]
    if len(tracks) == 1 and None not in tracks:
        found.append("constrained" if True in tracks else "unconstrained")
    if all(_is_organisers(line.entry) for line in lines):
        found.append(ORGANISERS)
    return found


def _is_organisers(entry: BoardEntry) -> bool:
    return not entry.team and entry.origin not in ORIGINS


def _axis(view: BoardView, metric: int) -> tuple[tuple[float, float], tuple[str, str] | None]:
    found = [line.entry.scores for line in view.lines if line.entry.scores]
    intervals = [ends for scores in found if (ends := scores.interval(metric))]
    if not intervals:
        return (0.0, 0.0), None
    axis = min(low for low, _ in intervals), max(high for _, high in intervals)
    places = digits(found[0].by[metric].scale)
    return axis, (TYPESET.number(axis[0], places), TYPESET.number(axis[1], places))


def _row(access: CampaignAccess, line: BoardLine, axes: Sequence[tuple[float, float]], shared: Sequence[str]) -> Row:
    entry, name = line.entry, display_name(access, line.entry)
    cells = [
        drawn(figure.score, figure.interval, figure.scale, axis)
        for figure, axis in zip(entry.scores, axes, strict=False)
    ]
    cells += [Cell(TYPESET.number(None))] * (len(axes) - len(cells))
    return Row(
        entry.submission, name, system_id_of(access, entry), line.rank, line.place, cells, entry,
        _marks(entry, name, shared), _remark(access, line),
    )  # fmt: skip


def marks_of_system(entry: BoardEntry, name: DisplayName) -> list[tuple[str, str]]:
    """Return the labels that a system has on every leaderboard, each with its kind of badge: whose it is."""
    marks = [("yours", "strong")] if name.own else []
    if entry.origin in ORIGINS:
        marks.append((ORIGINS[entry.origin], ""))
    elif _is_organisers(entry):
        marks.append((ORGANISERS, ""))
    return marks


def _marks(entry: BoardEntry, name: DisplayName, shared: Sequence[str]) -> list[tuple[str, str]]:
    """Return the labels of a system that tell something.

    What all share stands above the table, and a column of its own tells whether a system is constrained. That it is
    primary says something only beside others of its team.
    """
    marks = [mark for mark in marks_of_system(entry, name) if mark[0] not in shared]
    if entry.kind is not DeclaredKind.UNDECLARED:
        alone = entry.kind is DeclaredKind.PRIMARY and entry.of_team < 2
        marks += [(entry.kind.value, "")] if entry.kind.value not in shared and not alone else []
    elif not entry.ranked:
        marks.append(("not ranked", ""))
    if entry.late_seconds > 0:
        marks.append(("late", "warning"))
    return marks


def _remark(access: CampaignAccess, line: BoardLine) -> str:
    entry = line.entry
    if line.same_as is not None and entry.scores:
        return f"same output as {display_name(access, line.same_as).title}"
    if entry.scores:
        return ""
    state = entry.state.value
    # The reason may quote a text: the team sees what it may see on the page of the submission.
    if entry.reason and access.organises:
        state += f": {entry.reason}"
    several = len(entry.runs)
    return f"{entry.runs_done} of {several} runs done; {state}" if several > 1 else state
