"""The history of a schedule: series of scores with lasting changes, in every format, and as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.nightly.text import place_of
from cli.schedules.changes import CHANGE_HEADER, change_row
from models.schema.states import NightlyRunState
from steelyard.resampling.change_points import FEWEST
from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.nightly.series import ScoreSeries
    from analysis.nightly.verdict import History
    from models.nightly.runs import NightlyRunInfo
    from steelyard.tables.delimited import Cell

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


def rendered_history(history: History, form: str) -> str:
    """Everything in JSON, as docs/reference/regressions.md describes it; in CSV and TSV a row for each score."""
    return render_document(
        form, document=history.as_json, data=lambda: (SCORE_COLUMNS, score_rows(history)),
        tables=lambda: tables_of(history), title=history.schedule.name,
    )  # fmt: skip


def score_rows(history: History) -> list[list[Cell]]:
    """A row for each series and run, in `SCORE_COLUMNS`."""
    return [
        [each.subject.system, each.subject.test_set, "+".join(each.subject.references), each.subject.metric,
         point.date, point.score]
        for each in history.series
        for point in each.points
    ]  # fmt: skip


def tables_of(history: History) -> list[Table]:
    """For people: every series as a sparkline, lasting changes, and the runs with problems."""
    name, nightly_runs = history.schedule.name, history.nightly_runs
    if not nightly_runs:
        return [Table(SERIES_COLUMNS, [], empty=f"{name}: no run so far.")]
    first, last = nightly_runs[0].date, nightly_runs[-1].date
    title = f"{name}: {number_of(len(nightly_runs), 'run')}, {first} to {last}."
    told = [change for series in history.series for change in series.changes]
    notes = []
    if any(series.too_few for series in history.series) and not told:
        notes = [f"Too few runs to tell a change from noise: at least {FEWEST} with a score are needed."]
    elif history.series and not told:
        notes = ["No change that lasted."]
    found = [Table(SERIES_COLUMNS, [*map(_row, history.series)], title, notes=notes, empty="Nothing was measured.")]
    if told:
        columns = [Column(each.lower().replace(" ", "_"), each) for each in CHANGE_HEADER]
        found.append(Table(columns, [*map(change_row, told)], "Levels that lasted"))
    wrong = [[nightly_run.date, _state(nightly_run)] for nightly_run in nightly_runs if _state(nightly_run) != "fine"]
    if wrong:
        columns = [Column("run", "Run", Kind.NAME), Column("outcome", "What came of it")]
        found.append(Table(columns, wrong, "Runs with problems"))
    return found


def history_svg(history: History) -> str:
    """One SVG with a chart of every series, one below the other."""
    from campaigns.charts.series import charts_of_runs

    return charts_of_runs(history.series, title=history.schedule.name) + "\n"


def bars(scores: Sequence[float | None]) -> str:
    """Scores as bars between the lowest and the highest, a point where a run has none."""
    known = [score for score in scores if score is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if low == high:
        return "".join("·" if score is None else BARS[3] for score in scores)
    steps = len(BARS) - 1
    return "".join("·" if score is None else BARS[round(steps * (score - low) / (high - low))] for score in scores)


def _row(series: ScoreSeries) -> list[str]:
    scores = [point.score for point in series.points]
    known = [score for score in scores if score is not None]
    places = 2 if max(map(abs, known), default=0.0) >= 1 else 4
    numbers = [min(known), max(known), known[-1]] if known else []
    subject = series.subject
    return [
        subject.system,
        place_of(subject),
        series.title + ("" if series.higher_is_better else " ↓"),
        *([f"{number:.{places}f}" for number in numbers] or ["n/a"] * 3),
        bars(scores[-LONGEST_COURSE:]),
    ]


def _state(nightly_run: NightlyRunInfo) -> str:
    if nightly_run.state == NightlyRunState.DONE:
        return "regression" if nightly_run.regressed else "fine"
    return f"{nightly_run.state}: {nightly_run.reason}" if nightly_run.reason else str(nightly_run.state)
