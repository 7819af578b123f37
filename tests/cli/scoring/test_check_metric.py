"""`steelyard metric check`."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from cli.main import main
from steelyard import WER
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
