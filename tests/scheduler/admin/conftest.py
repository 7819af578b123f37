"""A database with a small job, and its scores when nothing happens to it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine

from models.database.session import make_engine
from runtime.settings import Settings
from scheduler.ingest.campaigns import IngestResult
from tests.faults.cluster import Scores, stored_scores
from tests.scheduler.admin.evaluations import queue
from tests.scheduler.jobs import one_block_shards, work_off
from worker.context import WorkerContext


@pytest.fixture
def settings(database_url: str) -> Settings:
    return one_block_shards(database_url)


@pytest.fixture
def context(settings: Settings) -> Iterator[WorkerContext]:
    context = WorkerContext(settings)
    yield context
    context.close()


@pytest.fixture
def job(engine: Engine, settings: Settings) -> IngestResult:
    return queue(engine, settings)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Scores:
    """The scores of the job when nothing happens to it."""
    file = tmp_path_factory.mktemp("undisturbed") / "steelyard.db"
    file.write_bytes(sqlite_template.read_bytes())
    settings = one_block_shards(f"sqlite:///{file}")
    engine = make_engine(settings.database_url, pooled=False)
    queue(engine, settings)
    work_off(settings)
    return stored_scores(engine)
