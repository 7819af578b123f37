"""Preparing, queueing, cancelling and sweeping at the same time: nobody waits for ever, and the state is right."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable

import pytest
from sqlalchemy import select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.corpus_statistics import CORPUS_COUNT, counted_parts, read_part
from models.schema.queue import CorpusCount, CorpusStatistics, Evaluation
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.ingest.campaigns import IngestResult
from scheduler.recovery import sweep
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import claim_task, complete_task, release_task

SECONDS = 4.0
PATIENCE = 60.0
"""As long as that on a slow machine, until something was prepared meanwhile."""
ENOUGH = 4
WHOLE = b",".join(b"%d" % block for block in range(6))


def test_everybody_at_once(database_url: str) -> None:
    settings = one_block_shards(database_url, max_attempts=3)
    engine = make_engine(database_url)
    # Each of the two protocols needs two states, of which they share one.
    jobs = [
        queue_job(engine, settings, segments=256 * 5 + 1, systems=2, metrics=metrics, campaign=f"c{number}")
        for number, metrics in enumerate((["nist", "nist:case=lc"], ["nist:tok=none", "nist:order=5"]))
    ]
    faults: list[BaseException] = []
    undone: Counter[int] = Counter()
    began = time.monotonic()

    def goes_on() -> bool:
        passed = time.monotonic() - began
        return not faults and passed < (SECONDS if undone.total() >= ENOUGH else PATIENCE)

    def again_and_again(act: Callable[[random.Random], None], seed: int) -> None:
        draw = random.Random(seed)
        try:
            while goes_on():
                act(draw)
        except BaseException as error:
            faults.append(error)

    def prepare(draw: random.Random) -> None:
        with reading(engine) as connection:
            pending = list(connection.scalars(select(CorpusCount.id).where(CorpusCount.state == "pending")))
        if not pending:
            time.sleep(0.005)
            return
        key, owner = draw.choice(pending), str(draw.random())
        with writing(engine) as connection:
            claim = claim_task(connection, CORPUS_COUNT, key, owner=owner, worker="w", lease_seconds=60, max_attempts=3)
        if claim is None:
            return
        if draw.random() < 0.3:
            with writing(engine) as connection:
                release_task(connection, CORPUS_COUNT, key, owner, "raised", max_attempts=3, delay_seconds=0)
            return
        with writing(engine) as connection:
            if claim.merges:
                complete_task(
                    connection,
                    CORPUS_COUNT,
                    claim,
                    b",".join(
                        read_part(connection, each) for each in counted_parts(connection, claim.corpus_statistics_id)
                    ),
                )
            else:
                blocks = range(claim.first_block, claim.last_block)
                complete_task(connection, CORPUS_COUNT, claim, b",".join(b"%d" % block for block in blocks))

    def queue(draw: random.Random) -> None:
        job = draw.choice(jobs)
        with writing(engine) as connection:
            enqueue_evaluations(connection, settings, job.protocols[0], job.submissions)
        time.sleep(0.01)

    def cancel(draw: random.Random) -> None:
        job = draw.choice(jobs)
        with writing(engine) as connection:
            cancel_evaluations(connection, job.all_evaluations[draw.randrange(2) :])
        with writing(engine) as connection:
            # Undo what was prepared, or it would soon be over.
            complete = select(CorpusStatistics).where(CorpusStatistics.blob.is_not(None)).order_by(CorpusStatistics.id)
            rows = connection.execute(complete.with_for_update(key_share=True)).all()
            assert {row.blob for row in rows} <= {WHOLE}
            undone.update(row.id for row in rows)
            made = CorpusCount.corpus_statistics_id.in_([row.id for row in rows])
            connection.execute(update(CorpusCount).where(made, CorpusCount.state == "done").values(state="cancelled"))
            connection.execute(
                update(CorpusStatistics).where(CorpusStatistics.id.in_([row.id for row in rows])).values(blob=None)
            )
        time.sleep(0.01)

    def watch(draw: random.Random) -> None:
        sweep(engine, settings)
        time.sleep(0.02)

    acts = [prepare, prepare, prepare, queue, queue, cancel, watch]
    threads = [threading.Thread(target=again_and_again, args=(act, seed)) for seed, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(2 * PATIENCE)
    assert not any(thread.is_alive() for thread in threads)
    assert faults == []
    assert undone.total() >= ENOUGH, "hardly anything was prepared meanwhile"
    finish(engine, settings, jobs)
    engine.dispose()


def finish(engine, settings, jobs: list[IngestResult]) -> None:  # type: ignore[no-untyped-def]
    """From here on nothing goes wrong."""
    for _ in range(40):
        for job in jobs:
            with writing(engine) as connection:
                enqueue_evaluations(connection, settings, job.protocols[0], job.submissions)
        sweep(engine, settings)
        with reading(engine) as connection:
            blobs = list(connection.scalars(select(CorpusStatistics.blob)))
            pending = list(connection.scalars(select(CorpusCount.id).where(CorpusCount.state == "pending")))
        if None not in blobs:
            assert set(blobs) == {WHOLE}
            assert len(blobs) == 3
            with reading(engine) as connection:
                assert set(connection.scalars(select(Evaluation.state))) == {"queued"}
            return
        for key in pending:
            with writing(engine) as connection:
                claim = claim_task(
                    connection, CORPUS_COUNT, key, owner="o", worker="w", lease_seconds=60, max_attempts=9
                )
            if claim is None:
                continue
            with writing(engine) as connection:
                if claim.merges:
                    complete_task(
                        connection,
                        CORPUS_COUNT,
                        claim,
                        b",".join(
                            read_part(connection, each)
                            for each in counted_parts(connection, claim.corpus_statistics_id)
                        ),
                    )
                else:
                    blocks = range(claim.first_block, claim.last_block)
                    complete_task(connection, CORPUS_COUNT, claim, b",".join(b"%d" % block for block in blocks))
    pytest.fail("the states were never made")
