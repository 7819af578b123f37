"""Engines and transactions."""

import multiprocessing
import threading

import pytest
from sqlalchemy import Engine, event, insert, select, update
from sqlalchemy.exc import DBAPIError

from models.database.error_kinds import is_transient
from models.database.session import make_engine, parse_url, reading, sqlite_file, writing
from models.database.upsert import insert_ignore, upsert
from models.errors import BadDatabaseUrl
from models.queue.workers import beat, count_processes, delete_silent_workers, delete_worker
from models.schema.base import now
from models.schema.campaigns import Campaign
from models.schema.corpus import System
from models.schema.queue import Worker


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://localhost/x", "nonsense"])
def test_databases_that_cannot_be_shared_are_refused(url: str) -> None:
    with pytest.raises(BadDatabaseUrl, match="sqlite:///FILE or postgresql"):
        make_engine(url)


@pytest.mark.parametrize("timeout", ["abc", "-1", "nan", "inf", "3&timeout=x"])
def test_a_time_to_wait_is_a_number_of_seconds(timeout: str) -> None:
    with pytest.raises(BadDatabaseUrl, match="is no number of seconds"):
        make_engine(f"sqlite:///x.db?timeout={timeout}")


def test_a_password_is_not_shown() -> None:
    with pytest.raises(BadDatabaseUrl) as error:
        make_engine("mysql://me:secret@localhost/x")
    assert "secret" not in str(error.value)


def test_urls() -> None:
    assert parse_url("postgresql://me@host/name").drivername == "postgresql+psycopg"
    assert sqlite_file("sqlite:///folder/file.db") == "folder/file.db"
    assert sqlite_file("postgresql://me@host/name") is None


def test_a_failed_transaction_leaves_nothing(database_url: str) -> None:
    engine = make_engine(database_url)

    def store_and_fail() -> None:
        with writing(engine) as connection:
            connection.execute(insert(Campaign).values(name="a"))
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        store_and_fail()
    with reading(engine) as connection:
        assert connection.execute(select(Campaign)).all() == []
    engine.dispose()


def test_who_is_interrupted_in_the_middle_of_writing_holds_nobody_up(database_url: str) -> None:
    """While the exception is handled, its traceback keeps the statement, which still has a row to give."""
    engine, other = make_engine(database_url), make_engine(database_url, pooled=False)

    def interrupt(*arguments: object) -> None:
        if str(arguments[2]).startswith("UPDATE"):
            raise KeyboardInterrupt

    event.listen(engine, "after_cursor_execute", interrupt)

    def write(engine: Engine) -> None:
        with writing(engine, lock_seconds=1.0) as connection:
            connection.execute(update(Campaign).values(description="b").returning(Campaign.id)).one()

    with writing(engine) as connection:
        connection.execute(insert(Campaign).values(name="a"))
    try:
        write(engine)
    except KeyboardInterrupt:
        write(other)
    else:
        pytest.fail("nothing was interrupted")
    engine.dispose()


def test_who_reads_cannot_write(postgres_url: str) -> None:
    engine = make_engine(postgres_url)
    with reading(engine) as connection, pytest.raises(DBAPIError, match="read-only"):
        connection.execute(insert(Campaign).values(name="a"))
    with writing(engine) as connection:
        connection.execute(insert(Campaign).values(name="a"))
    engine.dispose()


def test_who_reads_sees_one_moment(database_url: str) -> None:
    engine = make_engine(database_url)
    with reading(engine) as reader:
        assert reader.execute(select(Campaign)).all() == []
        with writing(engine) as writer:
            writer.execute(insert(Campaign).values(name="a"))
        assert reader.execute(select(Campaign)).all() == []
    with reading(engine) as reader:
        assert len(reader.execute(select(Campaign)).all()) == 1
    with writing(engine) as writer:
        # The connection of the pool is as it was: who writes sees what others have committed.
        assert writer.dialect.name == "sqlite" or writer.get_isolation_level() == "READ COMMITTED"
    engine.dispose()


def test_readers_do_not_wait_for_a_writer(database_url: str) -> None:
    engine = make_engine(database_url)
    with writing(engine) as writer:
        writer.execute(insert(Campaign).values(name="a"))
        found: list[int] = []

        def read() -> None:
            with reading(engine) as reader:
                found.append(len(reader.execute(select(Campaign)).all()))

        thread = threading.Thread(target=read)
        thread.start()
        thread.join(60)
        assert found == [0]
    engine.dispose()


@pytest.mark.parametrize(
    ("relaxed", "durable", "found"),
    [(True, False, "off"), (False, False, "on"), (True, True, "off"), (False, True, "off")],
)
def test_commits_wait_for_the_disk_unless_relaxed_or_waited_for_afterwards(
    postgres_url: str, relaxed: bool, durable: bool, found: str
) -> None:
    """What is durable is waited for once its locks are free (the next test)."""
    engine = make_engine(postgres_url, relaxed=relaxed)
    with writing(engine, durable=durable) as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar() == found
    engine.dispose()


@pytest.mark.parametrize("notify", [True, False])
@pytest.mark.parametrize("relaxed", [True, False])
def test_what_is_durable_is_on_disk_at_its_end(postgres_url: str, relaxed: bool, notify: bool) -> None:
    engine = make_engine(postgres_url, relaxed=relaxed)
    for number in range(20):
        with writing(engine, durable=True, notify=notify) as connection:
            connection.execute(insert(Campaign).values(name=str(number)))
            written = connection.exec_driver_sql("SELECT pg_current_wal_insert_lsn()").scalar_one()
        with reading(engine) as connection:
            flushed = connection.exec_driver_sql(f"SELECT pg_current_wal_flush_lsn() >= '{written}'::pg_lsn")
            assert flushed.scalar()
            assert len(connection.execute(select(Campaign)).all()) == number + 1
    engine.dispose()


