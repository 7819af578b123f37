"""What long work shows on a terminal."""

import io
import re
import sys

import pytest

from cli.campaigns.evaluate import without_scores
from models.queue_status.progress import Progress
from steelyard.commands import progress as shown
from steelyard.commands.progress import counted
from steelyard_client.commands.progress import shown_progress, working


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_work_is_named_on_a_terminal_only(monkeypatch, stream):
    error, output = stream(), io.StringIO()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", error)
    monkeypatch.setattr(sys, "stdout", output)
    with working("a test set [bold]"):
        pass
    print("a table")
    assert ("a test set [bold]" in error.getvalue()) == (stream is Terminal)
    assert output.getvalue() == "a table\n"


def test_work_of_a_moment_shows_nothing(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    show = counted("trials")
    for done in (1, 2, 3):
        show(done, 3)
    assert sys.stderr.getvalue() == ""


def test_longer_work_is_counted_on_a_terminal_only(monkeypatch):
    monkeypatch.setattr(shown, "MOMENT", 0.0)
    assert counted("trials") is None
    monkeypatch.setattr(sys, "stderr", Terminal())
    show = counted("trials")
    for done in (2048, 10_000, 20_000):
        show(done, 20_000)
    assert sys.stderr.getvalue() == "\r2048 of 20000 trials\r10000 of 20000 trials\r20000 of 20000 trials\n"


@pytest.mark.parametrize(
    ("failed", "cancelled", "told"),
    [
        (0, 0, ""),
        (2, 0, "steelyard: Without scores: 2 evaluations failed; the leaderboard says why.\n"),
        (
            2,
            1,
            "steelyard: Without scores: 2 evaluations failed and 1 evaluation cancelled; the leaderboard says why.\n",
        ),
    ],
)
def test_who_waited_learns_what_has_no_scores(failed, cancelled, told, capsys):
    progress = Progress(
        queued=0, running=0, reducing=0, done=3, failed=failed, cancelled=cancelled, shards=9, shards_done=9
    )
    assert without_scores(progress) == bool(told)
    assert capsys.readouterr().err == told


def test_several_amounts_have_a_bar_each_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", Terminal())
    with shown_progress("evaluations", "segments") as show:
        show((1, 3), (20, 80))
        show((3, 3), (80, 80))
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sys.stderr.getvalue())
    last = [re.split(r" +━+ +", line) for line in plain.replace("\r", "\n").splitlines() if "━" in line][-2:]
    assert [(name, shown.split()[0]) for name, shown in last] == [("evaluations", "3/3"), ("segments", "80/80")]


def test_elsewhere_a_line_is_printed_where_there_is_more_of_the_first(capsys):
    with shown_progress("evaluations", "segments") as show:
        for amounts in (((1, 3), (20, 80)), ((1, 3), (40, 80)), ((3, 3), (80, 80))):
            show(*amounts)
    assert capsys.readouterr().err == "evaluations 1 of 3, segments 20 of 80\nevaluations 3 of 3, segments 80 of 80\n"
