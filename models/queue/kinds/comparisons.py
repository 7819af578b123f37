"""The life cycle of a comparison: its trials are enqueued, loaded, completed, and added up, or the comparison fails.

Lock order: trials, comparison, evaluations by id.
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
    """Trials under our lease."""

    comparison_id: int
    plan: RandomizationPlan
    first_trial: int
    last_trial: int
    """Exclusive."""

    def log_fields(self) -> dict[str, Any]:
        """As `Claim`."""
        runs = {evaluation for system in self.plan.systems for evaluation in system}
        protocol = self.plan.protocol_id
        return {"comparison": self.comparison_id, "protocol": protocol, "evaluations": sorted(runs)}


def start_comparison(
    connection: Connection,
    plan: RandomizationPlan,
    ranges: Sequence[tuple[int, int]],
    *,
    queue_class: int,
    team: str,
    edition: int,
) -> int:
    """Enqueue the trials of a randomization plan, one task per range (end exclusive); the comparison's id.

    If the same plan is already running, its comparison is returned and nothing is enqueued.
    """
    content_hash = hashlib.sha256(json.dumps(asdict(plan)).encode()).hexdigest()
    row = {
        "protocol_id": plan.protocol_id,
        "content_hash": content_hash,
        "systems": [list(runs) for runs in plan.systems],
        "tests": [[pair.metric, pair.a, pair.b] for pair in plan.pairs],
        "trials": plan.trials,
        "seed": plan.seed,
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
            # A comparison existed and ended between the two statements.
            continue
        # Another transaction's comparison becomes visible together with its trials.
        if connection.scalar(select(Trials.id).where(Trials.comparison_id == comparison).limit(1)) is None:
            common = {"comparison_id": comparison, "queue_class": queue_class, "team": team, "edition": edition}
            connection.execute(
                insert(Trials), [{**common, "first_trial": first, "last_trial": last} for first, last in ranges]
            )
        return comparison


def prefer(connection: Connection, comparisons: Collection[int]) -> None:
    """Prioritise the pending trials of these comparisons over all others, as campaigns over nightly work."""
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
        plan=RandomizationPlan(
            protocol_id=row.protocol_id,
            systems=kept(row.systems, lambda runs: tuple(map(tuple, runs))),
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
    """Store the number of trials with a difference as large, (pairs,). The last task adds up and stores the results."""
    # A counter, as for shards: the row lock makes the last two completions see each other.
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
    _end(connection, row.comparison_id, failure.describe(what))


def _removable() -> ColumnElement[bool]:
    return exists().where(Comparison.id == Trials.comparison_id, Comparison.state != ComparisonState.RUNNING)


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    return {"comparison": connection.scalar(select(Trials.comparison_id).where(Trials.id == key))}


def end_comparisons_of(connection: Connection, evaluations: Collection[int], reason: str) -> list[int]:
    """Fail running comparisons that read results of these evaluations; their ids.

    Call it before the evaluations are locked: see the lock order above.
    """
    running = connection.execute(
        select(Comparison.id, Comparison.systems)
        .where(Comparison.state == ComparisonState.RUNNING)
        .order_by(Comparison.id)
    )
    wanted = set(evaluations)
    affected = [row.id for row in running if any(wanted.intersection(runs) for runs in readable(row.systems, []))]
    return end_comparisons(connection, affected, reason)


def end_comparisons(connection: Connection, comparisons: Collection[int], reason: str) -> list[int]:
    """Fail those of the comparisons that are running; their ids."""
    return [comparison for comparison in sorted(comparisons) if _end(connection, comparison, reason)]


def _conclude(connection: Connection, claim: ClaimedTrials) -> None:
    blobs = connection.scalars(
        select(Trials.counts).where(Trials.comparison_id == claim.comparison_id, Trials.counts.is_not(None))
    )
    pairs = len(claim.plan.pairs)
    as_large = sum(
        unpack(blob, rows=pairs, columns=1, finite=True)[:, 0].astype(np.int64) for blob in blobs if blob is not None
    )
    connection.execute(update(Trials).where(Trials.comparison_id == claim.comparison_id).values(counts=None))
    gone = store_randomizations(connection, claim.plan, np.asarray(as_large))
    reason = None if gone is None else f"Evaluation {gone} was deleted or recomputed during the comparison."
    _end(connection, claim.comparison_id, reason)


def _end(connection: Connection, comparison: int, reason: str | None) -> bool:
    """End a comparison, as failed if there is a reason; False if it had already ended."""
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
