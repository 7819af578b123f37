"""Which corpus statistics metrics need, and counting them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.errors import MissingState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.metrics.contract import MetricContract
    from steelyard.metrics.corpus_statistics import CorpusStatistics
    from steelyard.metrics.segments import Segments


def needed_statistics(metrics: Iterable[MetricContract]) -> dict[str, CorpusStatistics]:
    """What these metrics need to have counted.

    Parameters
    ----------
    metrics : iterable of Metric

    Returns
    -------
    dict of str to CorpusStatistics
        By key.
    """
    needed = (metric.corpus_statistics for metric in metrics)
    return {each.key: each for each in needed if each is not None}


def corpus_statistics_of(metric: MetricContract, key: str) -> CorpusStatistics:
    """The corpus statistics of a key that was stored with a task.

    Parameters
    ----------
    metric : Metric
    key : str
        `CorpusStatistics.key`.

    Returns
    -------
    CorpusStatistics

    Raises
    ------
    MissingState
        Where the metric of this release has none or another.
    """
    corpus_statistics = metric.corpus_statistics
    if corpus_statistics is None or corpus_statistics.key != key:
        raise MissingState(
            f'{metric.specification} does not need "{key}" of the references in this release. '
            "Queue the evaluation again, and what it does need is counted."
        )
    return corpus_statistics


def states_of(metrics: Iterable[MetricContract], segments: Segments, shard_size: int | None = None) -> dict[str, Any]:
    """The states that metrics need, counted in all segments of the references.

    Parameters
    ----------
    metrics : iterable of Metric
    segments : Segments
        The whole test set.
    shard_size : int, optional
        The references are counted in runs of so many segments, and only one of these is cut into words at a time.

    Returns
    -------
    dict of str to Any
        By key, as `CorpusStatistics.read` gives them.
    """
    return {
        key: each.state_of(segments)
        if shard_size is None
        else each.read(each.merge(map(each.count, segments.cut(shard_size))))
        for key, each in needed_statistics(metrics).items()
    }
