"""The life of a comparison: started, its trials claimed, completed, released, and added up.

Locks are taken in the order trials, then comparison, then evaluations by id.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, case, insert, select, update

from models.database.upsert import insert_if_absent
from models.queue.lease import cancel_idle, close, finish, put_back, take
from models.results.randomizations import Contest, Pair, store_randomizations
from models.schema.base import now
from models.schema.queue import Comparison, Trials
from models.schema.states import ComparisonState, LeaseState, QueueClass
from models.storage.arrays import pack, unpack


@dataclass(frozen=True, slots=True)
class ClaimedTrials:
    """Trials that are ours until their lease is over."""

    trials_id: int
    owner: str
    comparison_id: int
    contest: Contest
    first_trial: int
    last_trial: int
    """Exclusive."""


def start_comparison(
    connection: Connection,
    contest: Contest,
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
        insert_if_absent(connection, Comparison, [row])
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


def claim_trials(
    connection: Connection,
    trials_id: int,
    *,
    owner: str,
    worker: str,
    lease_seconds: float,
    max_attempts: int,
    edition: int | None = None,
) -> ClaimedTrials | None:
    """Try to become the one who makes some trials; None when somebody else does, or nobody needs them."""
    if not take(
        connection,
        Trials,
        trials_id,
        owner=owner,
        worker=worker,
        lease_seconds=lease_seconds,
        max_attempts=max_attempts,
        edition=edition,
    ):
        return None
    row = connection.execute(
        select(Trials.comparison_id, Trials.first_trial, Trials.last_trial, Comparison)
        .join(Comparison, Comparison.id == Trials.comparison_id)
        .where(Trials.id == trials_id)
    ).one()
    if row.state != ComparisonState.RUNNING:
        close(connection, Trials, [trials_id], LeaseState.CANCELLED, None)
        return None
    return ClaimedTrials(
        trials_id=trials_id,
        owner=owner,
        comparison_id=row.comparison_id,
        contest=Contest(
            protocol_id=row.protocol_id,
            systems=tuple(map(tuple, row.contestants)),
            pairs=tuple(Pair(*pair) for pair in row.tests),
            trials=row.trials,
            seed=row.seed,
        ),
        first_trial=row.first_trial,
        last_trial=row.last_trial,
    )


def complete_trials(connection: Connection, claim: ClaimedTrials, counts: NDArray[np.int64]) -> bool:
    """Hand in how many trials were as large, (pairs,); False when they were not ours any more.

    With the last ones all are added up, and the tests are stored.
    """
    if not finish(connection, Trials, claim.trials_id, claim.owner, counts=pack(counts.astype(np.float64))):
        return False
    # A counter, as for shards: the row's lock lets one of two last ones see the other.
    remaining = connection.scalar(
        update(Comparison)
        .where(Comparison.id == claim.comparison_id, Comparison.state == ComparisonState.RUNNING)
        .values(remaining=Comparison.remaining - 1)
        .returning(Comparison.remaining)
    )
    if remaining == 0:
        _conclude(connection, claim)
    return True


def release_trials(
    connection: Connection,
    trials_id: int,
    owner: str,
    reason: str,
    *,
    max_attempts: int,
    delay_seconds: float,
    permanent: bool = False,
) -> bool:
    """Take trials from an owner that could not finish them; False when they were not his any more.

    They go back to pending, `delay_seconds` longer each time. Out of attempts (or at once when the error is
    `permanent`) they fail, and with them the comparison.
    """
    row = connection.execute(
        select(Trials.attempts, Trials.comparison_id, Trials.first_trial, Trials.last_trial)
        .where(Trials.id == trials_id, Trials.owner == owner, Trials.state == LeaseState.RUNNING)
        .with_for_update()
    ).one_or_none()
    if row is None:
        return False
    if row.attempts < max_attempts and not permanent:
        put_back(connection, Trials, trials_id, reason=reason, delay_seconds=delay_seconds * row.attempts)
        return True
    close(connection, Trials, [trials_id], LeaseState.FAILED, reason)
    tries = f"tried {row.attempts} times" if row.attempts > 1 else "tried once"
    first, last = row.first_trial + 1, row.last_trial
    _end(connection, row.comparison_id, f"Trials {first} to {last} could not be made ({tries}): {reason}")
    return True


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
    theirs = [row.id for row in running if any(wanted.intersection(runs) for runs in row.contestants)]
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
