"""Random orders of requests, claims, results, failures and losses: a test is stored right, or not yet."""

import random
from itertools import pairwise

import numpy as np
import pytest
from sqlalchemy import Engine, func, select

from models.database.session import make_engine, reading, writing
from models.queue.kinds.comparisons import TRIALS, ClaimedTrials, start_comparison
from models.queue.lease import in_flight, retry_later
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.queue import Comparison, Trials
from models.schema.results import Randomization
from models.schema.states import LeaseState
from steelyard.metrics.metric import EDITION
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from tests.tasks import claim_task, complete_task, release_task

KINDS = ("claim",) * 6 + ("complete",) * 4 + ("again", "fail", "fail", "lose", "sweep", "ask")
MOST = 2
CUTS = (0, 10, 25, 26, 60, 77)


class Comparing:
    """Workers that keep what they claimed, also when it is no longer theirs."""

    def __init__(self, engine: Engine, contest: RandomizationPlan) -> None:
        self.engine = engine
        self.plan = contest
        self.claims: list[ClaimedTrials] = []
        self.owners = 0

    def ask(self, choice: int = 0) -> None:
        if self.stored() is None:
            cuts = CUTS if choice % 2 else CUTS[::2] + CUTS[-1:]
            with writing(self.engine) as connection:
                ranges = list(pairwise(cuts))
                start_comparison(connection, self.plan, ranges, queue_class=0, team="", edition=EDITION)

    def claim(self, choice: int) -> None:
        with writing(self.engine) as connection:
            keys = list(connection.scalars(select(Trials.id).order_by(Trials.id.desc()).limit(6)))
            self.owners += 1
            owner = f"owner{self.owners}"
            found = keys and claim_task(
                connection,
                TRIALS,
                keys[choice % len(keys)],
                owner=owner,
                worker="w",
                lease_seconds=60,
                max_attempts=MOST,
            )
        if found:
            self.claims.append(found)

    def complete(self, choice: int, *, forget: bool = True) -> None:
        if not self.claims:
            return
        mine = self.claims[choice % len(self.claims)]
        if forget:
            self.claims.remove(mine)
        with writing(self.engine) as connection:
            held = select(Trials.id).where(Trials.owner == mine.owner, Trials.state == "running")
            ours = connection.scalar(held) == mine.key
            assert complete_task(connection, TRIALS, mine, counts(mine.first_trial, mine.last_trial)).accepted == ours

    def again(self, choice: int) -> None:
        self.complete(choice, forget=False)

    def fail(self, choice: int) -> None:
        if self.claims:
            mine = self.claims[choice % len(self.claims)]
            with writing(self.engine) as connection:
                release_task(connection, TRIALS, mine.key, mine.owner, "raised.", max_attempts=MOST, delay_seconds=0)

    def lose(self, choice: int) -> None:
        if self.claims:
            self.claims.pop(choice % len(self.claims))

    def sweep(self, choice: int = 0) -> None:
        """All leases are over, whether the worker still lives or not."""
        with writing(self.engine) as connection:
            for key, state in in_flight(connection, Trials):
                owner = connection.scalar(select(Trials.owner).where(Trials.id == key))
                if state == LeaseState.RUNNING and owner is not None:
                    release_task(connection, TRIALS, key, owner, "silent.", max_attempts=MOST, delay_seconds=0)
                else:
                    retry_later(connection, Trials, key, reason=None, delay_seconds=0)

    def stored(self) -> list[int] | None:
        with reading(self.engine) as connection:
            query = select(Randomization.as_large).order_by(
                Randomization.metric, Randomization.a_id, Randomization.b_id
            )
            return list(connection.scalars(query)) or None

    def check(self) -> None:
        assert self.stored() in (None, counts(0, 77).tolist())
        with reading(self.engine) as connection:
            rows = connection.execute(select(Comparison)).all()
            for row in rows:
                states = select(Trials.state).where(Trials.comparison_id == row.id)
                found = list(connection.scalars(states))
                undone = len(found) - found.count("done")
                if row.state == "running":
                    assert row.remaining == undone > 0
                    assert not {"failed", "cancelled"} & set(found)
                elif row.state == "done":
                    assert row.remaining == undone == 0
                    assert self.stored() is not None
                else:
                    assert "failed" in found
                    assert row.reason.startswith("Trials ")
                    # Those that a worker gives back afterwards are cancelled when they are claimed again.
                    waiting = select(Trials.attempts).where(
                        Trials.comparison_id == row.id, Trials.state == LeaseState.PENDING
                    )
                    assert all(connection.scalars(waiting))
            assert sum(row.state == "running" for row in rows) <= 1

    def finish(self) -> None:
        """From here on nothing goes wrong: somebody asks, and workers do what there is."""
        for _ in range(20):
            self.claims.clear()
            self.sweep()
            self.ask()
            if self.stored() is not None:
                return
            with reading(self.engine) as connection:
                pending = connection.scalar(
                    select(func.count()).select_from(Trials).where(Trials.state == LeaseState.PENDING)
                )
            for choice in range(6 * (pending or 0)):
                self.claim(choice)
                self.complete(0)
        raise AssertionError("the tests were never made")


def counts(first: int, last: int) -> np.ndarray:
    """As if every second, third and fifth trial were as large."""
    return np.array([sum(trial % step == 0 for trial in range(first, last)) for step in (2, 3, 5)])


@pytest.mark.few(8)
@pytest.mark.parametrize("seed", range(25))
def test_every_order_of_events_ends_well(sqlite_url: str, seed: int) -> None:
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    job = queue_job(engine, settings, segments=5, systems=3, metrics=["per"])
    work_off(settings)
    systems = tuple((evaluation,) for evaluation in job.all_evaluations)
    pairs = (Pair(0, 0, 1), Pair(0, 0, 2), Pair(0, 1, 2))
    comparing = Comparing(engine, RandomizationPlan(job.protocols[0], systems, pairs, 77, 1))
    draw = random.Random(seed)
    comparing.ask()
    for _ in range(draw.randrange(10, 60)):
        getattr(comparing, draw.choice(KINDS))(draw.randrange(100))
        comparing.check()
    comparing.finish()
    comparing.check()
    assert comparing.stored() == counts(0, 77).tolist()
    engine.dispose()
