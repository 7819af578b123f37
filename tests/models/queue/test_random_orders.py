"""Random orders of events: whatever is lost, doubled, late or out of order, everything ends, and once."""

import random

import numpy as np
import pytest
from sqlalchemy import Connection, Engine, func, select, update

from models.database.session import make_engine, reading, writing
from models.queue.kinds.reductions import REDUCTION, ClaimedReduction
from models.queue.kinds.shards import SHARD, ClaimedShard, ScoredShard, ShardRow
from models.queue.lease import in_flight, retry_later
from models.queue.task_kind import complete_several
from models.schema.queue import Evaluation, Reduction, Shard
from models.schema.results import Score, Statistics
from models.schema.states import LeaseState
from models.storage.arrays import pack, unpack
from tests.models.queue.test_shards import score_rows
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import claim_task, claim_tasks, complete_shard, complete_task, release_task

# What happens often is named often; a shard is out of attempts after two.
KINDS = ("claim",) * 5 + ("raise",) * 3 + ("complete",) * 2 + ("again",) * 2 + ("together",) * 3
KINDS += ("lose", "sweep", "reduce", "reduce", "reduced", "unreduced")
MOST = 2


def owned(connection: Connection, table: type[Shard] | type[Reduction], key: int, owner: str) -> bool:
    """Whether the row is this owner's by the letter of the database."""
    held = select(table.id).where(table.id == key, table.state == LeaseState.RUNNING, table.owner == owner)
    return connection.scalar(held) is not None


def result_of(claimed: ClaimedShard) -> list[ShardRow]:
    """A result that says what it is the result of."""
    blob = pack(np.array([float(claimed.first_block)]))
    return [ShardRow(evaluation, 0, blob, None) for evaluation in claimed.evaluations]


