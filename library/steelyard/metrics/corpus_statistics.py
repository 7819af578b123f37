"""What some metrics must know of all references before they can score a segment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from steelyard.errors import MissingState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.metrics.metric import Metric
    from steelyard.metrics.segments import Segments


class CorpusStatistics(ABC):
    """How a metric's state is made from the whole reference side, part by part.

    Parts are made from shards of the references by workers that do not know each other, and merged by any of them.
    The state is the same to the byte however the references were cut and whatever order parts and references come in.
    Parts and states are portable bytes that say their format: they are stored, and read by later releases. Equal
    corpus statistics have equal keys and share one state for each set of references. Subclasses are frozen dataclasses.
    """

    cost: ClassVar[float] = 1.0
    """Estimated microseconds per segment and reference, for the size of shards."""

    @property
    @abstractmethod
    def key(self) -> str:
        """All that the state depends on beside the references, e.g. `ngram-information:order<=5:tok=13a:case=lc`."""

    @abstractmethod
    def count(self, segments: Segments) -> bytes:
        """What a shard of the references contributes; it does not look at hypotheses."""

    @abstractmethod
    def merge(self, parts: Iterable[bytes]) -> bytes:
        """The state of all references, from the parts of shards that cover each segment once.

        Raises BadState, and TooLarge as soon as enough parts are read to know it.
        """

    @abstractmethod
    def read(self, state: bytes) -> Any:
        """The state as the metric uses it, which `Segments.state` hands out. Raises BadState."""

    def state_of(self, segments: Segments) -> Any:
        """As `read` gives it, from all segments of the references; without bytes on the way where that is less."""
        return self.read(self.merge([self.count(segments)]))


def needed_statistics(metrics: Iterable[Metric]) -> dict[str, CorpusStatistics]:
    """What these metrics need, by key."""
    needed = (metric.corpus_statistics for metric in metrics)
    return {each.key: each for each in needed if each is not None}


def corpus_statistics_of(metric: Metric, key: str) -> CorpusStatistics:
    """The corpus statistics of that key. Raises MissingState where the metric of this release has none or another."""
    corpus_statistics = metric.corpus_statistics
    if corpus_statistics is None or corpus_statistics.key != key:
        raise MissingState(
            f'{metric.specification} does not need "{key}" of the references in this release. '
            "Queue the evaluation again, and what it does need is counted."
        )
    return corpus_statistics


def states_of(metrics: Iterable[Metric], segments: Segments, shard_size: int | None = None) -> dict[str, Any]:
    """The states that metrics need, by key, from all segments of the references.

    With a `shard_size` they are counted in runs of so many segments, and only one of these is cut into words at a time.
    """
    return {
        key: each.state_of(segments)
        if shard_size is None
        else each.read(each.merge(map(each.count, segments.cut(shard_size))))
        for key, each in needed_statistics(metrics).items()
    }
