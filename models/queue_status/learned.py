"""What waits for models and programs, and whether any learned worker has them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from models.queue.lease import is_open
from models.schema.base import now
from models.schema.column_types import readable
from models.schema.learned import LearnedShard
from models.schema.queue import Worker
from models.schema.states import LeaseState


@dataclass(frozen=True, slots=True)
class LearnedWork:
    """The open work of one learned metric."""

    metric: str
    """Its specification, which names the model or program."""
    waiting: int
    """Shards."""
    running: int
    contents: int
    """Different texts to be scored in these shards; an upper bound until a shard begins."""
    scored: int
    """How many of them have scores."""
    workers: int
    """Learned workers that have the model or program."""


def read_learned_work(connection: Connection, silent_seconds: float) -> tuple[LearnedWork, ...]:
    """Open work by metric."""
    counted = (
        select(
            LearnedShard.specification,
            LearnedShard.state,
            func.count().label("shards"),
            func.sum(LearnedShard.segments).label("contents"),
            func.sum(LearnedShard.scored).label("scored"),
        )
        .where(is_open(LearnedShard))
        .group_by(LearnedShard.specification, LearnedShard.state)
    )
    rows = connection.execute(counted).all()
    if not rows:
        return ()
    lacks = [
        set(readable(each, [])) if each is not None else set()
        for each in connection.scalars(
            select(Worker.lacks).where(Worker.queue == "learned", Worker.beat_at >= now() - silent_seconds)
        )
    ]
    found = []
    for metric in sorted({row.specification for row in rows}):
        of_metric = [row for row in rows if row.specification == metric]
        running = sum(row.shards for row in of_metric if row.state == LeaseState.RUNNING)
        found.append(
            LearnedWork(
                metric,
                sum(row.shards for row in of_metric) - running,
                running,
                sum(row.contents for row in of_metric),
                sum(row.scored for row in of_metric),
                sum(metric not in each for each in lacks),
            )
        )
    return tuple(found)
