"""Where scores by content are kept: what a model or a program said of a segment, found again by its texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Scored(NamedTuple):
    """What a segment got."""

    values: tuple[float, ...]
    """The score first, then further numbers that the metric adds up; NaN where there is none."""
    beside: str = ""
    """What was said beside the score, as JSON; "" for nothing."""


class ScoreStore(Protocol):
    """Keeps scores by what gave them, a `ContentMetric.scorer`, and by content."""

    def known(self, scorer: str, digests: Sequence[bytes]) -> Mapping[bytes, tuple[float, ...]]:
        """The values that are stored, by digest.

        Parameters
        ----------
        scorer : str
        digests : list of bytes

        Returns
        -------
        mapping of bytes to tuple of float
        """

    def keep(self, scorer: str, scored: Mapping[bytes, Scored]) -> Mapping[bytes, tuple[float, ...]]:
        """Store what is new.

        Parameters
        ----------
        scorer : str
        scored : mapping of bytes to Scored
            By digest.

        Returns
        -------
        mapping of bytes to tuple of float
            What is stored from now on: that of somebody else, who was first.
        """
