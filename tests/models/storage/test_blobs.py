"""Statistics in a store beside the database: the same bits, nothing overwritten, what is lost is made again."""

import os
import resource
import time
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, delete, func, select, update

from cli.main import main
from models.database.session import make_engine, reading, writing
from models.errors import BadStore, MissingObject
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD, ShardRow
from models.results.statistics import read_statistics
from models.schema.queue import Evaluation, Reduction, Shard
from models.schema.results import ReplicatePart, Score, Statistics
from models.schema.states import EvaluationState, LeaseState
from models.storage import blobs
from models.storage.blobs import (
    collect_garbage,
    columns,
    content_of,
    delete_object_rows,
    find_lost_objects,
    read_stored_objects,
    write_object,
)
from runtime.settings import Settings
from scheduler.admin import retry
from scheduler.enqueue.evaluations import enqueue_evaluations
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.tasks import claim_task, complete_shard
from worker.computing import scoring
from worker.context import WorkerContext
from worker.handlers import do


def scores(engine: Engine) -> list[tuple[object, ...]]:
    with reading(engine) as connection:
        rows = connection.execute(
            select(Score.metric, Score.score, Score.sums, Score.replicate_scores).order_by(
                Score.evaluation_id, Score.metric
            )
        )
        return [tuple(row) for row in rows]


def objects(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def stored(url: str, store: str, **others: object) -> tuple[Engine, Settings, tuple[int, ...]]:
    """A finished campaign of two systems whose shards make their replicate parts."""
    settings = one_block_shards(url, statistics_url=store, **others)
    engine = make_engine(url)
    job = queue_job(engine, settings, segments=700, systems=2, metrics=["bleu", "chrf"])
    work_off(settings)
    return engine, settings, tuple(job.all_evaluations)


def test_scores_are_the_same_wherever_statistics_lie(database_url, tmp_path, monkeypatch, sqlite_template):
    import_module("worker.computing.reducer")  # before a limit changes from which it makes its own
    monkeypatch.setattr(scoring, "LARGEST_TRAVELLING", 0)
    engine, _, evaluations = stored(database_url, (tmp_path / "store").as_uri(), statistics_bytes=0)
    (tmp_path / "plain.db").write_bytes(sqlite_template.read_bytes())
    plain, _, _ = stored(f"sqlite:///{tmp_path / 'plain.db'}", "")
    assert len(scores(engine)) == 4
    assert scores(engine) == scores(plain)
    with reading(engine) as connection, reading(plain) as other:
        for table in (Statistics, ReplicatePart):
            addresses = list(connection.scalars(select(table.object_url)))
            assert len(addresses) == 2 * 2 * 3
            assert all(Path(address.removeprefix("file://")).is_file() for address in addresses)
            assert set(connection.scalars(select(func.length(table.blob)))) == {0}
            assert set(other.scalars(select(table.object_url))) == {None}
        for metric in (0, 1):
            found, expected = (read_statistics(each, evaluations, metric) for each in (connection, other))
            assert found.tobytes() == expected.tobytes()
    engine.dispose()
    plain.dispose()


def test_small_results_stay_in_their_rows(sqlite_url, tmp_path):
    engine, _, _ = stored(sqlite_url, (tmp_path / "store").as_uri())
    assert objects(tmp_path / "store") == []
    engine.dispose()


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_bytes(b"other")], ids=["gone", "damaged"])
def test_a_lost_object_fails_the_evaluation_and_is_made_again(sqlite_url, tmp_path, damage):
    settings = one_block_shards(sqlite_url, statistics_url=(tmp_path / "store").as_uri(), statistics_bytes=0)
    context = WorkerContext(settings)
    job = queue_job(context.engine, settings, segments=700, systems=1)
    with reading(context.engine) as connection:
        *shards, last = connection.scalars(select(Shard.id).order_by(Shard.id))
    for shard in shards:
        do(context, SHARD, shard, "task")
    lost = objects(tmp_path / "store")[0]
    content = lost.read_bytes()
    damage(lost)
    do(context, SHARD, last, "task")
    with reading(context.engine) as connection:
        reduction = connection.scalars(select(Reduction.id)).one()
    for _ in range(settings.max_attempts - 1):
        do(context, REDUCTION, reduction, "task")
    with reading(context.engine) as connection:
        ended = connection.execute(select(Evaluation.state, Evaluation.reason)).one()
    assert ended.state == EvaluationState.FAILED
    assert lost.as_uri() in ended.reason
    assert "`steelyard submission retry` recomputes what is missing" in ended.reason

    with writing(context.engine) as connection:
        enqueue_evaluations(connection, settings, job.protocols[0], job.submissions)
        waiting = select(func.count()).select_from(Shard).where(Shard.state == LeaseState.PENDING)
        assert connection.scalar(waiting) == 1, "what is there is not made again"
    work_off(settings)
    assert lost.read_bytes() == content
    with reading(context.engine) as connection:
        assert connection.scalars(select(Evaluation.state)).one() == EvaluationState.DONE
    context.close()


