"""Correlations of metrics with human judgments as tables, sentences, JSON objects and rows for programs."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.meta_evaluation.correlation import SYSTEM
from steelyard.resampling.correction import TITLES
from steelyard.tables.table import Column, Estimate, Kind, Table
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard.meta_evaluation.correlation import (
        CorrelationTable,
        MetricRow,
        MetricTest,
    )
    from steelyard.tables.delimited import Cell


ALPHA = 0.05
FEW_SYSTEMS = 20
"""With fewer, a correlation of systems says little: of 20, r = 0.5 is seen as anything from 0.07 to 0.77."""


def against(table: CorrelationTable[Any]) -> str:
    """The metric that the others are tested against, and the statistic.

    Parameters
    ----------
    table : CorrelationTable[Any]

    Returns
    -------
    str
    """
    assert table.baseline is not None
    return f"{table.baseline.title}, {table.statistics[0].title}"


def agreement_table(table: CorrelationTable[Any], width: int, heading: str = "") -> Table:
    """A row for every metric: the statistics with their intervals, whose ends have one digit less.

    Parameters
    ----------
    table : CorrelationTable[Any]
    width : int
    heading : str, optional

    Returns
    -------
    Table
    """
    statistics = [
        Column(each.name, each.title, Kind.ESTIMATE, places=width, end_places=max(1, width - 1))
        for each in table.statistics
    ]
    columns = [Column("rank", "Rank", Kind.ID, missing="-"), Column("metric", "Metric", Kind.NAME), *statistics]
    rows = [
        [row.rank or None, row.metric.title, *(Estimate(each.value, each.interval) for each in row.agreements)]
        for row in table.rows
    ]
    return Table(columns, rows, heading)


def difference_table(table: CorrelationTable[Any], width: int, heading: str = "") -> Table:
    """A row for every metric but the baseline: its value minus the baseline's, and what the tests say.

    Parameters
    ----------
    table : CorrelationTable[Any]
    width : int
    heading : str, optional

    Returns
    -------
    Table
    """
    williams = any(row.test and not math.isnan(row.test.williams) for row in table.rows)
    corrected = table.asked.correction != "none"
    columns = [
        Column("metric", "Metric", Kind.NAME),
        Column("difference", "Difference", Kind.ESTIMATE, places=width, sign=True),
        Column("p", "p", Kind.P),
    ]
    columns += [Column("p_corrected", "Corrected p", Kind.P)] if corrected else []
    columns += [Column("williams_p", "Williams' p", Kind.P)] if williams else []
    columns += [Column("williams_p_corrected", "Corrected p", Kind.P)] if williams and corrected else []
    rows = []
    for row in table.rows:
        if (test := row.test) is None:
            continue
        interval = test.interval and (-test.interval[1], -test.interval[0])
        cells = [Estimate(-test.difference, interval), test.p, *([test.p_corrected] if corrected else [])]
        cells += [test.williams] if williams else []
        cells += [test.williams_corrected] if williams and corrected else []
        rows.append([row.metric.title, *cells, verdict(test)])
    return Table([*columns, Column("direction", "Direction")], rows, heading)


def tables_of(
    table: CorrelationTable[Any], heading: str, width: int, notes: Sequence[str] | None = None
) -> list[Table]:
    """The correlations and, where there are some, the tests; below them how they were made.

    Parameters
    ----------
    table : CorrelationTable[Any]
    heading : str
    width : int
    notes : sequence of str or None, optional

    Returns
    -------
    list of Table
    """
    found = [agreement_table(table, width, heading)]
    found += [difference_table(table, width, f"{heading}: against {against(table)}")] if table.tested else []
    return [*found[:-1], replace(found[-1], notes=explanations(table) if notes is None else notes)]


def verdict(test: MetricTest) -> str:
    """Whether the metric is better or worse than the baseline, with a star where the difference is significant.

    Parameters
    ----------
    test : MetricTest

    Returns
    -------
    str
    """
    if math.isnan(test.difference):
        return "n/a"
    word = "equal" if not test.difference else "worse" if test.difference > 0 else "better"
    return word + (" *" if test.p_corrected < ALPHA else "")


def explanations(table: CorrelationTable[Any], left_out: Iterable[tuple[Sequence[str], str]] = ()) -> list[str]:
    """The data and the method behind the numbers, a sentence each; `left_out` are names of systems, each with why.

    Parameters
    ----------
    table : CorrelationTable[Any]
    left_out : iterable of (sequence of str, str), optional

    Returns
    -------
    list of str
    """
    sentences = [_counts(table)]
    judged = table.judged
    turned = [row.metric.title for row in table.rows if not row.metric.higher_is_better]
    if turned:
        sentences.append(f"Less is better by {', '.join(turned)}: the scores were negated.")
    sentences += _intervals(table)
    if table.tested:
        everything = table.level == SYSTEM and 2 ** len(judged.systems) <= table.trials
        how = f"all {2 ** len(judged.systems):,} ways" if everything else f"{table.trials:,} trials, seed {judged.seed}"
        family = sum(row.test is not None for row in table.rows)
        corrected = "not corrected"
        if table.asked.correction != "none":
            corrected = f"corrected by {TITLES[table.asked.correction]} for {family} tests"
        sentences.append(
            f"p: permutation of the two metrics' scores ({how}), two-sided, {corrected}; "
            f"* {'p' if table.asked.correction == 'none' else 'corrected p'} below {ALPHA:g}."
        )
        least = (family if table.asked.correction == "holm" else 1) / (table.trials + 1)
        if not everything and least >= ALPHA:
            sentences.append(f"Note: {table.trials:,} trials cannot give a corrected p below {least:.2g}: use more.")
    if table.undefined:
        names = ", ".join(statistic.title for statistic in table.undefined)
        sentences.append(f"Not defined here: {names}{_why(table)}".removesuffix(".") + ".")
    sentences += [f"Left out, {why}: {', '.join(names)}." for names, why in left_out if names]
    systems = len(judged.systems)
    if table.level == SYSTEM and 1 < systems < FEW_SYSTEMS:
        sentences.append(
            f"CAUTION: {systems} systems are few. Correlations of so few change much from one set of systems to "
            "another: read the intervals, not the ranks."
        )
    return sentences


def _counts(table: CorrelationTable[Any]) -> str:
    """The number of systems, pairs or segments behind each statistic."""
    found = []
    for position, statistic in enumerate(table.statistics):
        counts = [row.agreements[position].counted for row in table.rows]
        span = f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
        unit = statistic.unit.removesuffix("s") if max(counts) == 1 else statistic.unit
        found.append((f"{span} {unit}", statistic.title))
    grouped: dict[str, list[str]] = {}
    for count, title in found:
        grouped.setdefault(count, []).append(title)
    shares = "; ".join(f"{count} ({', '.join(titles)})" for count, titles in grouped.items())
    return f"{number_of(len(table.judged.systems), 'system')} judged and scored" + (
        f". Counted: {shares}." if shares else "."
    )


def _intervals(table: CorrelationTable[Any]) -> list[str]:
    made: dict[tuple[str, int], list[str]] = {}
    for position, statistic in enumerate(table.statistics):
        agreement = table.rows[0].agreements[position]
        if agreement.resampled:
            made.setdefault((agreement.resampled, len(agreement.replicates)), []).append(statistic.title)
    shares = [
        f"{n:,} replicates that draw {what}" + (f" ({', '.join(titles)})" if len(made) > 1 else "")
        for (what, n), titles in made.items()
    ]
    if not shares:
        return []
    level, seed = 100 * table.asked.level, table.judged.seed
    return [f"{level:g} % intervals: percentiles of {', and of '.join(shares)}; seed {seed}."]


def _why(table: CorrelationTable[Any]) -> str:
    if table.level == SYSTEM:
        return "" if table.judged.has_segments else " (no scores of segments)"
    return " (no segment with two judged systems)" if all(each.unit != "cells" for each in table.undefined) else ""


def metric_objects(table: CorrelationTable[Any]) -> list[dict[str, Any]]:
    """The JSON object of each metric: full precision, null where undefined.

    Parameters
    ----------
    table : CorrelationTable[Any]

    Returns
    -------
    list of dict of str to object
    """
    return [_metric_object(table, row) for row in table.rows]


def _metric_object(table: CorrelationTable[Any], row: MetricRow) -> dict[str, Any]:
    statistics = []
    for statistic, agreement in zip(table.statistics, row.agreements, strict=True):
        interval = None
        if agreement.interval:
            low, high = agreement.interval
            n = len(agreement.replicates)
            interval = {
                "level": table.asked.level, "low": low, "high": high, "n": n, "resampled": agreement.resampled,
            }  # fmt: skip
        statistics.append(
            {
                "statistic": statistic.name,
                "value": _or_null(agreement.value),
                "n": agreement.counted,
                "unit": agreement.unit,
                "interval": interval,
            }
        )
    return {
        "metric": row.metric.specification,
        "title": row.metric.title,
        "higher_is_better": row.metric.higher_is_better,
        "rank": row.rank,
        "statistics": statistics,
        "test": _test_object(table, row.test) if row.test else None,
    }


def _test_object(table: CorrelationTable[Any], test: MetricTest) -> dict[str, Any]:
    """The metric against the baseline; `difference` is the metric's value minus the baseline's."""
    assert table.baseline is not None
    interval = None
    if test.interval:
        interval = {"level": table.asked.level, "low": -test.interval[1], "high": -test.interval[0]}
    return {
        "against": table.baseline.specification,
        "statistic": table.statistics[0].name,
        "difference": _or_null(-test.difference),
        "interval": interval,
        "trials": table.trials,
        "p": _or_null(test.p),
        "p_corrected": _or_null(test.p_corrected),
        "correction": table.asked.correction,
        "williams_p": _or_null(test.williams),
        "williams_p_corrected": _or_null(test.williams_corrected),
    }


def _or_null(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


TSV_COLUMNS = (
    *("level", "metric", "rank", "statistic", "value", "n", "unit", "low", "high", "interval_level", "resampled"),
    *("against", "difference", "p", "p_corrected", "correction", "williams_p", "williams_p_corrected"),
)


def tsv_rows(table: CorrelationTable[Any]) -> Iterator[tuple[Cell, ...]]:
    """What TSV_COLUMNS names, for each metric and statistic; None or NaN where undefined.

    Parameters
    ----------
    table : CorrelationTable[Any]
    """
    for row in table.rows:
        for place, (statistic, agreement) in enumerate(zip(table.statistics, row.agreements, strict=True)):
            cells: list[Cell] = [table.level, row.metric.specification, row.rank, statistic.name, agreement.value]
            cells += [agreement.counted, agreement.unit, *(agreement.interval or (None, None))]
            cells += [table.asked.level, agreement.resampled] if agreement.interval else [None, None]
            test = row.test if place == 0 else None
            if test and table.baseline:
                cells += [table.baseline.specification, -test.difference, test.p, test.p_corrected]
                cells += [table.asked.correction, test.williams, test.williams_corrected]
            else:
                cells += [None] * 7
            yield tuple(cells)
