"""One judgment of one segment, whatever file it comes from, with the error spans that the annotator marked."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.meta_evaluation.human.judgments import CODE_POINTS, TRIMMED_UTF16

__all__ = ["CODE_POINTS", "TRIMMED_UTF16", "Assessment", "ErrorSpan"]


class ErrorSpan(NamedTuple):
    """An error that an annotator marked."""

    start: int
    """From 0, in what `Assessment.units` says."""
    end: int
    """The first position behind it."""
    severity: str
    """In lower case, such as minor or major."""
    category: str = ""
    """Empty where annotators were not asked."""
    missing: bool = False
    """Something is missing from the translation: there is no position, and start and end are 0."""
    in_source: bool = False
    """Marked in the source, not in the translation."""


class Assessment(NamedTuple):
    """One score that an annotator gave to one segment of one system."""

    pair: str
    """Languages, such as "en-cs"; empty where the file does not say."""
    system: str
    document: str
    """Empty where the file does not say."""
    segment: str
    """Its id or number in the document, or in the test set."""
    domain: str
    """Empty where the file does not say."""
    annotator: str
    wave: int
    """Judgments of different waves are never averaged."""
    score: float
    """Higher is better; from 0 to 100 in direct assessments, minus the weights of errors in MQM."""
    end: float
    """When it was given, in seconds; of several of the same annotator the latest counts."""
    file: str
    spans: tuple[ErrorSpan, ...] = ()
    seconds: float | None = None
    """How long the annotator took; None where the file does not say."""
    text: str | None = None
    """The translation that was judged, where the file has it."""
    by_errors: bool = False
    """Whether the score is minus the weights of errors, as in MQM."""
    units: str = CODE_POINTS
    """What positions of spans count: `CODE_POINTS` or `TRIMMED_UTF16`."""
