"""What metrics cost, in microseconds for a typical segment of one system: stated by them until it was measured."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from metrics import parse_metric
from models.database.upsert import upsert
from models.errors import UnreadableRow
from models.schema.base import now
from models.schema.column_types import stored
from models.schema.corpus import Protocol
from models.schema.queue import MeasuredCost, Shard

log = logging.getLogger(__name__)

ENOUGH = 4000.0
"""Typical segments of one system from which on a measured cost is taken instead of the stated one."""

MEMORY = 100_000.0
"""What is older than so many typical segments hardly counts."""

OUTLIER = 4.0
"""A shard never counts as more than so many times dearer or cheaper than those before it."""


@dataclass(frozen=True, slots=True)
class LearnedCost:
    """What was learned of one metric."""

    microseconds: float
    weight: float
    """How many typical segments it was learned from."""


def metric_costs(connection: Connection, specifications: Sequence[str]) -> list[float]:
    """What each of these metrics costs: as measured where enough was measured, else as stated."""
    learned = _read(connection, specifications)
    return [
        learned[each].microseconds if each in learned and learned[each].weight >= ENOUGH else parse_metric(each).cost
        for each in specifications
    ]


def learn(before: LearnedCost, seconds: float, units: float) -> LearnedCost:
    """What is known after one more shard, in which a metric took so long for so many typical segments.

    Later shards count more than earlier ones, and one that took very long (a process that was stopped, a dictionary
    that was read) moves the cost little. What is far from the cost so far makes that no surer.
    """
    measured = seconds / units * 1e6
    low, high = before.microseconds / OUTLIER, before.microseconds * OUTLIER
    near = low <= measured <= high or before.microseconds <= 0.0
    gain = units / (units + before.weight)
    kept = measured if near else min(max(measured, low), high)
    microseconds = before.microseconds + gain * (kept - before.microseconds)
    return LearnedCost(microseconds, min(before.weight + units, MEMORY) if near else before.weight)


def learn_from(connection: Connection, shards: Sequence[int]) -> None:
    """Learn what metrics cost from shards that are done. Only the scheduler does: two at once would lose something."""
    rows = connection.execute(
        select(Shard.metrics, Shard.metric_seconds, Shard.units, Protocol.metrics.label("specifications"))
        .join(Protocol, Protocol.id == Shard.protocol_id)
        .where(Shard.id.in_(shards), Shard.metric_seconds.is_not(None), Shard.units > 0.0)
        .order_by(Shard.ended_at)
    ).all()
    measured = [(timed, row.units) for row in rows for timed in [_timed(row)] if timed]
    wanted = sorted({specification for timed, _ in measured for specification, _ in timed})
    known: dict[str, LearnedCost] = dict(_read(connection, wanted))
    learned: dict[str, LearnedCost] = {}
    for timed, units in measured:
        for specification, seconds in timed:
            before = learned.get(specification) or known.get(specification) or _stated(specification)
            if before is not None:
                learned[specification] = learn(before, seconds, units)
    clock = connection.scalar(select(now()))
    upsert(
        connection,
        MeasuredCost,
        [
            {
                "specification": specification,
                "microseconds": cost.microseconds,
                "weight": cost.weight,
                "updated_at": clock,
            }
            for specification, cost in learned.items()
        ],
        ("microseconds", "weight", "updated_at"),
    )


def _timed(row: Any) -> list[tuple[str, float]]:
    """Each metric of a shard and how long it took; nothing where the row was changed by hand and does not say."""
    try:
        with stored("How long a shard took"):
            positions = range(len(row.specifications)) if row.metrics is None else row.metrics
            return [
                (row.specifications[position], seconds)
                for position, seconds in zip(positions, row.metric_seconds, strict=True)
            ]
    except UnreadableRow as error:
        log.warning("No cost is learned from a shard: %s", error)
        return []


def _read(connection: Connection, specifications: Sequence[str]) -> Mapping[str, LearnedCost]:
    rows = connection.execute(select(MeasuredCost).where(MeasuredCost.specification.in_(specifications)))
    return {row.specification: LearnedCost(row.microseconds, row.weight) for row in rows}


def _stated(specification: str) -> LearnedCost | None:
    """Where to begin; None where no metric of that name is installed here."""
    try:
        return LearnedCost(parse_metric(specification).cost, 0.0)
    except Exception:  # a metric of another distribution may be gone, or raise what it likes
        return None
