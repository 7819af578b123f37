"""Correlation of metrics with human judgments as text, JSON, TSV and LaTeX."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

from analysis.meta_evaluation.correlation_json import correlation_object
from analysis.meta_evaluation.correlation_text import ALPHA, explanations
from steelyard.tables import delimited
from steelyard.tables.latex import booktabs, comments, escaped
from steelyard.tables.paired_tests import shown_p, shown_signed
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation
    from steelyard.meta_evaluation.correlation import Correlation, MetricTest
    from steelyard.tables.delimited import Cell

TSV_COLUMNS = (
    *("campaign", "test_set", "version", "references", "human", "level", "metric", "rank", "statistic", "value", "n"),
    *("unit", "low", "high", "interval_level", "resampled", "against", "difference", "p", "p_corrected", "correction"),
    *("williams_p", "williams_p_corrected"),
)


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


def against(table: BoardCorrelation) -> str:
    """The metric that the others are tested against, and the statistic."""
    assert table.baseline is not None
    return f"{table.baseline.title}, {table.statistics[0].title}"


def agreement_rows(table: BoardCorrelation, width: int) -> list[list[str]]:
    """A header, then a row for every metric."""
    rows = [["Rank", "Metric", *(statistic.title for statistic in table.statistics)]]
    for row in table.rows:
        cells = [shown(agreement, width) for agreement in row.agreements]
        rows.append([str(row.rank) if row.rank else "-", row.metric.title, *cells])
    return rows


def shown(agreement: Correlation, width: int) -> str:
    """The value and its interval, whose ends have one digit less."""
    if math.isnan(agreement.value):
        return "n/a"
    value = number(agreement.value, width)
    if agreement.interval is None:
        return value
    low, high = (number(end, max(1, width - 1)) for end in agreement.interval)
    return f"{value} [{low}, {high}]"


def number(value: float, width: int) -> str:
    """With so many digits, and no sign on what is shown as zero."""
    text = f"{value:.{width}f}"
    return text if float(text) else text.removeprefix("-")


def test_rows(table: BoardCorrelation, width: int) -> list[list[str]]:
    """A header, then a row for every metric but the baseline."""
    williams = any(row.test and not math.isnan(row.test.williams) for row in table.rows)
    corrected = table.asked.correction != "none"
    header = ["Metric", "Difference", "p", *(["Corrected p"] if corrected else [])]
    header += ["Williams' p", *(["Corrected p"] if corrected else [])] if williams else []
    rows = [[*header, ""]]
    for row in table.rows:
        if row.test is None:
            continue
        test = row.test
        cells = [shown_difference(test, width), shown_p(test.p), *([shown_p(test.p_corrected)] if corrected else [])]
        if williams:
            cells += [shown_p(test.williams), *([shown_p(test.williams_corrected)] if corrected else [])]
        rows.append([row.metric.title, *cells, verdict(test)])
    return rows


def shown_difference(test: MetricTest, width: int) -> str:
    """The metric's value minus the baseline's, and the interval."""
    text = shown_signed(-test.difference, width)
    if test.interval is None:
        return text
    return f"{text} [{shown_signed(-test.interval[1], width)}, {shown_signed(-test.interval[0], width)}]"


def verdict(test: MetricTest) -> str:
    """Whether the metric is better or worse than the baseline, with a star where the difference is significant."""
    if math.isnan(test.difference):
        return "n/a"
    word = "equal" if not test.difference else "worse" if test.difference > 0 else "better"
    return word + (" *" if test.p_corrected < ALPHA else "")


def as_json(tables: Sequence[BoardCorrelation]) -> str:
    """All tables with numbers at full precision, null where undefined."""
    return (
        json.dumps([correlation_object(table) for table in tables], indent=1, ensure_ascii=False, allow_nan=False)
        + "\n"
    )


def as_tsv(tables: Sequence[BoardCorrelation]) -> str:
    """One row for each table, metric and statistic; empty where undefined. Tests stand with the first statistic."""
    rows: list[list[Cell]] = []
    for table in tables:
        listed = table.judged.board.listed
        begin = [listed.campaign, listed.test_set, listed.version, "+".join(listed.references)]
        begin += [table.judged.human.title, table.level]
        for row in table.rows:
            for position, (statistic, agreement) in enumerate(zip(table.statistics, row.agreements, strict=True)):
                cells: list[Cell] = [row.metric.specification, row.rank or None, statistic.name, agreement.value]
                cells += [agreement.counted, agreement.unit, *(agreement.interval or (None, None))]
                cells += [table.asked.level, agreement.resampled] if agreement.interval else [None, None]
                test = row.test if position == 0 else None
                if test and table.baseline:
                    cells += [table.baseline.specification, -test.difference, test.p]
                    cells += [test.p_corrected, table.asked.correction, test.williams, test.williams_corrected]
                else:
                    cells += [None] * 7
                rows.append([*begin, *cells])
    return delimited.as_tsv(TSV_COLUMNS, rows)


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
