"""What is no file is refused at once, whichever command is given it, and so are far too many files."""

import os
import signal
import socket
from contextlib import closing, contextmanager

import pytest

from cli.main import main
from steelyard.errors import BadText, MetricsError
from steelyard.formats.campaign.campaigns import read_any_campaign
from steelyard.formats.detection import read_text
from steelyard.formats.input import given_files
from steelyard.formats.input.contents import Unreadable
from steelyard.formats.input.given_files import TooManyFiles, open_given, read_given
from steelyard.metrics.alignment.lemmas import table_lemmas
from steelyard.metrics.alignment.synonyms import synonym_groups
from steelyard.metrics.embeddings.vector_files import entries_of
from steelyard.metrics.resources import content_digest

KINDS = {"fifo": "is a named pipe", "link": "is a named pipe", "socket": "is a socket", "device": "is a device"}


@contextmanager
def patience(seconds=20):
    """Far less than for ever; what is refused takes milliseconds."""

    def end(*_):
        raise AssertionError("it waits for something")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(params=KINDS)
def no_file(request, tmp_path):
    """Something that is no file, called like a text, and what is said of it."""
    (tmp_path / "odd").mkdir()
    place = tmp_path / "odd" / "x.txt"
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        if request.param == "fifo":
            os.mkfifo(place)
        elif request.param == "link":
            os.mkfifo(tmp_path / "pipe")
            place.symlink_to(tmp_path / "pipe")
        elif request.param == "socket":
            listener.bind(str(place))
        else:
            place.symlink_to("/dev/zero")
        yield place, KINDS[request.param]


def test_texts(no_file):
    place, what = no_file
    with patience(), pytest.raises(Unreadable, match=what):
        read_text(place)


@pytest.mark.parametrize("read", [table_lemmas, synonym_groups, content_digest, entries_of])
def test_resources(no_file, read):
    place, what = no_file
    with patience(), pytest.raises((MetricsError, OSError), match=what):
        read(place)


@pytest.mark.parametrize(
    "where", ["source.txt", "refs/A.txt", "systems/x.txt", "systems/x/1.txt", "docs.tsv", "meta.json"]
)
def test_campaigns(no_file, where, tmp_path):
    place, what = no_file
    folder = tmp_path / "trial"
    for name in ("source.txt", "refs/A.txt", "systems/y.txt", where):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if name != where:
            (folder / name).write_text("ahoj\n")
    (folder / where).symlink_to(place)
    with patience(), pytest.raises(BadText, match=what):
        read_any_campaign([folder])


def test_a_folder_of_marked_up_files(no_file, tmp_path):
    place, what = no_file
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.sgm").symlink_to(place)
    with patience(), pytest.raises(BadText):
        read_any_campaign([tmp_path / "folder"])
    with patience(), pytest.raises(BadText, match=what):
        read_any_campaign([place])


COMMANDS = [
    ["score", "FILE", "-i", "good.txt"],
    ["score", "good.txt", "-i", "FILE"],
    ["score", "good.txt", "-i", "good.txt", "-m", "meteor:lemmas=words", "--resource", "words=FILE"],
    ["evaluate", "FILE"],
    ["check", "FILE", "--reference", "good.txt"],
    ["judgments", "import", "FILE", "--test-set", "trial"],
    ["correlate", "FILE"],
    ["vectors", "import", "x", "FILE"],
    ["vectors", "create", "x", "--input", "FILE"],
    ["submit", "FILE", "--campaign", "wmt", "--test-set", "trial", "--system", "x"],
    ["testset", "correct", "wmt", "trial", "FILE"],
    ["schedule", "create", "n", "--source", "x/{system}.txt", "--test-set", "FILE", "-m", "bleu"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_commands(words, tmp_path, sqlite_url, monkeypatch, capsys):
    os.mkfifo(tmp_path / "x.txt")
    (tmp_path / "good.txt").write_text("ahoj\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    with patience():
        try:
            status = main([word.replace("FILE", "x.txt") for word in words])
        except SystemExit as end:
            status = end.code
    assert status in {1, 2}
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert said


def test_pipes_of_a_shell_are_read(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, b"ahoj\n")
    os.close(writing)
    with patience(), os.fdopen(reading, "rb"):
        assert read_given(f"/dev/fd/{reading}") == b"ahoj\n"


def test_what_becomes_a_pipe_between_a_look_and_opening_is_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "x.txt")
    good = tmp_path / "good.txt"
    good.write_text("")
    look = os.stat
    monkeypatch.setattr(given_files.os, "stat", lambda path: look(good))
    with patience(), pytest.raises(OSError, match="is a named pipe"):
        open_given(tmp_path / "x.txt")


def test_folders_with_far_too_many_files(tmp_path, monkeypatch):
    monkeypatch.setattr(given_files, "MOST_ENTRIES", 20)
    for name in ("refs", "systems"):
        (tmp_path / name).mkdir()
    for number in range(21):
        (tmp_path / "systems" / f"{number}.txt").write_text("ahoj\n")
    (tmp_path / "refs" / "A.txt").write_text("ahoj\n")
    with pytest.raises(TooManyFiles, match="systems: holds more than 20 files"):
        read_any_campaign([tmp_path])
    with pytest.raises(TooManyFiles):
        read_any_campaign([tmp_path / "systems"])


def test_more_systems_and_larger_files_than_a_setting_allows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("refs", "systems"):
        (tmp_path / "trial" / name).mkdir(parents=True)
    (tmp_path / "trial" / "refs" / "A.txt").write_text("ahoj\n")
    files = [tmp_path / "trial" / "systems" / f"s{number}.txt" for number in range(4)]
    for file in files:
        file.write_text("ahoj\n")
    monkeypatch.setenv("STEELYARD_MOST_SYSTEMS", "3")
    for words in (["evaluate", "trial"], ["score", "trial/refs/A.txt", "-i", *map(str, files)]):
        assert main(words) == 1
        assert "STEELYARD_MOST_SYSTEMS" in capsys.readouterr().err
    runs = tmp_path / "runs" / "systems" / "s"
    runs.mkdir(parents=True)
    (tmp_path / "runs" / "refs").symlink_to(tmp_path / "trial" / "refs")
    for number in range(4):
        (runs / f"{number}.txt").write_text("ahoj\n")
    assert main(["evaluate", "runs"]) == 1
    assert "STEELYARD_MOST_SYSTEMS" in capsys.readouterr().err, "each run is an output to score"
    monkeypatch.setenv("STEELYARD_MOST_SYSTEMS", "5")
    assert main(["score", "trial/refs/A.txt", "-i", *map(str, files)]) == 0
    monkeypatch.setenv("STEELYARD_MOST_BYTES", "4")
    assert main(["evaluate", "trial"]) == 1
    assert (
        "larger than 4 bytes. Split the file, or raise the limit with STEELYARD_MOST_BYTES." in capsys.readouterr().err
    )
    monkeypatch.setenv("STEELYARD_MOST_SYSTEMS", "many")
    assert main(["score", "trial/refs/A.txt", "-i", *map(str, files)]) == 2
