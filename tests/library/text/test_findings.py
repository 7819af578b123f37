"""What is wrong with a file, said at once."""

import pytest

from steelyard.errors import BadText
from steelyard.text.findings import SHOWN_PROBLEMS, BadMarkup, Findings


def test_what_came_again_is_not_counted_among_further_problems() -> None:
    findings = Findings("F")
    for line in range(1, SHOWN_PROBLEMS + 4):
        findings.problem(f"Line {line} is odd.", line)
        findings.problem("It is too long.", line)
    with pytest.raises(BadText) as raised:
        findings.raise_if_any()
    told = str(raised.value).splitlines()
    again = SHOWN_PROBLEMS + 2
    assert f"  - F, line 1: It is too long. The same {again} more times, last in line {again + 1}." in told
    # One place is taken by what came again.
    assert told[-1] == "  and 4 more problems"


def test_all_that_is_found_is_counted_where_the_same_came_again_only() -> None:
    findings = Findings("F")
    findings.problem("It is too long.", 3)
    findings.problem("It is too long.")
    with pytest.raises(BadMarkup) as raised:
        findings.raise_if_any()
    assert str(raised.value) == "F, line 3: It is too long. The same 1 more time."
