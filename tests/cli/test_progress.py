"""What long work shows on a terminal."""

import io
import sys

import pytest

from cli.evaluate import without_scores
from cli.progress import working
from models.progress import Progress


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
def test_who_waited_is_told_what_has_no_scores(failed, cancelled, told, capsys):
    progress = Progress(
        queued=0, running=0, reducing=0, done=3, failed=failed, cancelled=cancelled, shards=9, shards_done=9
    )
    assert without_scores(progress) == bool(told)
    assert capsys.readouterr().err == told
