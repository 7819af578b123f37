"""The database is lost, and last night's backup restored beside an object store that has gone on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from models.database.session import make_engine, writing
from models.schema.states import EvaluationState
from models.storage.blobs import collect_garbage
from tests.faults.campaigns import Job, compare, outcomes, randomizations, undisturbed
from tests.faults.cluster import SHORT_TIMES, Cluster
from tests.faults.drills.drill import LATER, SLOW, ends_as, in_the_middle, start
from tests.faults.servers.postgres import OwnPostgres

pytestmark = [pytest.mark.faults, pytest.mark.long]

FIRST = Job(seed=3, metrics=("bleu", "chrf"), segments=256 * 6)


@pytest.fixture
def postgres() -> Iterator[OwnPostgres]:
    with OwnPostgres() as server:
        yield server


def test_last_nights_backup(
    tmp_path: Path, postgres: OwnPostgres, redis_url: str, sqlite_url: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    expected = undisturbed(sqlite_url, [FIRST, SLOW, LATER])
    calm = make_engine(sqlite_url, pooled=False)
    compare(calm, FIRST, at_once=True)
    store = f"file://{tmp_path_factory.mktemp('objects')}"
    settings = SHORT_TIMES | {"statistics_url": store, "statistics_bytes": 0}
    url = make_url(postgres.new_database())
    at = ("-h", "127.0.0.1", "-p", str(url.port), "-U", "steelyard", "-d", str(url.database))
    dump = postgres.home / "night.dump"
    with Cluster(tmp_path, url.render_as_string(), redis_url, **settings) as cluster:
        start(cluster)
        FIRST.queue(cluster.engine)
        cluster.wait_for_all()
        SLOW.queue(cluster.engine)
        in_the_middle(cluster)
        # The night: some of it is done, some runs.
        postgres.run("pg_dump", "-Fc", "-f", str(dump), *at)
        LATER.queue(cluster.engine)
        cluster.wait_for_all()
        assert outcomes(cluster.engine) == expected
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {url.database} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {url.database}")
    postgres.run("pg_restore", *at, str(dump))
    with Cluster(tmp_path, url.render_as_string(), redis_url, **settings) as cluster:
        assert {outcome[0] for outcome in outcomes(cluster.engine).values()} == {
            EvaluationState.DONE,
            EvaluationState.RUNNING,
        }
        # What no row of last night refers to goes, and nothing else: later objects, too, if nobody waits for them.
        with writing(cluster.engine) as connection:
            _, deleted = collect_garbage(connection, store, older_seconds=0.0, force=True)
        assert deleted, "the objects of the day were not found"
        start(cluster)
        # What was running goes on by itself; what came after the backup is handed in again.
        LATER.queue(cluster.engine)
        ends_as(cluster, expected)
        compare(cluster.engine, FIRST, at_once=True)
        assert randomizations(cluster.engine) == randomizations(calm), "statistics of before the backup are gone"
