"""Hearing that something was committed."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import IntegrityError

from models.database import changes
from models.database.changes import Listener, listen
from models.database.session import autocommit_writing, make_engine, reading, writing
from runtime.settings import Settings
from tests.faults.cluster import until
from tests.servers import free_port

HOUR = 3600.0
AT_ONCE = 0.0

LISTENING = "FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"


@contextmanager
def listening(url: str, **more: object) -> Iterator[Listener]:
    with listen(Settings(database_url=url, **more)) as listener:
        quiet(listener)
        yield listener


def quiet(listener: Listener) -> None:
    """Wait until it has heard all that there was, itself included."""
    until(lambda: not listener.wait(AT_ONCE), "silence")


@contextmanager
def engine_of(url: str) -> Iterator[Engine]:
    engine = make_engine(url)
    yield engine
    engine.dispose()


def touch(engine: Engine) -> None:
    """Commit something that changes the database."""
    with writing(engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = version_num"))


def test_what_others_commit_is_noticed_once(database_url: str) -> None:
    with listening(database_url) as listener, engine_of(database_url) as engine:
        touch(engine)
        assert listener.wait(HOUR)
        assert not listener.wait(AT_ONCE)


def test_many_commits_in_a_moment_are_one_change(database_url: str) -> None:
    with listening(database_url) as listener, engine_of(database_url) as engine:
        for _ in range(20):
            touch(engine)
        assert listener.wait(HOUR)
        quiet(listener)


def test_a_wait_of_no_time_does_not_sleep(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(sqlite_url) as listener:
        monkeypatch.setattr(changes.time, "sleep", lambda _: pytest.fail("it sleeps"))
        assert not listener.wait(AT_ONCE)


def test_another_process_is_noticed_while_one_waits(database_url: str) -> None:
    with listening(database_url) as listener:
        heard: list[bool] = []
        waiting = threading.Thread(target=lambda: heard.append(listener.wait(HOUR)), daemon=True)
        waiting.start()
        with engine_of(database_url) as engine:
            touch(engine)
        waiting.join()
        assert heard == [True]


def test_nothing_is_noticed_of_what_is_rolled_back_or_only_reads(database_url: str) -> None:
    with listening(database_url) as listener, engine_of(database_url) as engine:
        with engine.connect() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = 'x'"))
            connection.rollback()
        with reading(engine) as connection:
            connection.execute(text("SELECT * FROM alembic_version"))
        assert not listener.wait(AT_ONCE)


def test_who_is_to_stop_waits_no_longer(database_url: str) -> None:
    with listening(database_url) as listener:
        stop = threading.Event()
        threading.Timer(0.05, stop.set).start()
        assert not listener.wait(HOUR, stop)


def test_what_only_says_that_somebody_lives_wakes_nobody(postgres_url: str) -> None:
    with listening(postgres_url) as listener, engine_of(postgres_url) as engine:
        with autocommit_writing(engine) as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = version_num"))
        assert not listener.wait(AT_ONCE)


def test_what_makes_no_work_wakes_nobody(postgres_url: str) -> None:
    with listening(postgres_url) as listener, engine_of(postgres_url) as engine:
        with writing(engine, notify=False) as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = version_num"))
        assert not listener.wait(AT_ONCE)


def test_a_notification_is_no_part_of_what_is_committed(postgres_url: str) -> None:
    """PostgreSQL lets transactions that notify commit one by one, each of which waits for the disk."""
    seen = []
    with engine_of(postgres_url) as engine:
        event.listen(engine, "before_cursor_execute", lambda *called: seen.append(called[2]))
        touch(engine)
        assert seen[-1] == "COMMIT; NOTIFY steelyard", "in one message"
        seen.clear()
        with pytest.raises(ZeroDivisionError), writing(engine):
            raise ZeroDivisionError
        with writing(engine) as connection:
            connection.rollback()
        assert not any("NOTIFY" in statement for statement in seen)


@pytest.mark.parametrize("binary", [False, True])
def test_what_cannot_be_committed_notifies_nobody(postgres_url: str, binary: bool) -> None:
    """PostgreSQL checks some conditions at the commit only; the connection is as good as before."""

    def write(*numbers: int) -> None:
        with writing(engine) as connection:
            for number in numbers:
                connection.execute(text("INSERT INTO late VALUES (:number)"), {"number": number})

    with listening(postgres_url) as listener:
        engine = make_engine(postgres_url, connections=1, binary=binary)
        with writing(engine, notify=False) as connection:
            connection.execute(text("CREATE TABLE late (n INTEGER UNIQUE DEFERRABLE INITIALLY DEFERRED)"))
        with pytest.raises(IntegrityError):
            write(1, 1)
        assert not listener.wait(AT_ONCE)
        write(1)
        assert listener.wait(HOUR)
        with reading(engine) as connection:
            assert connection.scalar(text("SELECT count(*) FROM late")) == 1
        engine.dispose()


def test_a_cut_connection_is_made_again(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "RETRY_SECONDS", 0.0)
    with listening(postgres_url) as listener, engine_of(postgres_url) as engine:
        assert asked(postgres_url, f"SELECT pg_terminate_backend(pid) {LISTENING}") == [(True,)]
        assert listener.wait(HOUR), "something may have been missed"
        quiet(listener)
        touch(engine)
        assert listener.wait(HOUR)
        assert not listener.wait(AT_ONCE)


def test_where_postgresql_is_reached_directly_is_where_notifications_come_from(postgres_url: str) -> None:
    with listening(postgres_url, listen_url=f"{postgres_url}?application_name=direct") as listener:
        assert asked(postgres_url, f"SELECT application_name {LISTENING}") == [("direct",)]
        with engine_of(postgres_url) as engine:
            touch(engine)
        assert listener.wait(HOUR)
        assert not listener.wait(AT_ONCE)


def test_where_no_notification_arrives_it_is_said_once_and_looked_for(
    postgres_url: str, postgres_server: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As behind PgBouncer; here it is another database, whose notifications are not ours."""
    monkeypatch.setattr(changes, "DEAF_SECONDS", 0.0)
    with listen(Settings(database_url=postgres_url, listen_url=postgres_server)) as listener:
        assert all(listener.wait(HOUR) for _ in range(5))
    assert [record.getMessage().partition(":")[0] for record in caplog.records] == [
        "Polling the database for changes every 0.02 s"
    ]
    assert "STEELYARD_LISTEN_URL" in caplog.text


def test_an_address_that_nobody_answers_is_said_once(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(changes, "RETRY_SECONDS", 0.0)
    nowhere = f"postgresql://me@127.0.0.1:{free_port()}/x"
    with listen(Settings(database_url=postgres_url, listen_url=nowhere)) as listener:
        assert all(listener.wait(HOUR) for _ in range(3))
    assert len(caplog.records) == 1
    assert "STEELYARD_LISTEN_URL cannot be reached" in caplog.text


def test_a_database_that_is_not_there_is_asked_again(tmp_path: Path) -> None:
    with listen(Settings(database_url=f"sqlite:///{tmp_path}/none/x.db")) as listener:
        assert listener.wait(HOUR)
        assert listener.wait(HOUR)


def asked(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement).fetchall()  # type: ignore[arg-type]
