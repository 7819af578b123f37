"""What becomes of findings, and of files that cannot be read."""

import pytest

from campaigns.checks.stored_findings import finding_of
from campaigns.checks.unreadable_files import fatal_findings
from scheduler.errors import BadIngest
from steelyard.checks.finding import Severity
from steelyard.errors import BadText
from steelyard.formats.plain import read_lines


@pytest.mark.parametrize(
    ("text", "code"), [(b"\xff\xfea", "format"), (b"a\xe9b", "encoding"), (b"\x1f\x8b12", "format")]
)
def test_what_a_reader_refuses_is_a_fatal_finding(text, code):
    with pytest.raises(BadText) as caught:
        read_lines(text)
    (finding,) = fatal_findings(caught.value)
    assert (finding.code, finding.severity) == (code, Severity.FATAL)
    assert finding.message == str(caught.value)


def test_what_a_reader_noticed_is_reported_beside_what_it_refuses():
    fatal, noticed = fatal_findings(BadIngest("lacks 1 document"), ["out.xml: a byte order mark was skipped."])
    assert (fatal.code, fatal.severity) == ("ids", Severity.FATAL)
    assert (noticed.severity, noticed.message) == (Severity.NOTE, "out.xml: a byte order mark was skipped.")


def test_a_finding_survives_its_row():
    (finding,) = fatal_findings(BadIngest("lacks 1 document"))
    assert finding_of(finding.as_row()) == finding
    assert finding.code == "ids"
