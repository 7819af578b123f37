"""Correlation of stored metrics with human judgments, in every format of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.meta_evaluation.correlation_json import correlation_object
from analysis.meta_evaluation.correlation_text import explanations
from steelyard.tables import delimited, rendering
from steelyard.tables.correlation import TSV_COLUMNS, tables_of, tsv_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation
    from steelyard.tables.delimited import Cell


def rendered(found: Sequence[BoardCorrelation], form: str, width: int = 3) -> str:
    """All correlations; in JSON, CSV and TSV every statistic in full precision, in the latter two a row for each."""
    if form == "json":
        return rendering.as_json([correlation_object(each) for each in found])
    if form in ("tsv", "csv"):
        columns = ("campaign", "test_set", "version", "references", "human", *TSV_COLUMNS)
        rows = [row for each in found for row in data_rows(each)]
        return (delimited.as_tsv if form == "tsv" else delimited.as_csv)(columns, rows)
    tables = [table for each in found for table in tables_of(each, heading(each), width, explanations(each))]
    return rendering.render(tables, form, "Metrics and human judgments")


def heading(found: BoardCorrelation) -> str:
    """The heading of a table."""
    judged = found.judged
    return f"{judged.board.title}, human judgments {judged.human.title}, by {found.level}"


def data_rows(found: BoardCorrelation) -> list[tuple[Cell, ...]]:
    """A row for each metric and statistic; None where undefined. Tests stand with the first statistic."""
    listed = found.judged.board.listed
    references = "+".join(listed.references)
    begin = (listed.campaign, listed.test_set, listed.version, references, found.judged.human.title)
    return [(*begin, *row) for row in tsv_rows(found)]
