"""Files that commands write: whole or not at all, and what is no file is written to."""

import os
from pathlib import Path

import pytest

from steelyard.commands.errors import CommandError, exit_status
from steelyard.commands.writing import make_folder, write_file


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("old")
    (tmp_path / "link.txt").symlink_to(path)
    with path.open() as before:
        write_file(tmp_path / "link.txt", "č\n")
        assert before.read() == "old", "whoever reads it goes on with the old one"
    assert (path.read_bytes(), (tmp_path / "link.txt").is_symlink()) == ("č\n".encode(), True)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.txt", "report.txt"]


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_file(path, "č\n")
    assert os.read(reader, 100) == "č\n".encode()
    os.close(reader)
    assert path.is_fifo()
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    path = tmp_path / "none" / "report.txt"
    with pytest.raises(CommandError) as raised:
        write_file(path, "x")
    assert str(raised.value) == (
        f"{path} cannot be written: No such file or directory. Check the free space and the permissions, then run the "
        "same command again."
    )


def test_what_fails_half_way_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.txt"
    path.write_text("old")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CommandError, match="No space left on device"):
        write_file(path, "new" * 10_000)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("report.txt", "old")]


def test_a_folder_is_made_with_its_parents_once(tmp_path: Path) -> None:
    for _ in range(2):
        make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(CommandError) as raised:
        make_folder(tmp_path / "file")
    assert str(raised.value) == f"The folder {tmp_path / 'file'} cannot be created: File exists. Choose another one."


def test_an_interrupted_command_ends_with_the_status_of_shells(capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted() -> int:
        raise KeyboardInterrupt

    assert exit_status("steelyard", interrupted) == 130
    assert capsys.readouterr() == ("", "steelyard: interrupted.\n")