def test_nobody_asks_the_store_while_he_holds_rows(database_url, tmp_path, monkeypatch):
    """A store may take long to answer, and PostgreSQL ends a transaction that says nothing for half a minute."""
    settings = one_block_shards(database_url, statistics_url=(tmp_path / "store").as_uri(), statistics_bytes=0)
    context = WorkerContext(settings)
    job = queue_job(context.engine, settings, segments=700, systems=2)
    work_off(settings)
    with writing(context.engine) as connection:
        connection.execute(update(Evaluation).values(state=EvaluationState.FAILED, reason="A disk was full."))

    def ask(_row):
        raise AssertionError("the store was asked")

    with monkeypatch.context() as patched:
        patched.setattr(blobs, "content_of", ask)
        assert retry(context.engine, settings, job.all_evaluations) == list(job.all_evaluations)
        # The same again, as a campaign that is evaluated once more.
        queue_job(context.engine, settings, segments=700, systems=2)
    with writing(context.engine) as connection:
        assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.REDUCING}
        connection.execute(delete(Score))
    work_off(settings)
    with reading(context.engine) as connection:
        assert set(connection.scalars(select(Evaluation.state))) == {EvaluationState.DONE}
    context.close()


def test_only_those_that_failed_lose_what_is_lost(sqlite_url, tmp_path):
    """They were to be added up together; each of the others is added up alone, and keeps its rows."""
    settings = one_block_shards(
        sqlite_url, statistics_url=(tmp_path / "store").as_uri(), statistics_bytes=0, max_attempts=1
    )
    context = WorkerContext(settings)
    job = queue_job(context.engine, settings, segments=700, systems=2)
    with reading(context.engine) as connection:
        *shards, last = connection.scalars(select(Shard.id).order_by(Shard.id))
        theirs = select(Statistics.object_url).where(Statistics.evaluation_id == job.all_evaluations[0])
    for shard in shards:
        do(context, SHARD, shard, "task")
    with reading(context.engine) as connection:
        lost = connection.scalars(theirs).first()
    Path(lost.removeprefix("file://")).unlink()
    do(context, SHARD, last, "task")
    work_off(settings)
    with reading(context.engine) as connection:
        assert list(connection.scalars(select(Evaluation.state).order_by(Evaluation.id))) == ["failed", "done"]
        rows = connection.execute(
            select(Statistics.evaluation_id, func.count()).group_by(Statistics.evaluation_id).order_by("evaluation_id")
        )
        assert [count for _, count in rows] == [2, 3]
        assert lost not in set(connection.scalars(theirs))
    context.close()


def test_what_is_lost_is_not_taken_over_again(sqlite_url, tmp_path):
    settings = one_block_shards(sqlite_url, statistics_url=(tmp_path / "store").as_uri(), statistics_bytes=0)
    context = WorkerContext(settings)
    queue_job(context.engine, settings, segments=200, systems=1)
    work_off(settings)
    (lost,) = objects(tmp_path / "store")
    lost.unlink()
    more = queue_job(context.engine, settings, segments=200, systems=1, replicates=60)
    with reading(context.engine) as connection:
        reduction = connection.scalars(select(Reduction.id).where(Reduction.state == LeaseState.PENDING)).one()
    for _ in range(settings.max_attempts):
        do(context, REDUCTION, reduction, "task")
    state = select(Evaluation.state).where(Evaluation.id == more.all_evaluations[0])
    with writing(context.engine) as connection:
        assert connection.scalar(state) == EvaluationState.FAILED, "nothing was taken over"
        enqueue_evaluations(connection, settings, more.protocols[0], more.submissions)
    work_off(settings)
    with reading(context.engine) as connection:
        assert connection.scalar(state) == EvaluationState.DONE
    context.close()


