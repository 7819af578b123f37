"""Paired tests as JSON objects and rows for programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steelyard.tables.delimited import Cell
    from steelyard.tables.paired_tests import PairedTests

TSV_COLUMNS = (
    *("a", "b", "metric", "test", "difference", "p", "p_corrected", "correction"),
    *("low", "high", "level", "direction"),
)


def as_objects(tests: PairedTests) -> list[dict[str, Any]]:
    """For JSON: numbers at full precision, null where undefined.

    Parameters
    ----------
    tests : PairedTests

    Returns
    -------
    list of dict of str to object
    """
    return [
        {
            "a": tests.systems[result.a],
            "b": tests.systems[result.b],
            "metric": tests.metrics[result.metric].name,
            "test": tests.test,
            "n": tests.draws,
            "seed": tests.seed,
            **({} if tests.unit == "segment" else {"resample": tests.unit}),
            "difference": _number(result.difference),
            "interval": result.interval
            and {
                "level": tests.level,
                "low": result.interval[0],
                "high": result.interval[1],
                "n": tests.replicates,
                "kind": tests.interval,
            },
            "p": _number(result.p),
            "p_corrected": None if tests.correction == "none" else _number(result.p_corrected),
            "correction": tests.correction,
            "direction": tests.direction(result),
            "same_output": (result.a, result.b) in tests.same_output,
        }
        for result in tests.results
    ]


def tsv_rows(tests: PairedTests) -> list[tuple[Cell, ...]]:
    """What TSV_COLUMNS names, for every test; None or NaN where undefined.

    Parameters
    ----------
    tests : PairedTests

    Returns
    -------
    list of tuple of Cell
    """
    rows: list[tuple[Cell, ...]] = []
    for result in tests.results:
        low, high = result.interval or (None, None)
        rows.append(
            (
                *(tests.systems[result.a], tests.systems[result.b], tests.metrics[result.metric].name, tests.test),
                *(result.difference, result.p, None if tests.correction == "none" else result.p_corrected),
                *(tests.correction, low, high, tests.level if result.interval else None, tests.direction(result)),
            )
        )
    return rows


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
