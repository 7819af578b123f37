"""The matrix of differences from plain data."""

import re
from dataclasses import replace

from campaigns.reports.differences import MetricPairs, differences_body
from steelyard.resampling.paired import PairedResult

NAMES = ["a", "b", "c"]


def pair(a: int, b: int, difference: float, p: float) -> PairedResult:
    return PairedResult(a, b, 0, difference, p, p)


def cells(pairs: list[PairedResult], *, higher_is_better: bool = True) -> list[list[str]]:
    """Class, difference and p-value of every cell, row by row; empty for the diagonal and for what was not tested."""
    metrics = [MetricPairs("M", higher_is_better, 100.0, pairs)]
    body = differences_body(NAMES, metrics, alpha=0.05, what="a test", links={(0, 1): "#pair-1-2"})
    rows = re.findall("<tr><th scope=.row.*?</tr>", body, re.DOTALL)
    found = []
    for row in rows:
        of_row = []
        for attributes, content in re.findall(r"<td([^>]*)>(.*?)</td>", row, re.DOTALL):
            kind = "".join(re.findall('class="(up|down)"', attributes))
            numbers = "".join(re.findall(r"[+−]?\d+\.\d+(?=<|</a>)", content))
            of_row.append(f"{kind} {numbers}".strip() + (" linked" if "<a " in content else ""))
        found.append(of_row)
    return found


def test_a_cell_is_row_minus_column():
    pairs = [pair(0, 1, -2.0, 0.01), pair(0, 2, 1.0, 0.05), pair(2, 1, -3.0, 0.001)]
    assert cells(pairs) == [
        ["", "up +2.00.0100 linked", "−1.00.0500"],
        ["down −2.00.0100 linked", "", "down −3.00.0010"],
        ["+1.00.0500", "up +3.00.0010", ""],
    ]


def test_where_less_is_better_a_negative_difference_is_better():
    assert cells([pair(0, 1, -2.0, 0.01), pair(0, 2, 1.0, 0.01), pair(1, 2, 3.0, 0.01)], higher_is_better=False)[0] == [
        *("", "down +2.00.0100 linked", "up −1.00.0100"),
    ]


def test_against_a_baseline_there_is_one_row():
    pairs = [pair(1, 0, -2.0, 0.01), pair(1, 2, 1.0, 0.5)]
    assert cells(pairs) == [["up +2.00.0100 linked", "", "−1.00.5000"]]


def test_no_difference_has_no_mark():
    assert cells([pair(0, 1, 0.0, 0.001), pair(0, 2, 1.0, 0.9), pair(1, 2, 1.0, 0.9)])[0][1] == "0.00.0010 linked"


def test_the_corrected_p_value_decides_and_is_shown():
    pairs = [replace(pair(0, each, -2.0, 0.01), p_corrected=corrected) for each, corrected in ((1, 0.02), (2, 0.06))]
    assert cells(pairs)[0] == ["", "up +2.00.0200 linked", "+2.00.0600"]


def test_without_pairs_the_reason_is_reported():
    assert "<p>nothing &lt;here&gt;</p>" in differences_body(NAMES, [], alpha=0.05, what="", why="nothing <here>")
