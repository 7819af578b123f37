"""What some metrics must know of all references before they can score a segment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        """What a shard of the references contributes.

        Parameters
        ----------
        segments : Segments
            Hypotheses in it are not looked at.

        Returns
        -------
        bytes
            A part for `merge`.
        """

    @abstractmethod
    def merge(self, parts: Iterable[bytes]) -> bytes:
        """The state of all references.

        Parameters
        ----------
        parts : iterable of bytes
            Of shards that cover each segment once, in any order.

        Returns
        -------
        bytes

        Raises
        ------
        BadState
            For what `count` has not made.
        TooLarge
            As soon as enough parts are read to know it.
        """

    @abstractmethod
    def read(self, state: bytes) -> Any:
        """The state as the metric uses it, which `Segments.state` hands out.

        Parameters
        ----------
        state : bytes
            As `merge` returns it.

        Returns
        -------
        Any

        Raises
        ------
        BadState
            For what `merge` has not made.
        """

    def state_of(self, segments: Segments) -> Any:
        """As `read` gives it, from all segments of the references; without bytes on the way where that is less.

        Parameters
        ----------
        segments : Segments
            The whole test set.

        Returns
        -------
        Any
        """
        return self.read(self.merge([self.count(segments)]))
