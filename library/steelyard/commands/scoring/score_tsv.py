"""The result of `score` as tables of tab-separated values at full precision, with a blank line between tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.scoring import runs
from steelyard.tables.delimited import as_tsv
from steelyard.tables.paired_test_rows import TSV_COLUMNS, tsv_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard.commands.scoring.score_result import Result
    from steelyard.tables.delimited import Cell

COLUMNS = (
    *("system", "metric", "segment", "score", "low", "high", "level", "signature"),
    *("run", "s_sel", "s_opt"),
)


def render(result: Result) -> str:
    """All tables, with a blank line between them.

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
    """
    return "\n".join(as_tsv(columns, rows) for columns, rows in tables(result))


def tables(result: Result) -> Iterator[tuple[Sequence[str], Iterable[Iterable[Cell]]]]:
    """The scores; the paired tests; the runs of words that GTM took: of each the columns and the rows.

    Parameters
    ----------
    result : Result
    """
    yield COLUMNS, score_rows(result)
    if result.tests:
        yield TSV_COLUMNS, tsv_rows(result.tests)
    if result.runs:
        rows = (
            (metric.name, *row)
            for metric in result.metrics
            for row in result.runs.rows(metric.measurement.metric, result.inputs.labels)
        )
        yield ("metric", *runs.COLUMNS), rows


def score_rows(result: Result) -> Iterator[tuple[Cell, ...]]:
    """What COLUMNS names: a row per system and metric, below it one for each run, below that one for each segment.

    Segments count from 1; undefined numbers are NaN or None.

    Parameters
    ----------
    result : Result
    """
    for place, system in enumerate(result.inputs.systems):
        for metric in result.metrics:
            found, measurement = metric.systems[place], metric.measurement
            low, high = found.interval or (None, None)
            level = result.options.level if found.interval else None
            spread = (found.spread.selection, found.spread.optimization) if found.spread else (None, None)
            begin = (system.name, metric.name)
            yield (*begin, None, found.score, low, high, level, metric.signature, None, *spread)
            for number, output in enumerate(system.outputs):
                run = "" if system.runs is None else system.runs[number]
                end = None, None, None, metric.signature, run, None, None
                if run:
                    yield (*begin, None, float(measurement.scores[output]), *end)
                if measurement.segment_scores is not None:
                    for segment, value in enumerate(measurement.segment_scores[output].tolist(), 1):
                        yield (*begin, segment, value, *end)
