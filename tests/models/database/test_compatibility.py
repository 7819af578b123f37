"""Which programs can work with which tables, and upgrades while workers are alive."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import psycopg
import pytest
from sqlalchemy import Engine, insert, text, update

from cli.main import main
from models.database import migrate
from models.database.compatibility import BEFORE_WORKERS_TOLD, SchemaStatus, living_workers, read_schema_problem
from models.database.creation import OLDEST
from models.database.session import make_engine, reading, writing
from models.errors import OlderWorkers, RowsHeld, Unreachable
from models.schema.base import now
from models.schema.queue import Compatibility, Worker
from tests.faults.cluster import until


@pytest.mark.parametrize(
    ("revision", "oldest", "program", "told"),
    [
        (None, None, "20270101", "no tables. Run `steelyard db upgrade`"),
        ("20270101", None, "20270101", None),
        ("20270101", "20260101", "20270101", None),
        ("20270201", "20260101", "20270101", None),
        ("20270201", "20270101", "20270101", None),
        ("20270201", "20270102", "20270101", "need a program of revision 20270102 or later; this one is of 20270101"),
        ("20270201", None, "20270101", "need a program of revision 20270201 or later"),
        ("20261231", "20260101", "20270101", "this release needs 20270101. Run `steelyard db upgrade`"),
    ],
)
def test_newer_tables_serve_older_programs(
    revision: str | None, oldest: str | None, program: str, told: str | None
) -> None:
    problem = SchemaStatus(revision, oldest).problem(program)
    assert problem is None if told is None else told in str(problem)
    assert SchemaStatus(revision, oldest).supports(program) == (told is None)


BEATING = -86400.0
"""Seconds since the last beat of a worker that goes on to beat, however long the test takes."""


def add_worker(engine: Engine, name: str, beat_ago: float = 0.0, **values: object) -> None:
    with writing(engine) as connection:
        row = {"id": name, "host": "h", "pid": 1, "version": "0.9", "concurrency": 1, **values}
        connection.execute(insert(Worker).values(**row, beat_at=now() - beat_ago))


def breaking(monkeypatch: pytest.MonkeyPatch, oldest: str) -> None:
    """Let every upgrade be one that programs older than some revision cannot work with."""
    read = migrate.read_schema_status
    monkeypatch.setattr(
        migrate, "read_schema_status", lambda connection: SchemaStatus(read(connection).revision, oldest)
    )


def test_an_upgrade_is_refused_while_older_workers_live(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = make_engine(database_url, pooled=False)
    add_worker(engine, "silent", 100.0)
    add_worker(engine, "knowing", BEATING, revision=migrate.REVISION)
    migrate.downgrade(database_url, "20261204")
    breaking(monkeypatch, migrate.REVISION)
    # Going down took their revisions away, so that nobody knows them any more.
    with pytest.raises(OlderWorkers, match=r"need programs of revision \d+ or later.*knowing \(version 0.9\)") as error:
        migrate.upgrade(database_url, silent_seconds=10)
    assert "silent" not in str(error.value)
    assert migrate.current_revision(database_url) == "20261204", "nothing was changed"
    assert main(["db", "upgrade", "--database", database_url]) == 1
    assert main(["db", "upgrade", "--force", "--database", database_url]) == 0
    assert migrate.current_revision(database_url) == migrate.REVISION


def test_an_upgrade_that_breaks_nothing_needs_nobody_to_stop(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make_engine(database_url, pooled=False)
    add_worker(engine, "old", BEATING)
    migrate.downgrade(database_url, "20261204")
    breaking(monkeypatch, BEFORE_WORKERS_TOLD)
    migrate.upgrade(database_url, silent_seconds=10)
    with writing(engine) as connection:
        connection.execute(update(Compatibility).values(oldest=BEFORE_WORKERS_TOLD))
        assert [(each.id, each.revision) for each in living_workers(connection, 10)] == [("old", BEFORE_WORKERS_TOLD)]
        assert read_schema_problem(connection, BEFORE_WORKERS_TOLD) is None
        assert read_schema_problem(connection, migrate.REVISION) is None


def test_commands_say_what_they_find(sqlite_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    engine = make_engine(sqlite_url, pooled=False)
    add_worker(engine, "one", BEATING, revision="20261205", edition=3)
    assert main(["db", "status", "--database", sqlite_url]) == 0
    said = capsys.readouterr().out
    assert "(up to date)" in said
    assert f"programs: of revision {OLDEST} or later" in said
    assert "one: version 0.9, revision 20261205, edition 3" in said

    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '29990101'"))
    assert main(["status", "--database", sqlite_url]) == 0
    assert main(["db", "upgrade", "--database", sqlite_url]) == 1
    assert "nothing to upgrade" in capsys.readouterr().err

    with writing(engine) as connection:
        connection.execute(update(Compatibility).values(oldest="29990101"))
    assert main(["leaderboard", "--database", sqlite_url]) == 1
    assert "tables of a newer release (revision 29990101)" in capsys.readouterr().err
    assert main(["db", "status", "--database", sqlite_url]) == 0
    assert "this release can work with them: no" in capsys.readouterr().out
    assert main(["db", "status", "--force", "--database", sqlite_url]) == 2


def test_an_upgrade_does_not_make_others_wait_for_each_other(postgres_url: str) -> None:
    engine = make_engine(postgres_url, pooled=False)
    migrate.downgrade(postgres_url, "20261204")
    blocked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    with ThreadPoolExecutor() as pool:
        with reading(engine) as reader:
            reader.execute(text("SELECT * FROM prepared_state"))
            upgrade = pool.submit(migrate.upgrade, postgres_url)
            until(lambda: _count(engine, blocked), "an upgrade that waits")
            for table in ("comparison", "worker", "evaluation"):
                reader.execute(text(f"SELECT * FROM {table}"))
            assert not upgrade.done()
        upgrade.result()
    assert migrate.current_revision(postgres_url) == migrate.REVISION


def _count(engine: Engine, statement: str) -> int:
    """A look in a transaction of its own: PostgreSQL shows one transaction the same connections until its end."""
    with reading(engine) as connection:
        return int(connection.execute(text(statement)).scalar_one())


def test_statements_of_an_upgrade_take_their_time_once_the_tables_are_locked(postgres_url: str) -> None:
    """Only the wait for the locks is short; an index of millions of rows is not made in half a second."""
    engine = make_engine(postgres_url, pooled=False)
    other = make_engine(postgres_url, pooled=False)
    with migrate._alone(engine) as connection:
        assert connection.exec_driver_sql("SHOW statement_timeout").scalar() == "0"
        with pytest.raises(RowsHeld), writing(other, lock_seconds=0.1) as late:
            late.execute(text("SELECT * FROM compatibility"))
    with writing(other, lock_seconds=30.0) as late:
        assert late.exec_driver_sql("SHOW statement_timeout").scalar() == "0"
        late.execute(text("SELECT * FROM compatibility"))


def test_an_upgrade_gives_up_where_the_tables_are_always_used(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrate, "TRIES", 2)
    monkeypatch.setattr(migrate, "LOCK_SECONDS", 0.05)
    engine = make_engine(postgres_url, pooled=False)
    with reading(engine) as reader:
        reader.execute(text("SELECT * FROM worker"))
        with pytest.raises(Unreachable, match="in constant use"):
            migrate.upgrade(postgres_url)
    migrate.upgrade(postgres_url)


def test_an_upgrade_waits_for_another_one(postgres_url: str) -> None:
    """In an empty database there is no table to lock: both would create the same."""
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    engine = make_engine(postgres_url, pooled=False)
    with ThreadPoolExecutor() as pool:
        with migrate._alone(engine):
            other = pool.submit(migrate.upgrade, postgres_url)
            with psycopg.connect(postgres_url, autocommit=True) as looking:
                until(lambda: looking.execute(waiting).fetchone() == (1,), "an upgrade that waits", 30)
            assert not other.done()
        other.result()


def test_a_migration_that_leaves_rows_which_point_nowhere_changes_nothing(sqlite_url: str) -> None:
    """SQLite does not look while tables are replaced."""
    with closing(sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))) as connection:
        connection.execute("INSERT INTO shard_evaluation (shard_id, evaluation_id) VALUES (77, 78)")
        connection.commit()
    with pytest.raises(AssertionError, match=r"rows that point nowhere: \[\('shard_evaluation'"):
        migrate.downgrade(sqlite_url, "20261204")
    assert migrate.current_revision(sqlite_url) == migrate.REVISION
