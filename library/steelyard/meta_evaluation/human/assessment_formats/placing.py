"""Which segment of a test set each judgment belongs to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import quoted
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment

SHIFTS = (0, -1, 1)
"""Between numbers of segments in files and those of the test set: WMT24 counted its canary line, or did not."""

_VIDEO = "vid_"
"""WMT25 writes it before the names of spoken documents in outputs, and not in judgments."""
LONGEST_NUMBER = 9
"""Digits of the number of a segment."""


@dataclass(frozen=True)
class Placed:
    """Where judgments of one file belong."""

    segments: Sequence[int | None]
    """From 0; None for a judgment of a document that the test set lacks."""
    notices: Sequence[str]


def place(assessments: Sequence[Assessment], segments: int, documents: Mapping[str, Sequence[int]]) -> Placed:
    """Find the segments that judgments of one file are about.

    Numbers of segments count through the test set or in each document. Of all ways to count, the first that fits every
    judgment is taken: where a document is named, the segment must belong to it.

    Parameters
    ----------
    assessments : sequence of Assessment
        Of one file and language pair.
    segments : int
        Of the test set.
    documents : mapping of str to sequence of int
        The segments of each document, in order; empty where the test set has no documents.

    Returns
    -------
    Placed

    Raises
    ------
    BadTable
        Where no way to count fits.
    """
    names = {each.document: _known(each.document, documents) for each in assessments}
    absent = [name for name, known in names.items() if name and documents and known is None]
    if absent and len(absent) == len(names):
        raise BadTable(
            f"{assessments[0].file}: judges other documents than those of the test set: "
            f"{listed([quoted(each) for each in absent])}."
        )
    gone = set(absent)
    counted = [each for each in assessments if each.document not in gone]
    of_segments = {position: name for name, positions in documents.items() for position in positions}

    def through(shift: int) -> Callable[[Assessment], int | None]:
        def found(each: Assessment) -> int | None:
            number = _number(each.segment)
            if number is None or not 0 <= number + shift < segments:
                return None
            known = names[each.document]
            return number + shift if known is None or of_segments.get(number + shift) == known else None

        return found

    def inside(first: int) -> Callable[[Assessment], int | None]:
        def found(each: Assessment) -> int | None:
            number, known = _number(each.segment), names[each.document]
            positions = documents[known] if known is not None else ()
            return positions[number - first] if number is not None and 0 <= number - first < len(positions) else None

        return found

    ways = [*map(through, SHIFTS), *map(inside, (0, 1))]
    fits = [[way(each) for each in counted] for way in ways]
    best = min(fits, key=lambda found: sum(each is None for each in found))
    misplaced = [each for each, position in zip(counted, best, strict=True) if position is None]
    if misplaced:
        first = misplaced[0]
        where = f" of document {quoted(first.document)}" if first.document else ""
        raise BadTable(
            f"{first.file}: segment {quoted(first.segment)}{where} is not in the test set, which has "
            f"{number_of(segments, 'segment')}; {number_of(len(misplaced), 'judgment')} of {len(counted):,} do not "
            "fit, however segments are counted. Check the test set and its documents."
        )
    positions = iter(best)
    notices = []
    if gone:
        left = len(assessments) - len(counted)
        notices.append(
            f"{assessments[0].file}: {number_of(left, 'judgment')} left out, for the test set has no such documents: "
            f"{listed([quoted(each) for each in absent])}."
        )
    return Placed([None if each.document in gone else next(positions) for each in assessments], notices)


def _known(name: str, documents: Mapping[str, Sequence[int]]) -> str | None:
    """The test set's name of a document."""
    if not name:
        return None
    for each in (name, f"{_VIDEO}{name}", name.rpartition("_#_")[2]):
        if each in documents:
            return each
    ends = [each for each in documents if each.endswith((f"_#_{name}", f"_#_{_VIDEO}{name}"))]
    return ends[0] if len(ends) == 1 else None


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= LONGEST_NUMBER else None
