"""Random orders of claims, results, failures, losses and cancellations: a state is right, or not there yet."""

import random

import pytest
from sqlalchemy import Engine, func, select, update

from models.database.session import make_engine, reading, writing
from models.queue.evaluation_end import cancel_evaluations
from models.queue.kinds.corpus_statistics import (
    CORPUS_COUNT,
    ClaimedCorpusCount,
    counted_parts,
    read_part,
)
from models.queue.lease import in_flight, retry_later
from models.schema.corpus import Submission
from models.schema.queue import CorpusCount, CorpusStatistics, Evaluation
from models.schema.states import UNSCORED, LeaseState
from runtime.settings import Settings
from scheduler.enqueue.corpus_statistics import enqueue_missing_counts
from scheduler.enqueue.evaluations import enqueue_evaluations
from scheduler.ingest.campaigns import IngestResult
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import claim_task, complete_task, release_task

KINDS = ("claim",) * 6 + ("complete",) * 4 + ("again",) * 2 + ("fail",) * 2
KINDS += ("lose", "sweep", "cancel", "queue", "forget", "clear_away")
MOST = 2
WHOLE = b"0,1,2,3"


class Counting:
    """Workers that keep what they claimed, also when it is no longer theirs. A part is the numbers of its blocks."""

    def __init__(self, engine: Engine, settings: Settings, job: IngestResult) -> None:
        self.engine = engine
        self.settings = settings
        self.job = job
        self.claims: list[ClaimedCorpusCount] = []
        self.owners = 0

    def claim(self, choice: int) -> None:
        with writing(self.engine) as connection:
            keys = list(connection.scalars(select(CorpusCount.id).order_by(CorpusCount.id)))
            self.owners += 1
            found = claim_task(
                connection,
                CORPUS_COUNT,
                keys[choice % len(keys)],
                owner=f"owner{self.owners}",
                worker="w",
                lease_seconds=60,
                max_attempts=MOST,
            )
        if found is not None:
            self.claims.append(found)

    def complete(self, choice: int, *, forget: bool = True) -> None:
        if not self.claims:
            return
        mine = self.claims[choice % len(self.claims)]
        if forget:
            self.claims.remove(mine)
        with writing(self.engine) as connection:
            held = select(CorpusCount.id).where(CorpusCount.owner == mine.owner, CorpusCount.state == "running")
            ours = connection.scalar(held) == mine.key
            if mine.merges:
                whole = b",".join(
                    read_part(connection, each) for each in counted_parts(connection, mine.corpus_statistics_id)
                )
                assert complete_task(connection, CORPUS_COUNT, mine, whole).accepted == ours
            else:
                part = ",".join(map(str, range(mine.first_block, mine.last_block))).encode()
                assert complete_task(connection, CORPUS_COUNT, mine, part).accepted == ours

    def again(self, choice: int) -> None:
        self.complete(choice, forget=False)

    def fail(self, choice: int) -> None:
        if self.claims:
            mine = self.claims[choice % len(self.claims)]
            with writing(self.engine) as connection:
                release_task(
                    connection,
                    CORPUS_COUNT,
                    mine.key,
                    mine.owner,
                    "raised",
                    max_attempts=MOST,
                    delay_seconds=0,
                )

    def lose(self, choice: int) -> None:
        if self.claims:
            self.claims.pop(choice % len(self.claims))

    def sweep(self, choice: int = 0) -> None:
        """All leases are over, whether the worker still lives or not."""
        with writing(self.engine) as connection:
            for key, state in in_flight(connection, CorpusCount):
                owner = connection.scalar(select(CorpusCount.owner).where(CorpusCount.id == key))
                if state == LeaseState.RUNNING and owner is not None:
                    release_task(connection, CORPUS_COUNT, key, owner, "silent", max_attempts=MOST, delay_seconds=0)
                else:
                    retry_later(connection, CorpusCount, key, reason=None, delay_seconds=0)

    def cancel(self, choice: int) -> None:
        with writing(self.engine) as connection:
            cancel_evaluations(connection, self.job.all_evaluations[choice % 3 : choice % 3 + 1 + choice % 2])

    def queue(self, choice: int) -> None:
        with writing(self.engine) as connection:
            submissions = list(connection.scalars(select(Submission.id).order_by(Submission.id)))
            enqueue_evaluations(connection, self.settings, self.job.protocols[0], submissions[: 1 + choice % 3])

    def forget(self, choice: int) -> None:
        enqueue_missing_counts(self.engine, self.settings)

    def clear_away(self, choice: int) -> None:
        """As a cancellation does that cannot see yet who else is queued."""
        with writing(self.engine) as connection:
            waiting = CorpusCount.state.in_((LeaseState.PENDING, LeaseState.ENQUEUED))
            connection.execute(update(CorpusCount).where(waiting).values(state=LeaseState.CANCELLED))

    def check(self) -> None:
        with reading(self.engine) as connection:
            assert connection.scalar(select(CorpusStatistics.blob)) in {None, WHOLE}
            merging = select(func.count()).select_from(CorpusCount).where(CorpusCount.merges)
            open_states = ("pending", "enqueued", "running")
            assert connection.scalar(merging.where(CorpusCount.state.in_(open_states))) <= 1
            assert connection.scalar(merging.where(CorpusCount.state == "done")) <= 1
            ranges = connection.execute(
                select(CorpusCount.first_block, CorpusCount.last_block).where(
                    CorpusCount.merges.is_(False), CorpusCount.state.in_((*open_states, "done"))
                )
            ).all()
            blocks = [block for first, last in ranges for block in range(first, last)]
            assert len(set(blocks)) == len(blocks), "a block is counted twice"

    def finish(self) -> None:
        """From here on nothing goes wrong: somebody waits, and workers do what there is."""
        self.queue(2)
        for _ in range(20):
            self.sweep()
            self.forget(0)
            with reading(self.engine) as connection:
                if connection.scalar(select(CorpusStatistics.blob)) is not None:
                    return
                pending = list(connection.scalars(select(CorpusCount.id).where(CorpusCount.state == "pending")))
            self.claims.clear()
            for key in pending:
                with writing(self.engine) as connection:
                    connection.execute(update(CorpusCount).where(CorpusCount.id == key).values(attempts=0))
                    found = claim_task(
                        connection,
                        CORPUS_COUNT,
                        key,
                        owner=f"last{key}",
                        worker="w",
                        lease_seconds=60,
                        max_attempts=MOST,
                    )
                if found is not None:
                    self.claims.append(found)
                    self.complete(len(self.claims) - 1)
            self.queue(2)
        raise AssertionError("the state was never made")


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(40))
def test_every_order_of_events_ends_well(sqlite_url: str, seed: int) -> None:
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    job = queue_job(engine, settings, segments=256 * 3 + 1, systems=3, metrics=["nist"])
    counting = Counting(engine, settings, job)
    draw = random.Random(seed)
    for _ in range(draw.randrange(20, 80)):
        getattr(counting, draw.choice(KINDS))(draw.randrange(100))
        counting.check()
    counting.finish()
    counting.check()
    with reading(engine) as connection:
        assert connection.scalar(select(CorpusStatistics.blob)) == WHOLE
        rows = connection.execute(select(Evaluation.state, Evaluation.reason)).all()
    assert any(row.state in UNSCORED for row in rows)
    assert all(row.state != "failed" or "could not be" in row.reason for row in rows)
    engine.dispose()
