"""Two commands that take in the same at once: each waits for the other at most one way round."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import Engine, func, select

from models.database.session import make_engine, reading
from models.schema.corpus import Protocol
from models.schema.queue import Evaluation
from runtime.settings import Settings
from scheduler.ingest import campaigns
from scheduler.ingest.campaigns import IngestResult, NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric

TEST_SET = NewTestSet("set", {"A": b"a b\nc", "B": b"a c\nd"})
OURS = [NewProtocol([label], [parse_metric("bleu")]) for label in "AB"]


@pytest.fixture
def engine(postgres_url: str) -> Iterator[Engine]:
    engine = make_engine(postgres_url)
    yield engine
    engine.dispose()


def take(engine: Engine, *protocols: NewProtocol) -> IngestResult:
    return ingest_campaign(
        engine,
        Settings(),
        campaign="c",
        test_set=TEST_SET,
        submissions=[NewSubmission("s", b"a\nc")],
        protocols=protocols,
    )


@pytest.mark.parametrize("step", ["store_protocol", "enqueue_submissions"])
def test_protocols_in_another_order(engine: Engine, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    take(engine, *([] if step == "store_protocol" else OURS))
    both_are_there = threading.Barrier(2)
    do: Callable[..., Any] = getattr(campaigns, step)
    mine = threading.local()

    def do_and_wait(*arguments: Any, **others: Any) -> Any:
        done = do(*arguments, **others)
        if not getattr(mine, "waited", False):
            # The other comes as far only where he holds something else than we do.
            mine.waited = True
            with suppress(threading.BrokenBarrierError):
                both_are_there.wait(0.3)
        return done

    monkeypatch.setattr(campaigns, step, do_and_wait)
    found: dict[int, IngestResult] = {}

    def run(number: int) -> None:
        found[number] = take(engine, *(OURS if number else reversed(OURS)))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found[1].protocols == found[0].protocols[::-1]
    assert found[1].evaluations == found[0].evaluations[::-1]
    with reading(engine) as connection:
        assert [connection.scalar(select(func.count()).select_from(table)) for table in (Protocol, Evaluation)] == [
            2,
            2,
        ]