class Queue:
    """Workers that keep what they claimed, also when it is no longer theirs."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.claims: list[ClaimedShard] = []
        self.batches: list[list[ClaimedShard]] = []
        self.reductions: list[ClaimedReduction] = []
        self.owners = 0

    def owner(self) -> dict[str, object]:
        self.owners += 1
        return {
            "owner": f"owner{self.owners}",
            "worker": "w",
            "lease_seconds": 60,
            "max_attempts": MOST,
        }

    def claim(self, choice: int) -> None:
        with writing(self.engine) as connection:
            keys = list(connection.scalars(select(Shard.id).order_by(Shard.id)))
            claimed = claim_task(connection, SHARD, keys[choice % len(keys)], **self.owner())
        if claimed is not None:
            self.claims.append(claimed)

    def complete(self, choice: int, *, forget: bool = True) -> None:
        if not self.claims:
            return
        claimed = self.claims[choice % len(self.claims)]
        if forget:
            self.claims.remove(claimed)
        rows = result_of(claimed)
        with writing(self.engine) as connection:
            ours = owned(connection, Shard, claimed.key, claimed.owner)
            assert complete_shard(connection, claimed, rows).accepted == ours

    def together(self, choice: int) -> None:
        """Claim several, or complete some that were claimed together."""
        if choice % 2 or not self.batches:
            with writing(self.engine) as connection:
                keys = list(connection.scalars(select(Shard.id).order_by(Shard.id)))
                named = [keys[(choice + number) % len(keys)] for number in range(2 + choice % 3)]
                self.batches.append(claim_tasks(connection, SHARD, sorted({*named}), **self.owner()))
            return
        batch = self.batches[choice // 2 % len(self.batches)]
        done = batch[choice % 3 :] or batch
        if not done:
            return
        with writing(self.engine) as connection:
            ours = {each.key for each in done if owned(connection, Shard, each.key, each.owner)}
            results = [(each, ScoredShard(result_of(each))) for each in done]
            assert complete_several(connection, SHARD, results).accepted == ours

    def again(self, choice: int) -> None:
        """The task ran to its end, and will be delivered once more."""
        self.complete(choice, forget=False)

    def fail(self, choice: int) -> None:
        if self.claims:
            claimed = self.claims[choice % len(self.claims)]
            with writing(self.engine) as connection:
                ours = owned(connection, Shard, claimed.key, claimed.owner)
                released = release_task(
                    connection, SHARD, claimed.key, claimed.owner, "raised", max_attempts=MOST, delay_seconds=0
                )
                assert released == ours

    def lose(self, choice: int) -> None:
        """A worker dies without a word."""
        if self.claims:
            self.claims.pop(choice % len(self.claims))

    def sweep(self) -> None:
        """All leases are over, whether the worker still lives or not."""
        with writing(self.engine) as connection:
            for kind in (SHARD, REDUCTION):
                table = kind.table
                for key, state in in_flight(connection, table):
                    owner = connection.scalar(select(table.owner).where(table.id == key))
                    if state == LeaseState.RUNNING and owner is not None:
                        release_task(connection, kind, key, owner, "silent", max_attempts=MOST, delay_seconds=0)
                    else:
                        retry_later(connection, table, key, reason=None, delay_seconds=0)

    def reduce(self, choice: int) -> None:
        with writing(self.engine) as connection:
            keys = list(connection.scalars(select(Reduction.id).order_by(Reduction.id)))
            claimed = claim_task(connection, REDUCTION, keys[choice % len(keys)], **self.owner()) if keys else None
        if claimed is not None:
            self.reductions.append(claimed)

    def reduced(self, choice: int) -> None:
        if self.reductions:
            claimed = self.reductions[choice % len(self.reductions)]
            with writing(self.engine) as connection:
                ours = owned(connection, Reduction, claimed.key, claimed.owner)
                assert complete_task(connection, REDUCTION, claimed, score_rows(claimed)).accepted == ours

    def unreduced(self, choice: int) -> None:
        if self.reductions:
            claimed = self.reductions[choice % len(self.reductions)]
            with writing(self.engine) as connection:
                ours = owned(connection, Reduction, claimed.key, claimed.owner)
                released = release_task(
                    connection,
                    REDUCTION,
                    claimed.key,
                    claimed.owner,
                    "raised",
                    max_attempts=MOST,
                    delay_seconds=0,
                )
                assert released == ours

    def happen(self, event: str, choice: int) -> None:
        if event == "sweep":
            self.sweep()
        else:
            getattr(self, {"raise": "fail"}.get(event, event))(choice)

    def check(self) -> None:
        with reading(self.engine) as connection:
            rows = connection.execute(select(Evaluation.id, Evaluation.state, Evaluation.remaining)).all()
            for row in rows:
                stored = connection.execute(
                    select(Statistics.first_block, Statistics.blob).where(Statistics.evaluation_id == row.id)
                ).all()
                assert row.remaining == 3 - len(stored)
                assert all(unpack(blob)[0, 0] == first for first, blob in stored)
                scores = connection.scalar(select(func.count()).where(Score.evaluation_id == row.id).select_from(Score))
                assert scores == (row.state == "done")
                assert (row.state in {"reducing", "done"}) <= (row.remaining == 0)

    def finish(self) -> None:
        """From here on nothing goes wrong."""
        for _ in range(20):
            self.sweep()
            with reading(self.engine) as connection:
                shards = list(connection.scalars(select(Shard.id).where(Shard.state == "pending")))
                waiting = select(Reduction.id).where(Reduction.state == "pending")
                reductions = list(connection.scalars(waiting))
            if not shards and not reductions:
                return
            for table, keys in ((Shard, shards), (Reduction, reductions)):
                # As if each had just been queued: bad luck so far is no reason to fail now.
                with writing(self.engine) as connection:
                    connection.execute(update(table).where(table.id.in_(keys)).values(attempts=0))
            for key in shards:
                with writing(self.engine) as connection:
                    claimed = claim_task(connection, SHARD, key, **self.owner())
                if claimed is not None:
                    self.claims.append(claimed)
                    self.complete(len(self.claims) - 1)
            for key in reductions:
                with writing(self.engine) as connection:
                    reduction = claim_task(connection, REDUCTION, key, **self.owner())
                if reduction is not None:
                    self.reductions.append(reduction)
                    self.reduced(len(self.reductions) - 1)
        raise AssertionError("work was never finished")


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(40))
def test_every_order_of_events_ends_well(sqlite_url: str, seed: int) -> None:
    engine = make_engine(sqlite_url)
    job = queue_job(engine, one_block_shards(sqlite_url), segments=600, systems=2)
    queue = Queue(engine)
    draw = random.Random(seed)
    for _ in range(draw.randrange(20, 80)):
        queue.happen(draw.choice(KINDS), draw.randrange(100))
        queue.check()
    queue.finish()
    queue.check()
    with reading(engine) as connection:
        rows = connection.execute(select(Evaluation.id, Evaluation.state, Evaluation.reason)).all()
    assert {row.id for row in rows} == set(job.all_evaluations)
    assert all(row.state == "done" or (row.state == "failed" and row.reason) for row in rows)
    engine.dispose()
