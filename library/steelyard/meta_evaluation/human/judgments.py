"""Judgments and the scores made of them, as plain tuples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


CODE_POINTS = "code points"
TRIMMED_UTF16 = "UTF-16 units of the trimmed text"
"""As browsers count what they show: a character beyond U+FFFF is two."""


class Judgment(NamedTuple):
    """One annotator's judgment of one segment of one system."""

    annotator: str
    system: str
    segment: int
    """From 0."""
    value: float
    """A rating; the weight of an error; a rank from 1 = best."""
    label: str = ""
    """Of an error, its severity and category; of a rank, which ranking it belongs to."""
    wave: int = 0
    """Which judging of the test set it belongs to: what was given in different ones is never averaged."""
    seconds: float | None = None
    """How long it took."""


class JudgedSpan(NamedTuple):
    """An error that an annotator marked in a segment of a system."""

    annotator: str
    system: str
    segment: int
    """From 0."""
    start: int
    """From 0, in what `Judged.units` says."""
    end: int
    """The first position behind it."""
    severity: str
    category: str
    missing: bool
    """Something is missing from the translation; start and end are 0."""
    in_source: bool
    wave: int = 0


class SegmentScore(NamedTuple):
    """What people think of one segment of a system."""

    system: str
    segment: int
    score: float
    """Higher is better."""
    raw: float | None = None
    """On the annotators' own scale."""
    judgments: int | None = None


class SystemScore(NamedTuple):
    """What people think of a system."""

    system: str
    score: float
    raw: float | None = None
    segments: int | None = None
    judgments: int | None = None
    wins: int | None = None
    """How many systems it is better than, where that was published without the judgments."""


@dataclass(frozen=True, slots=True)
class Judged:
    """What was read from files of judgments, and the scores that were made of it."""

    kind: str
    """`scores`, `ratings`, `errors` or `rankings`."""
    method: Mapping[str, Any]
    """How scores were made of the judgments."""
    systems: Sequence[SystemScore]
    segments: Sequence[SegmentScore] = ()
    judgments: Sequence[Judgment] = ()
    """Empty where only scores were given."""
    notices: Sequence[str] = field(default=(), compare=False)
    anonymous_notices: Sequence[str] = field(default=(), compare=False)
    """The same without names of annotators."""
    spans: Sequence[JudgedSpan] = ()
    units: str = CODE_POINTS
    """What positions of spans count."""
    texts: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """By system and segment the translation that was judged, where the files have it."""
