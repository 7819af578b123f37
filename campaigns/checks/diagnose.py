"""Runs all checks of an output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.checks.copying import find_copies
from campaigns.checks.encoding import find_encoding_errors
from campaigns.checks.examined import align_output
from campaigns.checks.finding import Finding, Severity
from campaigns.checks.gaps import find_gaps
from campaigns.checks.language import find_language
from campaigns.checks.leftovers import find_leftovers
from campaigns.checks.lengths import find_odd_lengths
from campaigns.checks.placement import find_breaks, find_misplaced
from campaigns.checks.repetition import find_repetition
from campaigns.checks.twins import find_twins
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.checks.standard import CheckContext
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


def diagnose(text: Text, standard: CheckContext) -> list[Finding]:
    """Return all findings about an output for a test set, the worst first. Needs no database, and never raises."""
    if text.segments != standard.segments:
        return [_wrong_segment_count(text, standard), *_reader_notices(text.notices)]
    if not text.bytes.decode().strip():
        return [_no_text(text)]
    examined = align_output(text.bytes, standard)
    findings = [finding for check in CHECKS for finding in check(examined)]
    findings += find_twins(text.bytes, standard.others)
    return sorted([*findings, *_reader_notices(text.notices)], key=lambda each: list(Severity).index(each.severity))


def fatal_findings(error: Exception, notices: Sequence[str] = ()) -> list[Finding]:
    """Convert a reader's error (BadText, BadMarkup or BadIngest) to a fatal finding.

    Readers report ids that are missing, unknown, duplicate or out of order, and bytes that are not UTF-8.
    """
    from scheduler.errors import BadIngest
    from steelyard.formats.input.contents import WrongFormat
    from steelyard.formats.input.gzip_members import BadGzip
    from steelyard.formats.input.windows import NotUtf8
    from steelyard.formats.plain import DifferentLengths
    from steelyard.text.findings import BadMarkup
    from steelyard.text.limits import OverLimit

    codes = (
        (NotUtf8, "encoding"),
        (OverLimit, "size"),
        (BadGzip, "format"),
        (WrongFormat, "format"),
        (DifferentLengths, "count"),
        (BadMarkup, "ids"),
        (BadIngest, "ids"),
    )
    code = next((code for kind, code in codes if isinstance(error, kind)), "unreadable")
    return [Finding(code, Severity.FATAL, str(error)), *_reader_notices(notices)]


def _reader_notices(notices: Sequence[str]) -> list[Finding]:
    """Return what the reader has noticed and corrected."""
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
