"""Names of files that strangers chose, in a command that somebody gives with `*`."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli import main
from steelyard.commands.mtrics import command as mtrics

Command = Callable[[list[str]], int]

SCORE = (main.main, ["score", "ref.txt", "-i", "out.txt", "-m", "bleu"])
MTRICS = (mtrics.main, ["-b", "-r", "ref.txt", "-c", "out.txt"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("ref.txt", "out.txt"):
        Path(name).write_text("the boat sails\n")
    return tmp_path


@pytest.mark.parametrize(("command", "words"), [SCORE, MTRICS], ids=["score", "mtrics"])
@pytest.mark.parametrize("name", ["-ovictim.txt", "-o", "--seed=1", "-v", "--", "--help"])
def test_a_file_is_not_taken_for_an_option(
    folder: Path, capsys: pytest.CaptureFixture[str], command: Command, words: list[str], name: str
) -> None:
    Path("victim.txt").write_text("precious")
    Path(name).write_text("the boat sails\n")
    assert command([*words, *sorted({*os.listdir(folder)} - {"ref.txt", "out.txt"})]) == 2
    assert f"{name} is a file here" in capsys.readouterr().err
    assert Path("victim.txt").read_text() == "precious"
    os.remove(name)
    assert command(words) == 0


@pytest.mark.parametrize(("command", "words"), [SCORE, MTRICS], ids=["score", "mtrics"])
@pytest.mark.parametrize("word", ["--\x1b[2Jx", "--\x9b31m", "--seed=\x1b]0;x\x07", "--\u202etxt"])
def test_nothing_that_a_command_repeats_steers_the_terminal(
    capsys: pytest.CaptureFixture[str], command: Command, words: list[str], word: str
) -> None:
    assert command([*words, word]) == 2
    told = capsys.readouterr()
    assert not {"\x1b", "\x9b", "\x07", "\u202e"} & {*told.out, *told.err}
    assert told.err
