"""Every command that takes a file or a folder, given what is none, or a folder of 100,000 files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import sys
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import click
import pytest

from cli.main import main
from steelyard.commands.mtrics.command import main as mtrics
from steelyard.commands.parsing import Command, run
from steelyard.formats.input.given_files import MOST_ENTRIES

FILES = 100_000
MOST_OPENED = 3_000
"""Files that a command opens with all its modules; one that goes through the folder opens far more."""
PATIENCE_SECONDS = 300
"""Nothing here waits for anything; what does, waits for ever."""

COMMANDS = [
    "score ODD -i good.txt",
    "score good.txt -i ODD",
    "score good.txt -i good.txt ODD",
    "score good.txt --system x good.txt ODD",
    "score good.txt -i good.txt -m meteor:lemmas=words --resource words=ODD",
    "score good.txt -i good.txt -m bleu_modif:vectors=words --resource words=ODD",
    "evaluate ODD",
    "evaluate good.sgm ODD",
    "evaluate trial -m meteor:lemmas=words --resource words=ODD",
    "check ODD --reference good.txt",
    "check good.txt --reference ODD",
    "check good.txt --source ODD",
    "testset create trial more ODD",
    "testset correct trial trial ODD --reason wrong",
    "judgments import ODD --test-set trial",
    "vectors import x ODD",
    "vectors create x --input ODD",
    "metric check meteor:lemmas=words --resource words=ODD --campaigns 1",
    "schedule create n --cron '0 2 * * *' --source {system} --test-set trial --webhook https://a.b "
    "--webhook-secret-file ODD",
    "mtrics -c ODD -r good.txt -b",
    "mtrics -c good.txt -r ODD -b",
    "mtrics -c good.txt -r good.txt -l en-cs -m --synonyms ODD",
]
SUBMIT = "submit ODD --campaign trial --test-set trial --system y --team t"
OF_FOLDERS = [
    "submit ODD --campaign trial --system y --team t",
    "tune tbleu eps ODD",
    "schedule create n --cron '0 2 * * *' --source x/{system}.txt --test-set ODD -m bleu",
]
"""What is no folder is the name of a test set to these, or a single output, and is tried by itself."""
REASONS = {
    "named pipe": "is a named pipe, not a file",
    "device": "is a device, not a file",
    "folder": rf"is a folder|[Ii]s a directory|holds more than {MOST_ENTRIES:,} files|none of WordNet's index files",
}


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    """A folder of far too many files."""
    folder = tmp_path_factory.mktemp("crowd")
    for number in range(FILES):
        os.close(os.open(folder / f"{number}.txt", os.O_CREAT | os.O_WRONLY))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory):
    """A folder with good files and a database that knows them."""
    folder = tmp_path_factory.mktemp("evaluated")
    for name in ("source.txt", "refs/A.txt", "systems/x.txt"):
        (folder / "trial" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "trial" / name).write_text("ahoj světe\n")
    (folder / "good.txt").write_text("ahoj světe\n")
    (folder / "good.sgm").write_text('<refset setid="s"><doc docid="d"><seg id="1">a</seg></doc></refset>')
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("STEELYARD_DATABASE_URL", f"sqlite:///{folder}/base.db")
        assert main(["evaluate", "trial", "-m", "bleu", "--confidence", "0"]) == 0
    return folder


_opened: list[str] | None = None


def _note(event: str, arguments: tuple[object, ...]) -> None:
    if _opened is not None and event in ("open", "os.listdir"):
        _opened.append(f"{event} {arguments[0]}")


sys.addaudithook(_note)


@contextmanager
def watched():
    """What is opened and listed meanwhile."""
    global _opened

    def end(*_):
        raise AssertionError("it waits for something")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(PATIENCE_SECONDS)
    _opened = []
    try:
        yield _opened
    finally:
        _opened = None
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        *product(COMMANDS, REASONS),
        *((command, "folder") for command in OF_FOLDERS),
        *((SUBMIT, kind) for kind in REASONS if kind != "folder"),
    ],
)
def test_what_is_no_file_is_refused_with_the_reason(command, kind, evaluated, crowd, tmp_path, monkeypatch, capsys):
    for path in evaluated.iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / "base.db").unlink()
    shutil.copy(evaluated / "base.db", tmp_path)
    odd = tmp_path / "odd.txt"
    if kind == "named pipe":
        os.mkfifo(odd)
    else:
        odd.symlink_to("/dev/zero" if kind == "device" else crowd)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", "sqlite:///base.db")
    name, *words = shlex.split(command.replace("ODD", "odd.txt"))
    with watched() as opened:
        try:
            status = mtrics(words) if name == "mtrics" else main([name, *words])
        except SystemExit as end:
            status = end.code
    said = capsys.readouterr().err
    assert status == 1, said
    assert re.search(REASONS[kind], said), said
    assert "Traceback" not in said
    assert len(opened) < MOST_OPENED
    assert not any(event.startswith("os.listdir") and event.endswith("odd.txt") for event in opened)


def test_a_file_is_no_option_unless_it_is_said_to_be_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What `*` in a shell expands to may begin with a hyphen."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "--here").touch()
    command = Command("here", params=[click.Option(["--here"], is_flag=True), click.Argument(["files"], nargs=-1)])
    assert run(command, "steelyard", ["--here"]) == 2
    assert "--here is a file here and would be read as an option. Write ./--here" in capsys.readouterr().err
    for words in (["--", "--here"], ["./--here"], ["-"]):
        assert command.make_context("here", list(words)).params == {"files": (words[-1],), "here": False}
