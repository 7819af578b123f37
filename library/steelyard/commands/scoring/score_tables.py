"""The result of `score` as tables for people."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.tables.formatting import PLAIN
from steelyard.tables.table import Column, Estimate, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.commands.scoring.score_result import Result, SystemScore

SHOWN = "Scores are shown with ± s_opt."
SYSTEM = Column("system", "System", Kind.NAME)


def all_tables(result: Result) -> list[Table]:
    """All requested tables: scores, runs, paired tests, segments, GTM's runs of words, further figures.

    Parameters
    ----------
    result : Result

    Returns
    -------
    list of Table
    """
    found = [score_table(result)]
    if result.has_runs:
        found.append(run_table(result))
    if result.tests:
        from steelyard.tables import paired_tests

        found += paired_tests.tables_of(result.tests, result.options.width)
    if any(metric.measurement.segment_scores is not None for metric in result.metrics):
        found.append(segment_table(result))
    return [*found, *tables_of_words(result), *detail_tables(result)]


def score_table(result: Result) -> Table:
    """A row per system: its scores, s_opt where there are runs, intervals; the best ones are stressed.

    Parameters
    ----------
    result : Result

    Returns
    -------
    Table
    """
    columns = [SYSTEM]
    for metric in result.metrics:
        higher, title = metric.measurement.metric.higher_is_better, metric.measurement.metric.title
        columns.append(Column(metric.name, title, Kind.ESTIMATE, places=metric.places, higher_is_better=higher))
    rows = [
        [name, *(estimate(metric.systems[place]) for metric in result.metrics)]
        for place, name in enumerate(result.names)
    ]
    best = frozenset(
        (place, number)
        for number, metric in enumerate(result.metrics, 1)
        for place, found in enumerate(metric.systems)
        if found.score == metric.best
    )
    notes = [result.intervals] if result.intervals else []
    return Table(columns, rows, "Scores", notes=notes, best=best, starred=differing(result))


def estimate(found: SystemScore) -> Estimate:
    """Score, s_opt where it is known, interval.

    Parameters
    ----------
    found : SystemScore

    Returns
    -------
    Estimate
    """
    spread = found.spread.optimization if found.spread else math.nan
    return Estimate(found.score, found.interval, None if math.isnan(spread) else spread)


def differing(result: Result) -> frozenset[tuple[int, int]]:
    """The cells of systems that differ from the baseline beyond chance.

    Parameters
    ----------
    result : Result

    Returns
    -------
    frozenset of (int, int)
    """
    tests = result.tests
    if tests is None or tests.baseline is None:
        return frozenset()
    return frozenset((found.b, found.metric + 1) for found in tests.results if tests.significant(found))


def run_table(result: Result) -> Table:
    """For every system with runs a row per metric: s_sel, s_opt and each run's score.

    Parameters
    ----------
    result : Result

    Returns
    -------
    Table
    """
    from steelyard.tables import paired_tests

    columns = [SYSTEM, Column("runs", "Runs", Kind.COUNT), Column("metric", "Metric")]
    columns += paired_tests.RUN_COLUMNS
    rows = []
    for place, system in enumerate(result.inputs.systems):
        for metric in result.metrics if system.runs is not None else ():
            found = metric.systems[place]
            assert found.spread, "given as runs"
            scores = [metric.shown(metric.measurement.scores[output]) for output in system.outputs]
            # The decimals are those of the metric.
            numbers = [
                metric.shown(value) for value in (found.score, found.spread.selection, found.spread.optimization)
            ]
            rows.append([system.name, len(scores), metric.measurement.metric.title, *numbers, ", ".join(scores)])
    single = any(system.runs is not None and len(system.runs) == 1 for system in result.inputs.systems)
    selection = [] if result.options.confidence else ["s_sel needs bootstrap replicates: --confidence."]
    notes = [f"{paired_tests.RUN_SPREADS} {SHOWN}", *selection, *([paired_tests.ONE_RUN] if single else [])]
    return Table(columns, rows, "Runs", notes=notes)


def segment_table(result: Result) -> Table:
    """Every segment's scores, one row per segment and output.

    Parameters
    ----------
    result : Result

    Returns
    -------
    Table
    """
    measured = [metric for metric in result.metrics if metric.measurement.segment_scores is not None]
    columns = [Column("segment", "Segment", Kind.NAME), SYSTEM]
    columns += [Column(each.name, each.measurement.metric.title, Kind.NUMBER, places=each.places) for each in measured]
    rows = []
    for segment in range(result.inputs.references[0].segments):
        for output, label in enumerate(result.inputs.labels):
            scores = []
            for metric in measured:
                assert metric.measurement.segment_scores is not None
                scores.append(float(metric.measurement.segment_scores[output, segment]))
            rows.append([str(segment + 1), label, *scores])
    return Table(columns, rows, "Segments")


def tables_of_words(result: Result) -> Iterator[Table]:
    """The runs of words of every GTM, one row each.

    Parameters
    ----------
    result : Result
    """
    from steelyard.commands.scoring.runs import COLUMNS

    titles = ("Segment", "System", "Size", "Place", "Reference", "Place there", "Words")
    columns = [Column(key, title) for key, title in zip(COLUMNS, titles, strict=True)]
    for metric in result.metrics if result.runs else ():
        assert result.runs is not None
        rows = list(result.runs.rows(metric.measurement.metric, result.inputs.labels))
        if rows:
            yield Table(columns, rows, f"Runs of {metric.measurement.metric.title}")


def detail_tables(result: Result) -> Iterator[Table]:
    """A table of further figures for each metric that has some.

    Parameters
    ----------
    result : Result
    """
    for metric in result.metrics:
        measurement = metric.measurement
        details = [measurement.metric.details(each) for each in measurement.sums]
        table = detail_table(result.inputs.labels, details, result.options.width)
        if table.rows:
            yield replace(table, title=f"Further figures of {measurement.metric.title}")


def detail_table(systems: Sequence[str], details: Sequence[Mapping[str, float]], digits: int = 1) -> Table:
    """A row for each system and a column for each figure, such as precisions; without rows where there are none.

    Counts are shown as they are, other figures with two digits more than scores, because most are shares. A figure
    that only some systems have stays empty for the others.

    Parameters
    ----------
    systems : sequence of str
    details : sequence of mapping of str to float
    digits : int, optional

    Returns
    -------
    Table
    """
    names = list(dict.fromkeys(name for each in details for name in each))
    whole = {name: all(float(each[name]).is_integer() for each in details if name in each) for name in names}
    columns = [Column(name, name, Kind.NUMBER, places=0 if whole[name] else digits + 2) for name in names]
    rows = [[system, *map(each.get, names)] for system, each in zip(systems, details, strict=True)]
    return Table([SYSTEM, *columns], rows if names else [])


def signatures(result: Result) -> list[str]:
    """Each metric with its signature.

    Parameters
    ----------
    result : Result

    Returns
    -------
    list of str
    """
    return [f"{metric.measurement.metric.title}|{metric.signature}" for metric in result.metrics]


def bare_scores(result: Result) -> str:
    """The scores alone, a line per system: what `-b` prints.

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
    """
    rows = zip(
        *([PLAIN.number(found.score, metric.places) for found in metric.systems] for metric in result.metrics),
        strict=True,
    )
    return "".join(" ".join(row) + "\n" for row in rows)
