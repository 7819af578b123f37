"""Nothing is left for the first task to load: a process of the pool has it from the one that it was forked from."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import select

from models.database.session import make_engine, reading
from models.schema.queue import CorpusCount, Shard
from runtime.settings import Settings
from tests.scheduler.jobs import queue_job

ROOT = Path(__file__).parents[2]
SCRIPT = """
import json, sys

from runtime.settings import Settings
from worker.context import WorkerContext
from worker.preload import preload

url, counts, shards = sys.argv[1], *map(json.loads, sys.argv[2:])
context = WorkerContext(Settings(database_url=url))
preload(context)
before = set(sys.modules)

from steelyard.kernels.loader import shared_library
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.shards import SHARD
from worker.handlers import do

assert shared_library.cache_info().currsize, "the kernels are not loaded"
for key in counts:
    do(context, CORPUS_COUNT, key, "task")
for key in shards:
    do(context, SHARD, key, "task")
print(json.dumps(sorted(set(sys.modules) - before)))
"""


METRICS = (
    ("bleu", "chrf", "ter"),
    ("nist", "wer", "per", "fmeasure", "gtm", "tbleu", "meteor:modules=exact", "lebleu", "character"),
)


@pytest.mark.parametrize("metrics", METRICS, ids=["three", "others"])
def test_the_first_task_imports_no_module(database_url: str, metrics: tuple[str, ...]):
    """Claim, texts, kernels, statistics, reduction: on SQLite and PostgreSQL."""
    settings = Settings(database_url=database_url)
    engine = make_engine(database_url)
    queue_job(engine, settings, segments=30, metrics=metrics)
    with reading(engine) as connection:
        counts = list(connection.scalars(select(CorpusCount.id).order_by(CorpusCount.id)))
        shards = list(connection.scalars(select(Shard.id).order_by(Shard.id)))
    engine.dispose()
    command = [sys.executable, "-c", SCRIPT, database_url, json.dumps(counts), json.dumps(shards)]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    assert json.loads(done.stdout) == []
    engine = make_engine(database_url)
    with reading(engine) as connection:
        assert set(connection.scalars(select(Shard.state))) == {"done"}
    engine.dispose()
