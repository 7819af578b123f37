"""The history of a schedule as a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analysis.nightly.verdict import History


def history_svg(history: History) -> str:
    """One SVG with a chart of every series, one below the other."""
    from campaigns.charts.series import charts_of_runs

    return charts_of_runs(history.series, title=history.schedule.name) + "\n"
