"""Correlation of metrics with human judgments as a page and as a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.meta_evaluation.correlation_text import explanations
from campaigns.charts import scatter
from campaigns.reports.agreement import agreement_body
from campaigns.reports.page import render_page
from campaigns.reports.scatters import scatters_body
from campaigns.reports.section import Section
from steelyard.commands.errors import CommandError
from steelyard.commands.notices import note
from steelyard.commands.writing import write_file
from steelyard.meta_evaluation.correlation import SYSTEM
from steelyard.tables.correlation import against, agreement_table, difference_table
from steelyard.tables.formatting import TYPESET

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation
    from steelyard.tables.table import Table


def page(tables: Sequence[BoardCorrelation], width: int) -> str:
    """A self-contained HTML page: every table, and scatter plots of every metric against human scores."""
    sections = []
    for number, table in enumerate(tables, 1):
        body = agreement_body(
            lines_of(agreement_table(table, width)),
            lines_of(difference_table(table, width)) if table.tested else [],
            explanations(table),
            statistic=table.statistics[0].title if table.statistics else "nothing: no statistic is defined",
            against=against(table) if table.tested else "",
        )
        sections.append(Section(f"agreement-{number}", _heading(table), body))
        if table.level == SYSTEM:
            judged = table.judged
            metrics = {
                row.metric.title: (row.metric.systems if row.metric.higher_is_better else -row.metric.systems).tolist()
                for row in table.rows
            }
            human = {f"human scores ({judged.human.title})": judged.human_systems.tolist()}
            scatters = scatters_body(judged.systems, metrics, human)
            sections.append(Section(f"scatters-{number}", f"{judged.board.title}: metrics and people", scatters))
    return render_page("Metrics against people", sections)


def _heading(found: BoardCorrelation) -> str:
    judged = found.judged
    return f"{judged.board.title}, human judgments {judged.human.title}, by {found.level}"


def draw(tables: Sequence[BoardCorrelation], file: Path) -> None:
    """Plot the first system-level table: its best metric against human scores. Raises CommandError."""
    table = next((table for table in tables if table.level == SYSTEM), None)
    if table is None:
        raise CommandError(
            "There is nothing to plot: a plot shows systems, and nothing was compared by system. Leave out "
            "--granularity segment, or import human scores of systems."
        )
    if len(tables) > 1:
        note(
            [f"{file} shows {table.judged.board.title}, {table.rows[0].metric.title}; see --references and --metrics."]
        )
    judged, metric = table.judged, table.rows[0].metric
    values = metric.systems if metric.higher_is_better else -metric.systems
    points = list(zip(judged.systems, values.tolist(), judged.human_systems.tolist(), strict=True))
    title = f"{judged.board.title}: {metric.title} and people"
    write_file(file, scatter(points, metric.title, f"human scores ({judged.human.title})", title=title))


def lines_of(table: Table) -> list[list[str]]:
    """The table as people read it, under its header."""
    return [table.header(), *table.cells(TYPESET)]