def test_a_late_worker_changes_nothing(sqlite_url, tmp_path):
    store = (tmp_path / "store").as_uri()
    settings = one_block_shards(sqlite_url)
    engine = make_engine(sqlite_url)
    job = queue_job(engine, settings, segments=200, systems=1)
    (evaluation,) = job.all_evaluations

    def claim(owner):
        with writing(engine) as connection:
            connection.execute(update(Shard).values(state=LeaseState.PENDING))
            return claim_task(connection, SHARD, 1, owner=owner, worker="w", lease_seconds=60, max_attempts=3)

    late, early = claim("late"), claim("early")
    with writing(engine) as connection:
        kept = write_object(b"right", store)
        assert complete_shard(connection, early, [ShardRow(evaluation, 0, kept, None)]).accepted
    with writing(engine) as connection:
        row = ShardRow(evaluation, 0, write_object(b"wrong", store), None)
        assert not complete_shard(connection, late, [row]).accepted
    with reading(engine) as connection:
        row = connection.execute(select(Statistics.blob, Statistics.object_url)).one()
        assert content_of(row, 100) == b"right"
        # What the late one wrote is nobody's.
        assert collect_garbage(connection, store, older_seconds=3600) == (2, 0)
        assert collect_garbage(connection, store, older_seconds=-3600) == (1, 1)
        assert content_of(row, 100) == b"right"
    engine.dispose()


def test_only_objects_are_collected_by_the_command(sqlite_url, tmp_path, monkeypatch, capsys):
    engine, settings, _ = stored(sqlite_url, (tmp_path / "store").as_uri(), statistics_bytes=0)
    engine.dispose()
    monkeypatch.setenv("STEELYARD_DATABASE_URL", sqlite_url)
    assert main(["db", "collect"]) == 1
    assert "STEELYARD_STATISTICS_URL is not set" in capsys.readouterr().err
    monkeypatch.setenv("STEELYARD_STATISTICS_URL", settings.statistics_url)
    before = objects(tmp_path / "store")
    orphan = Path(write_object(b"nobody's", settings.statistics_url).address.removeprefix("file://"))
    unfinished, foreign = orphan.with_name(orphan.name + ".0123abcd"), orphan.with_name("notes.txt")
    for file in (unfinished, foreign):
        file.write_bytes(b"x")
    # What was written within the hours given, by default a day, may be in use.
    for older, hours in (((), 0), ((), 23), (("--older", "3"), 2)):
        written = time.time() - hours * 3600
        for file in (orphan, unfinished, foreign):
            os.utime(file, (written, written))
        assert main(["db", "collect", *older]) == 0
        assert "0 deleted" in capsys.readouterr().out
    assert main(["db", "collect", "--older", "1"]) == 0
    assert capsys.readouterr().out == f"objects: 2 deleted, {len(before)} kept\n"
    assert objects(tmp_path / "store") == sorted([*before, foreign])


def test_what_another_installation_keeps_in_the_same_store_is_not_collected(sqlite_url, tmp_path, monkeypatch, capsys):
    engine, settings, _ = stored(sqlite_url, (tmp_path / "store").as_uri(), statistics_bytes=0)
    engine.dispose()
    there = objects(tmp_path / "store")
    for file in there:
        os.utime(file, (0, 0))
    monkeypatch.setenv("STEELYARD_DATABASE_URL", f"sqlite:///{tmp_path / 'other.db'}")
    monkeypatch.setenv("STEELYARD_STATISTICS_URL", settings.statistics_url)
    assert main(["db", "upgrade"]) == 0
    assert main(["db", "collect"]) == 1
    assert (
        f"refers to 0 objects in {settings.statistics_url}, and {len(there)} would be deleted"
        in capsys.readouterr().err
    )
    assert objects(tmp_path / "store") == there
    assert main(["db", "collect", "--force"]) == 0
    assert objects(tmp_path / "store") == []


