"""The history of a schedule as tables: series of scores, lasting changes, runs with problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.resampling.change_points import FEWEST
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.wording import number_of
from steelyard_client.vocabulary import level_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.tables.delimited import Cell
    from steelyard_client.documents.submissions.nightly import (
        LevelChange,
        ScheduledRunResponse,
        ScheduleHistoryResponse,
        ScoreSeriesResponse,
    )

CHANGE_HEADER = [
    *("System", "Test set", "Metric", "Since", "Runs"),
    *("Before", "After", "Difference", "p", "p segments", "Level"),
]
SCORE_COLUMNS = ("system", "test_set", "references", "metric", "date", "score")
SERIES_COLUMNS = (
    Column("system", "System", Kind.NAME),
    Column("test_set", "Test set"),
    Column("metric", "Metric"),
    Column("lowest", "Lowest", Kind.NUMBER),
    Column("highest", "Highest", Kind.NUMBER),
    Column("last", "Last", Kind.NUMBER),
    Column("runs", "Runs"),
)
BARS = "▁▂▃▄▅▆▇█"
LONGEST_COURSE = 60
"""Runs in a line of bars."""


def score_rows(history: ScheduleHistoryResponse) -> list[list[Cell]]:
    """A row for each series and run, in `SCORE_COLUMNS`."""
    return [
        [each.system, each.test_set, "+".join(each.references), each.metric, point.date, point.score]
        for each in history.series
        for point in each.points
    ]


def history_tables(history: ScheduleHistoryResponse) -> list[Table]:
    """For people: every series as a sparkline, lasting changes, and the runs with problems."""
    name, runs = history.schedule, history.runs
    if not runs:
        return [Table(SERIES_COLUMNS, [], empty=f"{name}: no run so far.")]
    title = f"{name}: {number_of(len(runs), 'run')}, {runs[0].date} to {runs[-1].date}."
    told = [change for series in history.series for change in series.changes]
    notes = []
    if any(series.too_few_runs for series in history.series) and not told:
        notes = [f"Too few runs to tell a change from noise: at least {FEWEST} with a score are needed."]
    elif history.series and not told:
        notes = ["No change that lasted."]
    found = [Table(SERIES_COLUMNS, [*map(_row, history.series)], title, notes=notes, empty="Nothing was measured.")]
    if told:
        columns = [Column(each.lower().replace(" ", "_"), each) for each in CHANGE_HEADER]
        found.append(Table(columns, [*map(change_row, told)], "Levels that lasted"))
    wrong = [[run.date, _state(run)] for run in runs if _state(run) != "fine"]
    if wrong:
        columns = [Column("run", "Run", Kind.NAME), Column("outcome", "What came of it")]
        found.append(Table(columns, wrong, "Runs with problems"))
    return found


def change_row(change: LevelChange) -> list[str]:
    """A change in the columns of `CHANGE_HEADER`."""
    places = 2 if max(abs(change.before), abs(change.after)) >= 1 else 4
    return [
        change.system,
        _place(change),
        change.title,
        change.since,
        f"{change.runs_before}+{change.runs_after}",
        f"{change.before:.{places}f}",
        f"{change.after:.{places}f}",
        f"{change.difference:+.{places}f}",
        f"{change.p:.3g}",
        "n/a" if change.p_segments is None else f"{change.p_segments:.3g}",
        level_words(worse=change.worse, counts=change.counts, new=change.new),
    ]


def _place(of: LevelChange | ScoreSeriesResponse) -> str:
    """Test set and references, short."""
    return f"{of.test_set} ({'+'.join(of.references)})"


def bars(scores: Sequence[float | None]) -> str:
    """Scores as bars between the lowest and the highest, a point where a run has none."""
    known = [score for score in scores if score is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if low == high:
        return "".join("·" if score is None else BARS[3] for score in scores)
    steps = len(BARS) - 1
    return "".join("·" if score is None else BARS[round(steps * (score - low) / (high - low))] for score in scores)


def _row(series: ScoreSeriesResponse) -> list[str]:
    scores = [point.score for point in series.points]
    known = [score for score in scores if score is not None]
    places = 2 if max(map(abs, known), default=0.0) >= 1 else 4
    numbers = [min(known), max(known), known[-1]] if known else []
    return [
        series.system,
        _place(series),
        series.title + ("" if series.higher_is_better else " ↓"),
        *([f"{number:.{places}f}" for number in numbers] or ["n/a"] * 3),
        bars(scores[-LONGEST_COURSE:]),
    ]


def _state(run: ScheduledRunResponse) -> str:
    if run.state == "done":
        return "regression" if run.regressed else "fine"
    return f"{run.state}: {run.reason}" if run.reason else run.state
