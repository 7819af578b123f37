"""Nobody else on the machine reads what is stored, whatever the umask."""

import logging
import os
import stat
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from models.database import migrate
from models.database.session import make_engine, reading, writing
from models.schema.campaigns import Campaign
from models.storage.blobs import write_object
from runtime.private_files import warn_of_open_folder


@contextmanager
def umask(mask):
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("make", [migrate.create, migrate.upgrade], ids=["create", "upgrade"])
def test_a_new_database_is_private(make, tmp_path):
    with umask(0):
        make(f"sqlite:///{tmp_path}/new.db")
        engine = make_engine(f"sqlite:///{tmp_path}/new.db")
        with writing(engine) as connection:
            connection.execute(insert(Campaign).values(name="a"))
            assert modes(tmp_path) == dict.fromkeys(["new.db", "new.db-shm", "new.db-wal"], 0o600)


@pytest.mark.parametrize("mode", [0o644, 0o666, 0o604])
def test_a_database_that_others_could_read_is_closed_to_them(mode, sqlite_url, tmp_path, caplog):
    file = tmp_path / "steelyard.db"
    with umask(0):
        os.chmod(file, mode)
        engine = make_engine(sqlite_url)
        # Who still reads keeps the log; SQLite itself would close an empty one.
        with reading(engine) as reader:
            reader.execute(select(Campaign.id)).all()
            with writing(engine) as connection:
                connection.execute(insert(Campaign).values(name="a"))
            for each in ("-wal", "-shm"):
                os.chmod(f"{file}{each}", 0o644)
            with reading(make_engine(sqlite_url)):
                pass
            assert modes(tmp_path) == dict.fromkeys(["steelyard.db", "steelyard.db-shm", "steelyard.db-wal"], 0o600)
    assert f"{file} could be read by others (mode {mode:o}); it is private now." in caplog.text


def test_one_that_its_group_may_read_is_reported(sqlite_url, tmp_path, caplog):
    os.chmod(tmp_path / "steelyard.db", 0o660)
    for _ in range(2):
        with writing(make_engine(sqlite_url)):
            pass
    assert modes(tmp_path)["steelyard.db"] == 0o660
    assert caplog.text.count("can be read by its group") == 1


def test_a_private_one_is_not_spoken_of(sqlite_url, tmp_path, caplog):
    os.chmod(tmp_path / "steelyard.db", 0o600)
    with caplog.at_level(logging.DEBUG), writing(make_engine(sqlite_url)):
        pass
    assert "can be read" not in caplog.text
    assert "could be read" not in caplog.text


def test_statistics_are_private(tmp_path, caplog):
    with umask(0):
        placed = write_object(b"x", f"file://{tmp_path}/a/b")
    file = Path(placed.address.removeprefix("file://"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for folder in (file.parent, tmp_path / "a" / "b", tmp_path / "a"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert not caplog.text
    (tmp_path / "open").mkdir(mode=0o755)
    for content in (b"x", b"y"):
        write_object(content, f"file://{tmp_path}/open")
    assert caplog.text.count("can be read by others") == 1


@pytest.mark.parametrize(
    ("mode", "warned"), [(0o700, False), (0o750, True), (0o710, True), (0o701, True), (0o500, False)]
)
def test_an_open_folder_is_warned_of_and_left(tmp_path, caplog, mode, warned):
    folder = tmp_path / f"{mode:o}"
    folder.mkdir()
    folder.chmod(mode)
    warn_of_open_folder(str(folder))
    assert ("can be read by others" in caplog.text) == warned
    assert stat.S_IMODE(folder.stat().st_mode) == mode


def test_one_that_cannot_be_closed_to_others_is_reported(sqlite_url, tmp_path, caplog, monkeypatch):
    os.chmod(tmp_path / "steelyard.db", 0o644)

    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(os, "chmod", refuse)
    with writing(make_engine(sqlite_url)):
        pass
    assert "can be read by others, and this user cannot change that" in caplog.text