def test_stores_of_other_kinds_and_addresses_that_are_none():
    placed = write_object(b"in memory", "memory://steelyard/")
    assert placed == write_object(b"in memory", "memory://steelyard")
    assert content_of(SimpleNamespace(blob=b"", object_url=placed.address), 100) == b"in memory"
    assert columns(placed) == {"blob": b"", "object_url": placed.address}
    assert columns(b"here") == {"blob": b"here", "object_url": None}
    for wrong, message in (
        ("s3://me:secret@host/bucket", "names a user"),
        ("folder", "'folder' cannot be a store"),
        ("nothing://here", "nothing://here/.* cannot be used"),
        ("file:///" + "x" * 450, "cannot be a store"),
        ("s3://", "cannot be a store"),
        ("file:///", "cannot be a store"),
        ("simplecache::s3://bucket/folder", "cannot be a store"),
        ("s3://bucket//folder", "cannot be a store"),
        ("s3://bucket/folder//more", "cannot be a store"),
        ("s3://bucket/../folder", "cannot be a store"),
        ("s3://../folder", "cannot be a store"),
        ("file:///somewhere/./folder", "cannot be a store"),
    ):
        with pytest.raises(BadStore, match=message) as raised:
            write_object(b"", wrong)
        assert "secret" not in str(raised.value)


def test_an_object_is_not_read_further_than_it_can_be_long(tmp_path, monkeypatch):
    placed = write_object(b"right", (tmp_path / "store").as_uri())
    file = objects(tmp_path / "store")[0]
    row = SimpleNamespace(blob=b"", object_url=placed.address)
    with file.open("r+b") as changed:
        # Nothing of it lies on the disk, and it would be read as 3 GB of zeros.
        changed.truncate(3_000_000_000)
    monkeypatch.setattr(blobs, "READ_AT_ONCE", 4)
    begun = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(MissingObject, match="more than 100 bytes"):
        content_of(row, 100)
    monkeypatch.setattr(blobs, "LARGEST_OBJECT", 1000)
    assert find_lost_objects([placed.address]) == {placed.address}
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - begun < 50_000


def test_objects_of_statistics_and_of_replicates_are_kept_as_long_as_a_row_names_them(
    sqlite_url, tmp_path, monkeypatch
):
    import_module("worker.computing.reducer")  # before a limit changes from which it makes its own
    monkeypatch.setattr(scoring, "LARGEST_TRAVELLING", 0)
    store = (tmp_path / "store").as_uri()
    engine, _, (first, second) = stored(sqlite_url, store, statistics_bytes=0)
    before = objects(tmp_path / "store")
    assert len(before) == 2 * 2 * 2 * 3, "of two systems by two metrics in three shards, statistics and replicates"
    with writing(engine) as connection:
        assert collect_garbage(connection, store, older_seconds=-3600) == (len(before), 0)
        assert objects(tmp_path / "store") == before
        found = read_stored_objects(connection, [first])
        assert {key: len(addresses) for key, addresses in found.items()} == {(first, 0): 6, (first, 1): 6}
        everything = read_stored_objects(connection, [first, second])
        assert {each for some in everything.values() for each in some} == {path.as_uri() for path in before}
        lost = found[first, 1]
        assert delete_object_rows(connection, [second], lost) == 0, "those of others stay"
        assert delete_object_rows(connection, [first], lost) == 6
        assert read_stored_objects(connection, [first, second]) == {
            key: addresses for key, addresses in everything.items() if key != (first, 1)
        }
        assert collect_garbage(connection, store, older_seconds=-3600) == (len(before) - 6, 6)
    assert {path.as_uri() for path in before} - {path.as_uri() for path in objects(tmp_path / "store")} == lost
    engine.dispose()


@pytest.mark.parametrize("content", [b"", b"righ", b"right!", b"wrong", None])
def test_any_other_content_is_noticed(tmp_path, content):
    placed, other = (write_object(each, (tmp_path / "store").as_uri()) for each in (b"right", b"another"))
    file = Path(placed.address.removeprefix("file://"))
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    with pytest.raises(MissingObject):
        content_of(SimpleNamespace(blob=b"", object_url=placed.address), 100)
    assert find_lost_objects([placed.address, other.address]) == {placed.address}
