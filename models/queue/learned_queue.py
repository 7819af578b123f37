"""What learned workers look for themselves: the most urgent learned shard that they have the model or program for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlalchemy import Connection, func, or_, select, true, update

from models.queue.lease import held_by
from models.schema.base import now
from models.schema.declarative import aliased
from models.schema.learned import LearnedShard
from models.schema.queue import Worker
from models.schema.states import LeaseState

_PENDING = (LearnedShard.state == LeaseState.PENDING,)


def waiting_specifications(connection: Connection, edition: int) -> list[str]:
    """The metrics of learned shards that may be begun now."""
    rows = connection.scalars(
        select(LearnedShard.specification)
        .where(*_PENDING, LearnedShard.edition == edition, LearnedShard.not_before <= now())
        .distinct()
    )
    return sorted(rows)


def next_learned_shard(
    connection: Connection, specifications: Collection[str], edition: int, passed_over: Collection[int] = ()
) -> int | None:
    """The shard to claim next, of these metrics; None if there is none.

    The most urgent class goes first, then what completes a column, then the earliest due time, then the team that has
    waited longest since its last shard began, then the oldest.
    """
    other = aliased(LearnedShard)
    served = select(func.max(other.claimed_at)).where(other.team == LearnedShard.team).scalar_subquery()
    wanted = (
        select(LearnedShard.id)
        .where(
            *_PENDING,
            LearnedShard.edition == edition,
            LearnedShard.not_before <= now(),
            # Adding up needs no model.
            or_(LearnedShard.specification.in_(list(specifications)), LearnedShard.reduces),
            LearnedShard.id.not_in(list(passed_over)) if passed_over else true(),
        )
        .order_by(
            LearnedShard.queue_class,
            LearnedShard.reduces.desc(),
            LearnedShard.due_at.asc().nulls_last(),
            served.asc().nulls_first(),
            LearnedShard.id,
        )
        .limit(1)
    )
    found: int | None = connection.scalar(wanted)
    return found


def renew_with_progress(
    connection: Connection, key: int, owner: str, lease_seconds: float, scored: int, segments: int
) -> bool:
    """Extend a lease and note how many contents are scored; False if another worker has taken the shard over."""
    longer = (
        update(LearnedShard)
        .where(held_by(LearnedShard, key, owner))
        .values(lease_until=now() + lease_seconds, scored=scored, segments=segments)
    )
    return connection.execute(longer).rowcount == 1


def note_missing_models(connection: Connection, worker: str, specifications: Sequence[str]) -> None:
    """Note for which waiting metrics a worker has no model or program."""
    connection.execute(update(Worker).where(Worker.id == worker).values(lacks=sorted(specifications)))
