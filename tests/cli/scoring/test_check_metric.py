"""`steelyard metric check`."""

import sys
from dataclasses import dataclass
from typing import ClassVar

import pytest

from cli.main import main
from steelyard import WER
from steelyard.commands.metric import counter, kept_or_broken
from steelyard.conformance.campaign import Campaign
from steelyard.conformance.check import Finding
from steelyard.metrics import built_in


@dataclass(frozen=True)
class Neighbourly(WER):
    """Counts its neighbours."""

    name: ClassVar[str] = "neighbourly"

    def segment_statistics(self, segments):
        return super().segment_statistics(segments) + len(segments)


@pytest.fixture
def neighbourly(monkeypatch):
    monkeypatch.setitem(built_in.PLACES, "neighbourly", f"{__name__}:Neighbourly")


def test_nothing_tried_is_not_all_kept(capsys):
    assert main(["metric", "check", "wer", "--campaigns", "0"]) == 2
    assert "--campaigns must be at least 1" in capsys.readouterr().err


def test_a_metric_of_ours_keeps_all(capsys):
    assert main(["metric", "check", "wer", "--campaigns", "30"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("wer\n  kept    ")
    assert "wer:case=lc:tok=intl\n" in shown.out
    assert shown.out.endswith("All promises kept.\n")


def test_parameters_choose_what_is_checked(capsys):
    assert main(["metric", "check", "chrf++:case=lc", "--campaigns", "5"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line[0] != " "] == [
        "chrf:case=lc:nw=2",
        "All promises kept.",
    ]


def test_a_broken_promise_is_shown_with_the_smallest_campaign(neighbourly, capsys):
    assert main(["metric", "check", "neighbourly:tok=none", "--campaigns", "40"]) == 1
    lines = capsys.readouterr().out.splitlines()
    place = next(n for n, line in enumerate(lines) if "BROKEN  The statistics of a segment are the same" in line)
    assert "edits of segment 1 differs (beside others, alone): 2.0, 1.0." in lines[place + 1]
    assert [line.split(": ", 1)[1] for line in lines[place + 2 : place + 4]] == ["'', ''", "'', ''"]
    assert lines[-1].endswith("promise(s) broken.")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nonsense"], 'There is no metric "nonsense"'),
        (["wer:tok=nonsense"], 'tok is "nonsense", but must be one of'),
        (["wer:tok"], "is not of the form key=value"),
    ],
)
def test_wrong_usage(arguments, says, capsys):
    assert main(["metric", "check", *arguments]) == 2
    assert says in capsys.readouterr().err


def test_a_broken_promise_is_shown_with_its_texts_where_it_has_any():
    assert kept_or_broken(Finding("It has a name.")) == "  kept    It has a name."
    assert kept_or_broken(Finding("It has a name.", "It has none.")) == (
        "  BROKEN  It has a name.\n          It has none."
    )
    campaign = Campaign({"R": ["a", "x" * 201]}, {"S": ["č", ""]}, ["s", "t"])
    assert kept_or_broken(Finding("It adds up.", "It does not.", campaign)).splitlines()[2:] == [
        f"          with reference R: 'a', '{'x' * 200}'...",
        "          with system S: 'č', ''",
        "          with source: 's', 't'",
    ]


def test_a_terminal_is_shown_how_much_is_tried(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    count = counter(40)
    for _ in range(25):
        count()
    assert capsys.readouterr().err == "\r25 %\r\r50 %\r"
