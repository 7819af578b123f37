"""The runs of words that GTM took, as `score --runs` and `mtrics -v -g` show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from steelyard.metrics.parameters import show_number
from steelyard.text.names import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.metrics.alignment.gtm import GTM, Run
    from steelyard.metrics.contract import MetricContract
    from steelyard.metrics.segments import Segments

COLUMNS = ("segment", "system", "size", "place", "reference", "reference_place", "words")


class TakenRuns:
    """The runs of every GTM among some metrics; segments, references and places are shown from 1 on.

    Parameters
    ----------
    metrics : sequence of MetricContract
    """

    def __init__(self, metrics: Sequence[MetricContract]) -> None:
        self._runs: dict[MetricContract, list[list[list[Run]]]] = {
            metric: [] for metric in metrics if metric.name == "gtm"
        }

    def __bool__(self) -> bool:
        return bool(self._runs)

    def add(self, segments: Segments) -> None:
        """Add the runs of one shard; shards must come in order.

        Parameters
        ----------
        segments : Segments
        """
        for metric, systems in self._runs.items():
            systems += [[] for _ in segments.hypotheses[len(systems) :]]
            for known, more in zip(systems, cast("GTM", metric).runs(segments), strict=True):
                known += more

    def of(self, metric: MetricContract, system: int) -> list[list[Run]] | None:
        """By segment; None for a metric that is not GTM.

        Parameters
        ----------
        metric : MetricContract
        system : int

        Returns
        -------
        list of list of Run or None
        """
        return self._runs[metric][system] if metric in self._runs else None

    def rows(self, metric: MetricContract, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """What COLUMNS names, for every run of one metric by segment and system; nothing where it is not GTM.

        Parameters
        ----------
        metric : MetricContract
        names : sequence of str
        """
        for segment, systems in enumerate(zip(*self._runs.get(metric, ()), strict=True), 1):
            for name, runs in zip(names, systems, strict=True):
                for run in runs:
                    places = (run.place + 1, run.reference + 1, run.reference_place + 1)
                    numbers = (show_number(run.size), *map(str, places))
                    yield (str(segment), name, *numbers, shown_words(run))


def shown_words(run: Run) -> str:
    """The words of a run, with terminal control characters escaped.

    Parameters
    ----------
    run : Run

    Returns
    -------
    str
    """
    return printable(" ".join(run.words))


def as_json(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """The runs of one segment in the order in which they were taken.

    Parameters
    ----------
    runs : sequence of Run

    Returns
    -------
    list of dict of str to object
    """
    return [
        {
            "size": int(run.size) if run.size.is_integer() else run.size,
            "place": run.place + 1,
            "reference": run.reference + 1,
            "reference_place": run.reference_place + 1,
            "words": list(run.words),
        }
        for run in runs
    ]
