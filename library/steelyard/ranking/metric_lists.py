"""The metrics of each language pair or test set, as a table lists them, and what each weighs in AutoRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.errors import BadText

if TYPE_CHECKING:
    from collections.abc import Iterable

HEADINGS = ("pair", "test_set")


@dataclass(frozen=True)
class MetricList:
    """Metrics in their order."""

    names: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    """Of each of them in AutoRank; empty where all weigh the same."""


def parse_metric_lists(lines: Iterable[str], where: str, *, for_all: bool = False) -> dict[str, MetricList]:
    """The metrics of each pair or test set.

    Parameters
    ----------
    lines : iterable of str
        Each a pair or test set, a tab and a metric; behind them more metrics, or a weight. A first line may have
        headings.
    where : str
        What errors call the table.
    for_all : bool
        Whether a line may be a metric alone: it is for "", all that the table does not name.

    Returns
    -------
    dict of str to MetricList

    Raises
    ------
    BadText
    """
    found: dict[str, dict[str, float | None]] = {}
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.split("\t")]
        if not line.strip() or (number == 1 and cells[0] in HEADINGS and cells[1:2] == ["metric"]):
            continue
        weight = _weight(cells[-1])
        if weight is not None:
            del cells[-1]
        if for_all and len(cells) == 1:
            cells.insert(0, "")
        name, *metrics = cells or [""]
        metrics = [metric for metric in metrics if metric]
        if not metrics or not (name or for_all) or (weight is not None and len(metrics) > 1):
            raise BadText(
                f"{where}, line {number}: a line is a language pair or test set, a tab, and the name of a metric, "
                "which may be followed by a tab and its weight."
            )
        known = found.setdefault(name, {})
        for metric in metrics:
            known.setdefault(metric, weight)
    return {name: _listed(name, metrics, where) for name, metrics in found.items()}


def _weight(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _listed(name: str, metrics: dict[str, float | None], where: str) -> MetricList:
    weights = tuple(weight for weight in metrics.values() if weight is not None)
    if weights and len(weights) < len(metrics):
        missing = next(metric for metric, weight in metrics.items() if weight is None)
        raise BadText(
            f"{where}: {missing} has no weight{f' for {name}' if name else ''}. Give one to each, or to none."
        )
    return MetricList(tuple(metrics), weights)
