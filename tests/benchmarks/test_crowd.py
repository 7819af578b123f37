"""The driver of the crowd: what it replays is what workers send, and leaves what they leave."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, make_url, text

from benchmarks.crowd.clients import Connection, Refused, replay, runs
from benchmarks.crowd.recording import Request, Script, batch, compare, recorded, shards_by_evaluation
from benchmarks.crowd.tables import METRICS, SHARDS, fill
from benchmarks.crowd.wire import message, query, read_bind, rows
from models.database.session import make_engine
from runtime.settings import Settings

WAITING = 1000


@pytest.fixture
def settings(postgres_url: str) -> Settings:
    return Settings(database_url=postgres_url)


@pytest.fixture
def engine(settings: Settings) -> Iterator[Engine]:
    found = make_engine(settings.database_url)
    fill(found, settings, 0, WAITING)
    yield found
    found.dispose()


def replayed(connection: Connection, script: Script, values: dict[str, object]) -> None:
    task = replay(script, values, 0.0)
    step = next(task)
    while True:
        try:
            step = task.send(b"" if isinstance(step, float) else connection.ask(step))
        except StopIteration:
            return


@pytest.fixture(params=[1, 8])
def script(engine: Engine, settings: Settings, request: pytest.FixtureRequest) -> Iterator[Script]:
    with recorded(settings, (request.param,)) as found:
        yield found[request.param]


@pytest.mark.few(1)
def test_an_evaluation_that_is_replayed_ends_as_a_real_one(engine: Engine, settings: Settings, script: Script) -> None:
    for fork in (script.claim, script.complete):
        begin, *_ = fork.common
        assert b"SET LOCAL" in b"".join(part for part in begin.parts if isinstance(part, bytes)), "in one message"
    assert all(
        rb"\x00" not in part for each in script.complete.common for part in each.parts if isinstance(part, bytes)
    )
    address = make_url(settings.database_url)
    connection = Connection((address.host or "", address.port or 5432), script)
    evaluation, shards = next(item for item in shards_by_evaluation(engine).items() if len(item[1]) == SHARDS)
    messages = [batch(shards[begin : begin + script.size]) for begin in range(0, SHARDS, script.size)]
    for values in messages:
        replayed(connection, script, values)
    with pytest.raises(Refused, match="cannot be claimed"):
        replayed(connection, script, messages[0])
    connection.socket.close()
    tables = {
        "shard s JOIN shard_evaluation l ON l.shard_id = s.id": "s.state, s.attempts, s.worker IS NULL, kernel_seconds",
        "statistics": "metric, last_block - first_block, length(blob), object_url",
        "score": "metric, specification",
        "evaluation": "state, remaining, started_at IS NULL, finished_at IS NULL",
        "evaluation e JOIN reduction r ON r.id = e.reduction_id": "r.state, r.attempts, r.team = e.team",
    }
    with engine.connect() as reading:
        real = reading.scalar(text("SELECT min(id) FROM evaluation WHERE state = 'done'"))
        assert real not in {None, evaluation}
        for table, columns in tables.items():
            key = "e.id" if " e " in table else "id" if table == "evaluation" else "evaluation_id"
            # Real ones ended with the shards that were recorded alone.
            which = " AND s.ended_at > 0" if " s " in table else ""
            statement = text(f"SELECT DISTINCT {columns} FROM {table} WHERE {key} = :key{which} ORDER BY 1")
            found = [reading.execute(statement, {"key": key}).all() for key in (evaluation, real)]
            assert found[0], table
            assert found[0] == found[1], table
        stored = text("SELECT count(*) FROM statistics WHERE evaluation_id = :own")
        assert reading.scalar(stored, {"own": evaluation}) == SHARDS * len(METRICS)


def test_messages_are_replayed_by_what_was_recorded() -> None:
    """Of one evaluation and without gaps, in sizes of which there is a script."""
    shards = [{"evaluation": each, "first_block": n, "last_block": n + 1} for each in (1, 2) for n in (3, 4, 5, 7)]
    assert [len(some) for some in runs(shards, range(1, 9))] == [3, 1, 3, 1]
    assert [len(some) for some in runs(shards, [1, 2])] == [2, 1, 1, 2, 1, 1]


def test_tasks_that_differ_by_more_than_their_ids_make_no_script() -> None:
    one, other = Request((b"UPDATE",), b""), Request((b"DELETE",), b"")
    compare([(one,)], [(one,)])
    for different in ([(other,)], [(one, one)], [(one,), (one,)]):
        with pytest.raises(RuntimeError, match="Two tasks"):
            compare([(one,)], different)


def test_parameters_and_rows_are_read_as_postgresql_writes_them() -> None:
    bind = read_bind(b"\0name\0\0\1\0\1\0\2\0\0\0\2ab\xff\xff\xff\xff\0\0")
    assert (bind.statement, bind.values, bind.tail) == ("name", [b"ab", None], b"\0\0")
    row = message(ord("D"), b"\0\2\0\0\0\1x\xff\xff\xff\xff")
    assert rows(query("COMMIT") + row) == [[b"x", None]]
