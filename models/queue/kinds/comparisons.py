"""The life of a comparison: started, its trials loaded, completed, failed, and added up.

Locks are taken in the order trials, then comparison, then evaluations by id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import ColumnElement, Connection, Row, case, exists, insert, select, update

from models.database.upsert import insert_ignore
from models.queue.lease import cancel_idle
from models.queue.task_kind import Claim, Failure, TaskKind
from models.results.randomizations import Pair, RandomizationPlan, store_randomizations
from models.schema.base import now
from models.schema.column_types import kept, readable
from models.schema.queue import Comparison, Trials
from models.schema.states import ComparisonState, LeaseState, QueueClass
from models.storage.arrays import pack, unpack


@dataclass(frozen=True, slots=True)
class ClaimedTrials(Claim):
    """Trials that are ours until their lease is over."""

    comparison_id: int
    contest: RandomizationPlan
    first_trial: int
    last_trial: int
    """Exclusive."""

    def log_fields(self) -> dict[str, Any]:
        """As `Claim`."""
        runs = {evaluation for system in self.contest.systems for evaluation in system}
        protocol = self.contest.protocol_id
        return {"comparison": self.comparison_id, "protocol": protocol, "evaluations": sorted(runs)}


def start_comparison(
    connection: Connection,
    contest: RandomizationPlan,
    ranges: Sequence[tuple[int, int]],
    *,
    queue_class: int,
    team: str,
    edition: int,
) -> int:
    """Queue the trials of a contest, one task for each range of them (the end exclusive); the comparison.

    Where the very same contest is under way, it is that one, and nothing is queued.
    """
    content_hash = hashlib.sha256(json.dumps(asdict(contest)).encode()).hexdigest()
    row = {
        "protocol_id": contest.protocol_id,
        "content_hash": content_hash,
        "contestants": [list(runs) for runs in contest.systems],
        "tests": [[pair.metric, pair.a, pair.b] for pair in contest.pairs],
        "trials": contest.trials,
        "seed": contest.seed,
        "state": ComparisonState.RUNNING,
        "remaining": len(ranges),
    }
    running = select(Comparison.id).where(
        Comparison.content_hash == content_hash, Comparison.state == ComparisonState.RUNNING
    )
    while True:
        insert_ignore(connection, Comparison, [row])
        comparison = connection.scalar(running)
        if comparison is None:
            # There was one, and it ended between the two statements.
            continue
        # One of somebody else is seen only with its trials.
        if connection.scalar(select(Trials.id).where(Trials.comparison_id == comparison).limit(1)) is None:
            common = {"comparison_id": comparison, "queue_class": queue_class, "team": team, "edition": edition}
            connection.execute(
                insert(Trials), [{**common, "first_trial": first, "last_trial": last} for first, last in ranges]
            )
        return comparison


def prefer(connection: Connection, comparisons: Collection[int]) -> None:
    """Put the waiting trials of these comparisons before those of all others, as campaigns come before nightly work."""
    preferred = case((Trials.comparison_id.in_(comparisons), int(QueueClass.CAMPAIGN)), else_=int(QueueClass.NIGHTLY))
    connection.execute(update(Trials).where(Trials.state == LeaseState.PENDING).values(queue_class=preferred))


def _load(connection: Connection, claim: Claim) -> ClaimedTrials | None:
    row = connection.execute(
        select(Trials.comparison_id, Trials.first_trial, Trials.last_trial, Comparison)
        .join(Comparison, Comparison.id == Trials.comparison_id)
        .where(Trials.id == claim.key)
    ).one()
    if row.state != ComparisonState.RUNNING:
        return None
    return ClaimedTrials(
        *claim.identity,
        comparison_id=row.comparison_id,
        contest=RandomizationPlan(
            protocol_id=row.protocol_id,
            systems=kept(row.contestants, lambda runs: tuple(map(tuple, runs))),
            pairs=kept(row.tests, lambda tests: tuple(Pair(*test) for test in tests)),
            trials=row.trials,
            seed=row.seed,
        ),
        first_trial=row.first_trial,
        last_trial=row.last_trial,
    )


def _columns(_claim: ClaimedTrials, counts: NDArray[np.int64]) -> Mapping[str, object]:
    return {"counts": pack(counts.astype(np.float64))}


def _complete(connection: Connection, claim: ClaimedTrials, _counts: NDArray[np.int64]) -> None:
    """How many trials were as large, (pairs,), lies in the row. With the last ones all are added up and stored."""
    # A counter, as for shards: the row's lock lets one of two last ones see the other.
    remaining = connection.scalar(
        update(Comparison)
        .where(Comparison.id == claim.comparison_id, Comparison.state == ComparisonState.RUNNING)
        .values(remaining=Comparison.remaining - 1)
        .returning(Comparison.remaining)
    )
    if remaining == 0:
        _conclude(connection, claim)


def _exhausted(connection: Connection, row: Row[Any], failure: Failure) -> None:
    """Fail the comparison."""
    what = f"Trials {row.first_trial + 1} to {row.last_trial} could not be made"
    _end(connection, row.comparison_id, failure.told(what))


def _removable() -> ColumnElement[bool]:
    return exists().where(Comparison.id == Trials.comparison_id, Comparison.state != ComparisonState.RUNNING)


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    return {"comparison": connection.scalar(select(Trials.comparison_id).where(Trials.id == key))}


def end_comparisons_of(connection: Connection, evaluations: Collection[int], reason: str) -> list[int]:
    """Fail, with a reason, the running comparisons that read what these evaluations stored; which they were.

    Before the evaluations are locked: see the order above.
    """
    running = connection.execute(
        select(Comparison.id, Comparison.contestants)
        .where(Comparison.state == ComparisonState.RUNNING)
        .order_by(Comparison.id)
    )
    wanted = set(evaluations)
    theirs = [row.id for row in running if any(wanted.intersection(runs) for runs in readable(row.contestants, []))]
    return end_comparisons(connection, theirs, reason)


def end_comparisons(connection: Connection, comparisons: Collection[int], reason: str) -> list[int]:
    """Fail those of the comparisons that run, with a reason; which they were."""
    return [comparison for comparison in sorted(comparisons) if _end(connection, comparison, reason)]


def _conclude(connection: Connection, claim: ClaimedTrials) -> None:
    blobs = connection.scalars(
        select(Trials.counts).where(Trials.comparison_id == claim.comparison_id, Trials.counts.is_not(None))
    )
    pairs = len(claim.contest.pairs)
    as_large = sum(
        unpack(blob, rows=pairs, columns=1, finite=True)[:, 0].astype(np.int64) for blob in blobs if blob is not None
    )
    connection.execute(update(Trials).where(Trials.comparison_id == claim.comparison_id).values(counts=None))
    gone = store_randomizations(connection, claim.contest, np.asarray(as_large))
    reason = (
        None
        if gone is None
        else f"Evaluation {gone} was deleted or queued anew while its system was compared with others."
    )
    _end(connection, claim.comparison_id, reason)


def _end(connection: Connection, comparison: int, reason: str | None) -> bool:
    """End a comparison, as failed where there is a reason; False when it had ended before."""
    state = ComparisonState.DONE if reason is None else ComparisonState.FAILED
    ended = connection.execute(
        update(Comparison)
        .where(Comparison.id == comparison, Comparison.state == ComparisonState.RUNNING)
        .values(state=state, reason=reason, finished_at=now())
    )
    if ended.rowcount:
        cancel_idle(connection, Trials, Trials.comparison_id == comparison)
    return bool(ended.rowcount)


TRIALS = TaskKind(
    name="trials",
    table=Trials,
    message="randomize",
    load=_load,
    run="worker.runners:randomize",
    columns=_columns,
    complete=_complete,
    exhausted=_exhausted,
    removable=_removable,
    log_fields=_log_fields,
    cost=lambda settings: settings.shard_seconds / 2,
)
