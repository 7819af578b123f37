"""A learned metric that is known here alone."""

from collections.abc import Iterator

import pytest

from steelyard.metrics import built_in
from tests.scheduler.jobs import one_block_shards
from tests.worker.learned_metric import Vowels
from worker.context import WorkerContext


@pytest.fixture(autouse=True)
def vowels(monkeypatch: pytest.MonkeyPatch) -> type[Vowels]:
    monkeypatch.setitem(built_in.LEARNED, "vowels", "tests.worker.learned_metric:Vowels")
    for each in (Vowels.asked, Vowels.fails, Vowels.missing):
        each.clear()
    return Vowels


@pytest.fixture
def context(database_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(one_block_shards(database_url, learned_shard_tokens=1))
    yield context
    context.close()
