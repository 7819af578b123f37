"""Single segments: source, references, outputs, scores and marks."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard_client.documents.document import Document
from steelyard_client.vocabulary import WordMark


class WordRun(Document):
    """Consecutive words of one kind."""

    text: str
    """The words."""
    mark: WordMark
    """same: in both texts, in the same order; moved: in both, elsewhere; alone: only here; unmarked: not compared."""


class OutputError(Document):
    """An error that an annotator marked in an output."""

    number: int
    """From 1, in the order of the output; those in the source and omissions come last."""
    annotator: int
    """From 1, the same in all segments: names of annotators are shown nowhere."""
    severity: str
    """How bad it is, such as major or minor."""
    category: str
    """What kind of error it is; "" where annotators do not say."""
    begins: int
    """In code points of the output, from 0; of the source with `in_source`."""
    ends: int
    """The first code point behind it."""
    missing: bool
    """Whether something is missing from the output: there is no position."""
    in_source: bool
    """Whether it is marked in the source."""


class SegmentOutput(Document):
    """A system's output for a segment."""

    submission: int
    """Number of the submission."""
    system: str
    """Name of the system."""
    text: str
    """The output of the system."""
    score: float | None
    """null where it is undefined, not measured or not disclosed."""
    words: list[WordRun]
    """The text as word runs, compared with the closest reference, or with another output if references are hidden."""
    missing: list[str]
    """Words of the other text that are missing from this one."""
    against: str
    """The text that it was compared with; "" for none."""
    human_score: float | None = None
    """By people; null where they did not judge this output, or their judgments are hidden."""
    errors: Sequence[OutputError] = ()
    """That people marked."""


class SegmentReference(Document):
    """A human translation."""

    label: str
    """Label of the reference."""
    text: str
    """The reference."""


class SegmentResponse(Document):
    """One segment."""

    number: int
    """From 1."""
    document: str
    """Its document; null if unknown."""
    domain: str
    """Its domain; null if unknown."""
    test_suite: str
    """Its test suite; null if unknown."""
    source: str | None
    """The source text; null where it is hidden."""
    references: list[SegmentReference]
    """Empty until the organisers release them."""
    outputs: list[SegmentOutput]
    """The outputs of the selected systems."""
    difference: float | None
    """Score of the first system minus that of the second."""


class SegmentsResponse(Document):
    """Some segments of a test set."""

    test_set: str | None
    """null while the campaign has none."""
    metric: str | None
    """Specification of the metric; null where scores are not disclosed."""
    references: list[str]
    """Labels of the references of the scores."""
    human: str | None = None
    """The human judgments, as NAME@VERSION; null where no errors are marked, or they are hidden."""
    found: int
    """Number of segments that match the filters."""
    items: list[SegmentResponse]
    """The segments of this page."""
    next: str | None
    """Value of `after` for the next page; null on the last page."""