@pytest.mark.parametrize("durable", [True, False])
def test_a_transaction_that_was_undone_within_ends_without_a_word(postgres_url: str, durable: bool) -> None:
    engine = make_engine(postgres_url)
    with writing(engine, durable=durable) as connection:
        connection.execute(insert(Campaign).values(name="undone"))
        connection.rollback()
    with reading(engine) as connection:
        assert connection.execute(select(Campaign)).all() == []
    engine.dispose()


def count_up(url: str, times: int) -> None:
    engine = make_engine(url)
    for _ in range(times):
        with writing(engine) as connection:
            # Reads first and writes then: with a plain BEGIN this dies on SQLite.
            found = connection.execute(select(System.name).with_for_update()).scalar_one()
            connection.execute(update(System).values(name=str(int(found) + 1)))


def test_two_processes_that_read_and_then_write_lose_nothing(database_url: str) -> None:
    engine = make_engine(database_url)
    with writing(engine) as connection:
        connection.execute(insert(System).values(id=1, name="0", team=""))
    engine.dispose()
    spawn = multiprocessing.get_context("spawn")
    others = [spawn.Process(target=count_up, args=(database_url, 100)) for _ in range(2)]
    for other in others:
        other.start()
    for other in others:
        other.join(60)
    assert [other.exitcode for other in others] == [0, 0]
    with reading(engine) as connection:
        assert connection.execute(select(System.name)).scalar_one() == "200"
    engine.dispose()


def test_one_that_freezes_in_the_middle_of_writing_holds_nobody_up(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.database.session.IDLE_SECONDS", 0.2)
    frozen, other = make_engine(postgres_url), make_engine(postgres_url)
    with writing(other) as connection:
        connection.execute(insert(System).values(id=1, name="0", team=""))

    def freeze() -> None:
        with writing(frozen) as connection:
            connection.execute(update(System).values(name="frozen"))
            with writing(other) as second:
                second.execute(update(System).values(name="other"))
            connection.execute(select(System))

    with pytest.raises(DBAPIError, match="idle-in-transaction") as error:
        freeze()
    assert is_transient(error.value), "it tries again when it wakes up"
    with writing(frozen) as connection:
        assert connection.execute(select(System.name)).scalar_one() == "other"
    frozen.dispose()
    other.dispose()


def test_inserts_that_meet_rows(database_url: str) -> None:
    engine = make_engine(database_url)
    row = {"id": "w", "host": "h", "pid": 1, "version": "1", "concurrency": 2}
    with writing(engine) as connection:
        insert_ignore(connection, Campaign, [{"name": "a"}, {"name": "b"}])
        insert_ignore(connection, Campaign, [{"name": "b"}, {"name": "c"}])
        insert_ignore(connection, Campaign, [])
        upsert(connection, Worker, [row], ["pid"])
        upsert(connection, Worker, [{**row, "pid": 7, "host": "other"}], ["pid"])
    with reading(engine) as connection:
        assert sorted(connection.scalars(select(Campaign.name))) == ["a", "b", "c"]
        assert connection.execute(select(Worker.pid, Worker.host)).one() == (7, "h")
    engine.dispose()


def test_heartbeats(database_url: str) -> None:
    engine = make_engine(database_url)
    row = {"host": "h", "pid": 1, "version": "1", "concurrency": 3}
    with writing(engine) as connection:
        connection.execute(insert(Worker), [{"id": "a", **row}, {"id": "b", **row}])
        connection.execute(update(Worker).where(Worker.id == "b").values(beat_at=now() - 100))
        assert count_processes(connection, 10) == 3
        assert beat(connection, "b")
        assert count_processes(connection, 10) == 6
        assert not beat(connection, "c")
        connection.execute(update(Worker).where(Worker.id == "a").values(beat_at=now() - 100))
        delete_silent_workers(connection, 50)
        assert list(connection.scalars(select(Worker.id))) == ["b"]
        delete_worker(connection, "b")
        assert count_processes(connection, 10) == 0
    engine.dispose()


def test_the_clock_is_that_of_the_database(database_url: str) -> None:
    engine = make_engine(database_url)
    with reading(engine) as connection:
        first, second = (connection.scalar(select(now())) for _ in range(2))
    assert isinstance(first, float)
    assert 1.7e9 < first <= second
    engine.dispose()


def test_rows_in_binary_form_are_the_same(postgres_url: str) -> None:
    values = "SELECT '\\x00ff'::bytea, 1.5::float8, 7::bigint, true, 'ž'::text, '{\"a\": [1]}'::json, count(*), NULL"
    found = []
    for binary in (False, True):
        with reading(make_engine(postgres_url, binary=binary)) as connection:
            found.append(tuple(connection.exec_driver_sql(values).one()))
    assert found[0] == found[1] == (b"\x00\xff", 1.5, 7, True, "ž", {"a": [1]}, 1, None)


def test_what_was_prepared_outlives_the_transaction(postgres_url: str) -> None:
    """A rollback would take it away, and every task would be planned anew."""
    engine = make_engine(postgres_url, prepared=True, connections=1)
    counted = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT worker.id%%'"
    for _ in range(6):
        with reading(engine) as connection:
            connection.execute(select(Worker.id)).all()
    with reading(engine) as connection:
        assert connection.exec_driver_sql(counted).scalar() == 1
    engine.dispose()
