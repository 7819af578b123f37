"""Segments scored one by one by what is slow, a model or a program: each content once, and its scores kept.

What is scored is the content, never its place: a hypothesis with its source and its references. So equal outputs of two
systems are scored once, and a store of scores by content serves resubmissions, other campaigns and other protocols.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.errors import BadText
from steelyard.metrics.segment_metric import SegmentMetric

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from steelyard.metrics.preparation.score_store import Scored
    from steelyard.metrics.resources import Resources
    from steelyard.metrics.segments import Segments


@dataclass(frozen=True)
class Content:
    """All texts that the scores of a segment depend on; what a metric does not read is None."""

    hypothesis: str
    source: str | None = None
    references: tuple[str, ...] | None = None
    """Those that the segment has, in order."""

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the texts, each with its length, so that no two contents are written alike."""
        digest = sha256()
        for text in (self.hypothesis, self.source, *(self.references or ())):
            encoded = b"" if text is None else text.encode()
            digest.update(b"-" if text is None else b"%d:" % len(encoded))
            digest.update(encoded)
        digest.update(b"." if self.references is None else b"!")
        return digest.digest()


@dataclass(frozen=True)
class ContentMetric(SegmentMetric):
    """A metric whose segments are scored by a model or a program, on a queue of its own where there is one."""

    learned: ClassVar[bool] = True
    width: ClassVar[int] = 1
    """How many values a segment has, the score first."""
    extra_tokens: ClassVar[int] = 0
    """What scoring an output's segment takes beside reading its texts, as if these had so many tokens more."""

    @classmethod
    def longest(cls, seconds: float) -> float:  # noqa: ARG003 - as overridden
        """Any length: a model cuts texts at its window, and a program has a time limit of its own.

        Parameters
        ----------
        seconds : float

        Returns
        -------
        float
            In characters.
        """
        return math.inf

    @abstractmethod
    def scorer(self, resources: Resources) -> str:
        """All that values depend on beside the texts: model and hash, engine, precision, kind of device.

        Parameters
        ----------
        resources : Resources

        Returns
        -------
        str

        Raises
        ------
        MissingResource
            Where it is not here.
        """

    def check_here(self, resources: Resources) -> None:
        """See that this machine has what the metric needs, before any text is scored.

        Parameters
        ----------
        resources : Resources

        Raises
        ------
        MissingResource
        """
        self.scorer(resources)

    @abstractmethod
    def score_contents(
        self, contents: Sequence[Content], resources: Resources, keep: Callable[[Mapping[int, Scored]], None]
    ) -> None:
        """Score contents that are all different.

        Parameters
        ----------
        contents : list of Content
        resources : Resources
        keep : callable
            Takes what was scored, by position, as soon as there is some, so that an interruption loses little.

        Raises
        ------
        MissingResource, ProgramFailed
        """

    def values(self, segments: Segments) -> NDArray[np.float64]:
        """The values of every segment of every system; those in `segments.score_store` are not computed again.

        Parameters
        ----------
        segments : Segments

        Returns
        -------
        (systems, segments, width) float64
        """
        rows = contents_of(segments, self.inputs)
        distinct = list(dict.fromkeys(content for row in rows for content in row))
        found: dict[bytes, tuple[float, ...]] = {}
        store = segments.score_store
        scorer = self.scorer(segments.resources)
        if store is not None:
            found.update(store.known(scorer, [content.digest for content in distinct]))
        missing = [content for content in distinct if content.digest not in found]

        def keep(scored: Mapping[int, Scored]) -> None:
            by_digest = {missing[position].digest: each for position, each in scored.items()}
            kept = store.keep(scorer, by_digest) if store else {key: each.values for key, each in by_digest.items()}
            found.update(kept)

        if missing:
            self.score_contents(missing, segments.resources, keep)
        return np.array([[found[content.digest] for content in row] for row in rows], np.float64).reshape(
            len(rows), len(segments), self.width
        )

    def score_segments(self, segments: Segments) -> NDArray[np.float64]:
        """(systems, segments): the first of the values."""
        return self.values(segments)[..., 0]


def contents_of(segments: Segments, inputs: frozenset[str]) -> list[list[Content]]:
    """What is scored: a row for each system.

    Parameters
    ----------
    segments : Segments
    inputs : set of str
        "source", "reference" or both: what is left out is None.

    Returns
    -------
    list of list of Content

    Raises
    ------
    BadText
        Where the source is read, and there is none.
    """
    count = len(segments)
    sources: Sequence[str | None] = [None] * count
    references: Sequence[tuple[str, ...] | None] = [None] * count
    if "source" in inputs:
        if segments.source is None:
            raise BadText("The metric reads the source, and there is none. Give it: --source FILE.")
        sources = segments.source.decode().split("\n")
    if "reference" in inputs:
        lines = [text.decode().split("\n") for text in segments.references]
        mask = segments.reference_mask
        references = [
            tuple(line[place] for line, there in zip(lines, mask, strict=True) if there[place])
            for place in range(count)
        ]
    return [
        [Content(*each) for each in zip(text.decode().split("\n"), sources, references, strict=True)]
        for text in segments.hypotheses
    ]
