"""The history of a schedule: series of scores with lasting changes, as text, JSON or SVG."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from analysis.nightly.text import place_of
from cli.nightly.changes import CHANGE_HEADER, change_row
from models.schema.states import NightlyRunState
from steelyard.resampling.change_points import FEWEST
from steelyard.tables.text import aligned
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.nightly.series import ScoreSeries
    from analysis.nightly.verdict import History
    from models.nightly.runs import NightlyRunInfo

BARS = "▁▂▃▄▅▆▇█"
LONGEST_COURSE = 60
"""Runs in a line of bars."""


def history_text(history: History) -> str:
    """Text for a terminal: every series as a sparkline, lasting changes, and the runs with problems."""
    name, nightly_runs = history.schedule.name, history.nightly_runs
    if not nightly_runs:
        return f"{name}: no run so far.\n"
    first, last = nightly_runs[0].date, nightly_runs[-1].date
    text = f"{name}: {number_of(len(nightly_runs), 'run')}, {first} to {last}.\n"
    if history.series:
        text += "\n" + aligned([["System", "Test set", "Metric", "Lowest", "Highest", "Last", "Runs"],
                                *map(_row, history.series)])  # fmt: skip
    told = [change for series in history.series for change in series.changes]
    if told:
        text += "\nLevels that lasted\n" + aligned([CHANGE_HEADER, *map(change_row, told)])
    elif any(series.too_few for series in history.series):
        text += f"\nToo few runs to tell a change from noise: at least {FEWEST} with a score are needed.\n"
    elif history.series:
        text += "\nNo change that lasted.\n"
    wrong = [[nightly_run.date, _state(nightly_run)] for nightly_run in nightly_runs if _state(nightly_run) != "fine"]
    if wrong:
        text += "\n" + aligned([["Run", "What came of it"], *wrong])
    return text


def history_json(history: History) -> str:
    """Everything, numbers at full precision; docs/reference/regressions.md describes it."""
    return json.dumps(history.as_json(), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


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
