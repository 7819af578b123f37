"""Databases that cannot be used: one line that says what was found, where, and what to do."""

import ctypes
import os
import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from cli.errors import explained
from cli.main import main
from models.database.error_kinds import (
    DatabaseProblem,
    classify_error,
    explain,
    is_transient,
    is_transient_server_error,
)
from models.database.session import make_engine, writing
from steelyard.commands.errors import CommandError
from steelyard.commands.writing import make_folder, write_file

REPOSITORY = Path(__file__).parents[2]


def complaint(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 1
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert len(lines) == 1
    return lines[0]


def test_a_file_that_is_no_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("Bread, milk, and whatever else there is to buy.\n" * 100)
    said = complaint(capsys, "leaderboard", "--database", f"sqlite:///{file}")
    assert said == f"steelyard: The database {file} cannot be used: file is not a database. {DatabaseProblem.DAMAGED}"


def test_a_folder_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "no" / "such" / "folder.db"
    said = complaint(capsys, "leaderboard", "--database", f"sqlite:///{file}")
    assert (
        said == f"steelyard: The database {file} cannot be used: unable to open database file. {DatabaseProblem.CLOSED}"
    )


def test_a_server_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    said = complaint(capsys, "leaderboard", "--database", "postgresql://me:secret@127.0.0.1:1/nothing")
    assert "postgresql+psycopg://me:***@127.0.0.1:1/nothing cannot be used: " in said
    assert said.endswith(DatabaseProblem.AWAY)


def test_a_database_that_another_program_holds(
    sqlite_url: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "trial"
    for name in ("refs/A", "systems/one"):
        file = folder / f"{name}.txt"
        file.parent.mkdir(parents=True)
        file.write_text("a b c\n")
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    said = complaint(capsys, "evaluate", str(folder), "--database", f"{sqlite_url}?timeout=0.1")
    other.close()
    file = sqlite_url.removeprefix("sqlite:///")
    assert said == f"steelyard: The database {file} cannot be used: database is locked. {DatabaseProblem.BUSY}"


@pytest.mark.parametrize("what", ["file", "folder"])
def test_a_database_that_may_not_be_written(sqlite_url: str, what: str, tmp_path: Path) -> None:
    folder = tmp_path / "trial"
    for name in ("refs/A", "systems/one"):
        file = folder / f"{name}.txt"
        file.parent.mkdir(parents=True)
        file.write_text("a b c\n")
    database = Path(sqlite_url.removeprefix("sqlite:///"))
    (database if what == "file" else database.parent).chmod(0o400 if what == "file" else 0o555)
    command = [sys.executable, "-m", "cli.main", "evaluate", str(folder), "--database", sqlite_url]
    ended = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, preexec_fn=without_privilege, timeout=300
    )
    database.parent.chmod(0o755)
    assert ended.returncode == 1, ended.stderr
    (said,) = ended.stderr.splitlines()
    assert said.startswith(f"steelyard: The database {database} cannot be used: ")
    assert said.endswith((DatabaseProblem.FORBIDDEN, DatabaseProblem.CLOSED))


def without_privilege() -> None:
    """Let root, too, write only what its permissions allow: take CAP_DAC_OVERRIDE from what is executed next."""
    if os.geteuid() == 0:
        drop_from_bounding_set, may_write_everything = 24, 1
        assert ctypes.CDLL(None).prctl(drop_from_bounding_set, may_write_everything, 0, 0, 0) == 0


def test_a_full_database(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url, pooled=False)
    with writing(engine) as connection:
        pages = connection.scalar(text("PRAGMA page_count"))
        connection.execute(text(f"PRAGMA max_page_count = {pages}"))
        with pytest.raises(DBAPIError) as caught:
            connection.execute(text("CREATE TABLE large AS SELECT zeroblob(1000000)"))
    assert classify_error(caught.value) == DatabaseProblem.FULL
    assert not is_transient(caught.value)
    file = sqlite_url.removeprefix("sqlite:///")
    assert (
        explain(caught.value) == f"The database {file} cannot be used: database or disk is full. {DatabaseProblem.FULL}"
    )
    assert explained(caught.value) == (explain(caught.value), 1)


def test_a_wrong_statement_is_no_database_outage(database_url: str) -> None:
    with pytest.raises(DBAPIError) as caught, writing(make_engine(database_url, pooled=False)) as connection:
        connection.execute(text("SELECT nothing FROM nowhere"))
    assert classify_error(caught.value) is None
    assert not is_transient(caught.value)


def test_only_a_server_is_waited_for(postgres_url: str, sqlite_url: str) -> None:
    with pytest.raises(DBAPIError) as cut, writing(make_engine(postgres_url, pooled=False)) as connection:
        connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
    assert classify_error(cut.value) == DatabaseProblem.AWAY
    assert is_transient_server_error(cut.value)
    other = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DBAPIError) as busy, writing(make_engine(f"{sqlite_url}?timeout=0", pooled=False)):
        pass
    other.close()
    assert classify_error(busy.value) == DatabaseProblem.BUSY
    assert is_transient(busy.value)
    assert not is_transient_server_error(busy.value)


def test_a_report_is_whole_or_not_there(tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    write_file(file, "old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, hard))
    try:
        with pytest.raises(CommandError) as caught:
            write_file(file, "new" * 50_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(caught.value).startswith(f"{file} cannot be written: ")
    assert "Check the free space" in str(caught.value)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]
    write_file(file, "new")
    assert file.read_text() == "new"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match="cannot be created: Not a directory"):
        make_folder(tmp_path / "file" / "report")
