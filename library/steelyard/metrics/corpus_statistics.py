"""What some metrics must know of all references before they can score a segment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from steelyard.errors import MissingState
from steelyard.metrics.spill_buffer import SetAside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from steelyard.metrics.metric import Metric
    from steelyard.metrics.segments import Segments


class CorpusStatistics(ABC):
    """How a metric's state is made from the whole reference side, part by part.

    Parts are made from shards of the references by workers that do not know each other, and merged by any of them.
    The state is the same to the byte however the references were cut and whatever order parts and references come in;
    in chapters it says the same.
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
    def merge(self, parts: Sequence[bytes]) -> bytes:
        """The state of all references, from the parts of shards that cover each segment once."""

    @abstractmethod
    def read(self, state: bytes) -> Any:
        """The state as the metric uses it, which `Segments.state` hands out. Raises BadState."""

    def merge_in_chapters(self, parts: Sequence[Iterable[bytes]], write: Callable[[int, bytes], None]) -> list[int]:
        """As `merge`, where the state of large references should be in chapters: by part the number of its chapter.

        A chapter has all that is to be known to score the segments of its parts, which follow one another; so memory
        need not grow with the references. Parts come in pieces; `write` is given a chapter's number and its next
        bytes. Where this is not overridden, all parts have one chapter: the state.
        """
        write(0, self.merge([b"".join(part) for part in parts]))
        return [0] * len(parts)

    def read_chapters(self, chapters: Sequence[bytes]) -> Any:
        """As `read`, what chapters that follow one another say of their segments. Raises BadState."""
        (state,) = chapters
        return self.read(state)

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


def states_of(metrics: Iterable[Metric], segments: Segments) -> dict[str, Any]:
    """The states that metrics need, by key, from all segments of the references."""
    return {key: corpus_statistics.state_of(segments) for key, corpus_statistics in needed_statistics(metrics).items()}


class ShardStates:
    """What `states_of` gives, for one shard of the references after another: only its chapter is in memory."""

    def __init__(self, metrics: Iterable[Metric], shards: Iterable[Segments]) -> None:
        self._needed = needed_statistics(metrics)
        parts = {key: SetAside() for key in self._needed}
        for number, segments in enumerate(shards if self._needed else ()):
            for key, corpus_statistics in self._needed.items():
                parts[key].write(number, corpus_statistics.count(segments))
        self._chapters = {key: SetAside() for key in self._needed}
        self._chapter_of = {
            key: corpus_statistics.merge_in_chapters(
                list(map(parts[key].pieces, range(len(parts[key])))), chapters.write
            )
            for (key, corpus_statistics), chapters in zip(self._needed.items(), self._chapters.values(), strict=True)
        }
        self._read: dict[str, tuple[int, Any]] = {}

    def of(self, shard: int) -> dict[str, Any]:
        """The states for a shard, by its position."""
        return {key: self._state(key, self._chapter_of[key][shard]) for key in self._needed}

    def _state(self, key: str, chapter: int) -> Any:
        if self._read.get(key, (None,))[0] != chapter:
            # Not both at once.
            self._read.pop(key, None)
            state = self._needed[key].read_chapters([self._chapters[key].whole(chapter)])
            self._read[key] = chapter, state
        return self._read[key][1]
