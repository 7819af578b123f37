"""Findings about a file that cannot be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scheduler.errors import BadIngest
from steelyard.checks.check import reader_notices
from steelyard.checks.finding import Finding, Severity
from steelyard.formats.input.contents import WrongFormat
from steelyard.formats.input.gzip_members import BadGzip
from steelyard.formats.input.windows import NotUtf8
from steelyard.formats.plain import DifferentLengths
from steelyard.text.findings import BadMarkup
from steelyard.text.limits import OverLimit

if TYPE_CHECKING:
    from collections.abc import Sequence

CODES: tuple[tuple[type[Exception], str], ...] = (
    (NotUtf8, "encoding"),
    (OverLimit, "size"),
    (BadGzip, "format"),
    (WrongFormat, "format"),
    (DifferentLengths, "count"),
    (BadMarkup, "ids"),
    (BadIngest, "ids"),
)


def fatal_findings(error: Exception, notices: Sequence[str] = ()) -> list[Finding]:
    """Convert a reader's error (BadText, BadMarkup or BadIngest) to a fatal finding.

    Readers report ids that are missing, unknown, duplicate or out of order, and bytes that are not UTF-8.
    """
    code = next((code for kind, code in CODES if isinstance(error, kind)), "unreadable")
    return [Finding(code, Severity.FATAL, str(error)), *reader_notices(notices)]
