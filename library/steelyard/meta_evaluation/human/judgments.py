"""Judgments and the scores made of them, as plain tuples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
