"""Correlation of metrics with human judgments as text, JSON, TSV and LaTeX."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from analysis.meta_evaluation.correlation_json import correlation_object
from analysis.meta_evaluation.correlation_text import explanations
from steelyard.tables import delimited
from steelyard.tables.correlation import TSV_COLUMNS, against, agreement_rows, test_rows, tsv_rows
from steelyard.tables.latex import booktabs, comments, escaped
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation


def as_text(table: BoardCorrelation, width: int = 3) -> str:
    """The table, the tests, and how they were made."""
    parts = [heading(table) + "\n" + aligned(agreement_rows(table, width))]
    if table.tested:
        parts.append(f"Against {against(table)}\n" + aligned(test_rows(table, width)))
    return "\n".join([*parts, "".join(f"{sentence}\n" for sentence in explanations(table))])


def heading(table: BoardCorrelation) -> str:
    """The heading of a table."""
    judged = table.judged
    return f"{judged.board.title}, human judgments {judged.human.title}, by {table.level}"


def as_json(tables: Sequence[BoardCorrelation]) -> str:
    """All tables with numbers at full precision, null where undefined."""
    return (
        json.dumps([correlation_object(table) for table in tables], indent=1, ensure_ascii=False, allow_nan=False)
        + "\n"
    )


def as_tsv(tables: Sequence[BoardCorrelation]) -> str:
    """One row for each table, metric and statistic; empty where undefined. Tests stand with the first statistic."""
    rows = []
    for table in tables:
        listed = table.judged.board.listed
        begin = (
            listed.campaign,
            listed.test_set,
            listed.version,
            "+".join(listed.references),
            table.judged.human.title,
        )
        rows += [(*begin, *row) for row in tsv_rows(table)]
    return delimited.as_tsv(("campaign", "test_set", "version", "references", "human", *TSV_COLUMNS), rows)


def as_latex(table: BoardCorrelation, width: int = 3) -> str:
    """One or two tables in booktabs' style, then how they were made, as comments."""
    rows = [[escaped(cell) for cell in row] for row in agreement_rows(table, width)]
    tables = [booktabs(rows, "rl" + "r" * len(table.statistics), heading(table))]
    if table.tested:
        rows = [[escaped(cell) for cell in row] for row in test_rows(table, width)]
        tables.append(
            booktabs(rows, "l" + "r" * (len(rows[0]) - 2) + "l", f"{heading(table)}: against {against(table)}")
        )
    return "\n".join(tables) + comments(explanations(table))
