"""Runs all checks of an output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.checks.copying import find_copies
from steelyard.checks.encoding import find_encoding_errors
from steelyard.checks.examined import align_output
from steelyard.checks.finding import Finding, Severity
from steelyard.checks.gaps import find_gaps
from steelyard.checks.language import find_language
from steelyard.checks.leftovers import find_leftovers
from steelyard.checks.lengths import find_odd_lengths
from steelyard.checks.placement import find_breaks, find_misplaced
from steelyard.checks.repetition import find_repetition
from steelyard.checks.twins import find_twins
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.checks.context import CheckContext
    from steelyard.formats.plain import Text

CHECKS = (
    find_misplaced,
    find_language,
    find_gaps,
    find_copies,
    find_encoding_errors,
    find_leftovers,
    find_repetition,
    find_odd_lengths,
)


def check_output(text: Text, standard: CheckContext) -> list[Finding]:
    """All findings about an output for a test set. It needs no database, and never raises.

    Parameters
    ----------
    text : Text
    standard : CheckContext
        What the output is compared with.

    Returns
    -------
    list of Finding
        The worst first.
    """
    if text.segments != standard.segments:
        return [_wrong_segment_count(text, standard), *reader_notices(text.notices)]
    if not text.bytes.decode().strip():
        return [_no_text(text)]
    examined = align_output(text.bytes, standard)
    findings = [finding for check in CHECKS for finding in check(examined)]
    findings += find_twins(text.bytes, standard.others)
    return sorted([*findings, *reader_notices(text.notices)], key=lambda each: list(Severity).index(each.severity))


def reader_notices(notices: Sequence[str]) -> list[Finding]:
    """What a reader of files has noticed and corrected, as findings.

    Parameters
    ----------
    notices : sequence of str

    Returns
    -------
    list of Finding
    """
    return [Finding("reading", Severity.NOTE, notice) for notice in notices]


def _wrong_segment_count(text: Text, standard: CheckContext) -> Finding:
    difference = abs(text.segments - standard.segments)
    message = (
        f"The output has {number_of(text.segments, text.unit)}, but the test set has {standard.segments:,} segments: "
        f"{difference:,} {'more' if text.segments > standard.segments else 'fewer'}. Line i must be the translation of "
        f"segment i; a segment without translation is an empty line. {find_breaks(text.bytes, standard)}"
    ).rstrip()
    return Finding("count", Severity.FATAL, message)


def _no_text(text: Text) -> Finding:
    message = f"All {number_of(text.segments, text.unit)} of the output are empty. Submit a file with translations."
    return Finding("no_text", Severity.FATAL, message, count=text.segments)
