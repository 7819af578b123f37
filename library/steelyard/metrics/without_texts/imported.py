"""Scores that were made elsewhere, as a column like any metric's."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.fixed_point import on_grid
from steelyard.metrics.parameters import parameter
from steelyard.metrics.without_texts.column import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LEVELS = ("segment", "document", "system")
_REST = 2.0**36
"""What is left of a system's score beyond 2^-24 is stored times this, on the grid again: no digit of it is lost."""
_UNWRITABLE = re.compile(r"[\s:|%,=]")
_WRITTEN = re.compile("%([0-9A-F]+);")


def written_name(name: str) -> str:
    """A name as a specification can hold it.

    Parameters
    ----------
    name : str
        Such as "COMET (wmt22)".

    Returns
    -------
    str
        Such as "COMET%20;(wmt22)".
    """
    return _UNWRITABLE.sub(lambda found: f"%{ord(found[0]):X};", name)


def plain_name(written: str) -> str:
    """The inverse of `written_name`.

    Parameters
    ----------
    written : str

    Returns
    -------
    str
    """
    return _WRITTEN.sub(lambda found: chr(int(found[1], 16)), written)


@dataclass(frozen=True)
class Imported(Column):
    """The mean of the scores that somebody else gave to segments or documents, or a system's score as it was given.

    Statistics are as those of `SegmentMetric`; a document's score stands at its first segment. A system's score stands
    at the first segment of all, and counts only for the whole test set drawn as it is: no replicate has a score, so
    that it has no interval, and neither has a part of the test set.
    """

    name: ClassVar[str] = "imported"
    source: ClassVar[str] = "A file of scores"

    metric: str = parameter("", "the metric's name, with %HEX; for blanks and the like", ours=True)
    ver: str = parameter("1", "which version of it", ours=True)
    sha256: str = parameter("", "the beginning of the hash of all imported scores", ours=True)
    level: str = parameter("segment", "what has a score", choices=LEVELS, ours=True)
    better: str = parameter("higher", "which scores are better", choices=("higher", "lower"), ours=True)
    segments: int = parameter(0, "of the test set, where systems have scores", parse=int, ours=True)

    @property
    def higher_is_better(self) -> bool:  # type: ignore[override]
        """Whether a higher score is better, as the import says."""
        return self.better == "higher"

    @property
    def title(self) -> str:
        """Name and version, marked as imported."""
        version = "" if self.ver == "1" else f" {plain_name(self.ver)}"
        return f"{plain_name(self.metric)}{version} (imported)"

    @property
    def columns(self) -> tuple[str, ...]:
        """As `SegmentMetric`; of systems the score in two parts, whether it is drawn, and how much is."""
        return ("score", "rest", "first", "segments") if self.level == "system" else ("score", "segments")

    def _own_fields(self) -> list[tuple[str, str]]:
        # Where segments or documents have scores, their number is that of the test set, and is not known here.
        return [field for field in super()._own_fields() if self.level == "system" or field[0] != "segments"]

    def statistics(self, scores: Floats, places: Sequence[int], segments: int) -> Floats:
        """The statistics of one system.

        Parameters
        ----------
        scores : (units,) float64
            NaN where there is none.
        places : sequence of int
            The segment at which each score stands.
        segments : int
            Of the test set.

        Returns
        -------
        (segments, k) float64
        """
        found = np.zeros((segments, len(self.columns)))
        defined = ~np.isnan(scores)
        at = np.asarray(places, np.intp)[defined]
        high = on_grid(scores[defined])
        found[at, 0] = high
        if self.level == "system":
            found[at, 1] = on_grid((scores[defined] - high) * _REST)
            found[at, 2] = 1.0
            found[:, 3] = 1.0
        else:
            found[at, 1] = 1.0
        return found

    def score(self, sums: Floats) -> Floats:
        """The mean over what has a score; NaN where nothing has."""
        if self.level == "system":
            whole = (sums[..., 2] == 1.0) & (sums[..., 3] == self.segments)
            return np.where(whole, sums[..., 0] + sums[..., 1] / _REST, np.nan)
        counts = sums[..., 1]
        return np.where(counts > 0, sums[..., 0] / np.maximum(counts, 1.0), np.nan)
