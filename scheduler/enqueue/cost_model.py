"""The costs of metrics in microseconds per typical segment of one system: declared by the metrics, then learned."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from models.database.upsert import upsert
from models.errors import UnreadableRow
from models.schema.base import database_time
from models.schema.column_types import stored
from models.schema.corpus import Protocol
from models.schema.queue import MeasuredCost, Shard
from steelyard.metrics.registry import parse_metric

log = logging.getLogger(__name__)

ENOUGH = 4000.0
"""The number of typical segments from which on the learned cost replaces the declared one."""

MEMORY = 100_000.0
"""Measurements older than this many typical segments hardly count."""

OUTLIER = 4.0
"""A shard's influence is limited to this factor above or below the previous cost."""


@dataclass(frozen=True, slots=True)
class LearnedCost:
    """The learned cost of a metric."""

    microseconds: float
    weight: float
    """The number of typical segments that it was learned from."""


def metric_costs(connection: Connection, specifications: Sequence[str]) -> list[float]:
    """The cost of each of these metrics: learned if there is enough data, otherwise declared."""
    learned = _read(connection, specifications)
    return [
        learned[each].microseconds if each in learned and learned[each].weight >= ENOUGH else parse_metric(each).cost
        for each in specifications
    ]


def learn(before: LearnedCost, seconds: float, units: float) -> LearnedCost:
    """Update a cost with one more shard, in which the metric took `seconds` for `units` typical segments.

    Recent shards weigh more, and outliers (a stopped process, a dictionary that was loaded) move the cost little. An
    outlier does not increase confidence.
    """
    measured = seconds / units * 1e6
    low, high = before.microseconds / OUTLIER, before.microseconds * OUTLIER
    near = low <= measured <= high or before.microseconds <= 0.0
    gain = units / (units + before.weight)
    kept = measured if near else min(max(measured, low), high)
    microseconds = before.microseconds + gain * (kept - before.microseconds)
    return LearnedCost(microseconds, min(before.weight + units, MEMORY) if near else before.weight)


def learn_from(connection: Connection, shards: Sequence[int]) -> None:
    """Learn the costs of metrics from finished shards. For the scheduler only: concurrent updates would be lost."""
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
    clock = database_time(connection)
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
    """Each metric of a shard with its time; empty if the row was edited by hand and does not say."""
    try:
        with stored("How long a shard took"):
            positions = range(len(row.specifications)) if row.metrics is None else row.metrics
            return [
                (row.specifications[position], seconds)
                for position, seconds in zip(positions, row.metric_seconds, strict=True)
            ]
    except UnreadableRow as error:
        log.warning("A shard is skipped for cost learning: %s", error)
        return []


def _read(connection: Connection, specifications: Sequence[str]) -> Mapping[str, LearnedCost]:
    rows = connection.execute(select(MeasuredCost).where(MeasuredCost.specification.in_(specifications)))
    return {row.specification: LearnedCost(row.microseconds, row.weight) for row in rows}


def _stated(specification: str) -> LearnedCost | None:
    """The declared cost; None if no metric of that name is installed here."""
    try:
        return LearnedCost(parse_metric(specification).cost, 0.0)
    except Exception:  # a metric of another distribution may be gone, or raise what it likes
        return None
