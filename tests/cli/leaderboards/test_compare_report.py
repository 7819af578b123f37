"""The page of `compare --report`: its tests, and how it ranks."""

import re
from pathlib import Path

import pytest

from tests.cli.leaderboards.port import refused, shown


def test_a_report_has_the_tests_that_were_made(database, capsys):
    arguments = ("--baseline", "tug", "--test", "randomization", "--trials", "70", "-m", "ter", "--correction", "bh")
    shown(capsys, "compare", *arguments, "--report", "tests.html", "--interval", "bca")
    page = Path("tests.html").read_text(encoding="utf-8")
    assert "paired approximate randomization with 70 trials, two-sided, Benjamini-Hochberg-corrected" in page
    assert "Differences by BLEU" not in page, "only TER was asked for"
    assert page.count("ferry (3 runs)") > 5
    assert 'id="drivers"' in page
    assert refused(capsys, "compare", "--report", "nowhere/tests.html")[0] == 1
    # All pairs by all metrics are enough to rank by.
    shown(capsys, "compare", "--baseline", "none", "--report", "all.html", "--alpha", "0.2")
    page = Path("all.html").read_text(encoding="utf-8")
    assert "paired bootstrap with 200 replicates, two-sided, not corrected for multiple testing" in page
    assert "This is the rule of the leaderboard" in page
    assert "Differences by TER" in page


@pytest.mark.parametrize(
    ("tests", "said", "third", "fourth"),
    [
        (
            ("randomization", "--trials", "400", "--alpha", "0.1", "--correction", "holm"),
            "paired approximate randomization with 400 trials, two-sided, Holm-corrected",
            "1–3",
            "4",
        ),
        (("bootstrap", "--alpha", "0.05", "--correction", "holm"), "two-sided, Holm-corrected", "1–4", "3–4"),
        (("bootstrap", "--alpha", "0.05"), "two-sided, not corrected for multiple testing", "1–3", "4"),
    ],
)
def test_a_report_of_all_tests_ranks_by_them(database, capsys, tests, said, third, fourth):
    tests = ("--test", *tests)
    shown(capsys, "compare", "--baseline", "none", *tests, "--report", "all.html")
    page = Path("all.html").read_text(encoding="utf-8")
    assert said in page
    table = page[page.index("<table") : page.index("</table>")]
    rows = re.findall(r'<tr>\n<td class="number">(\d+)</td>\n<td>([^<]+)</td>', table)
    lines = [line.split()[:2] for line in shown(capsys, "leaderboard", *tests).splitlines()]
    ranked = [
        (rank, places.replace("-", "–"))
        for rank, places in filter(lambda line: len(line) == 2, lines)
        if rank.isdigit()
    ]
    assert rows == ranked
    assert rows == [("1", "1–3"), ("1", "1–3"), ("3", third), ("4", fourth), ("5", "5")]
