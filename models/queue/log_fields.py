"""For whom a piece of work is done, as logs tell it."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, select

from models.schema.queue import Evaluation, Leased, Preparation, Reduction, Shard, ShardEvaluation, Trials


def attempt_of(connection: Connection, table: type[Leased], key: int) -> int | None:
    """How often this work was begun; None when it is gone."""
    return connection.scalar(select(table.attempts).where(table.id == key))


def name_of(table: type[Leased]) -> str:
    """What a piece of work of this kind is called: shard, reduction, preparation, trials."""
    return table.__name__.lower()


def described(connection: Connection, table: type[Leased], key: int) -> dict[str, Any]:
    """The work itself by its id, its attempt, and the ids of what waits for it."""
    found: dict[str, Any] = {name_of(table): key}
    if table is Shard:
        found["protocol"] = connection.scalar(select(Shard.protocol_id).where(Shard.id == key))
        found["evaluations"] = list(
            connection.scalars(
                select(ShardEvaluation.evaluation_id)
                .where(ShardEvaluation.shard_id == key)
                .order_by(ShardEvaluation.evaluation_id)
            )
        )
    elif table is Reduction:
        found["protocol"] = connection.scalar(select(Reduction.protocol_id).where(Reduction.id == key))
        found["evaluations"] = list(
            connection.scalars(select(Evaluation.id).where(Evaluation.reduction_id == key).order_by(Evaluation.id))
        )
    elif table is Preparation:
        found["state"] = connection.scalar(select(Preparation.prepared_state_id).where(Preparation.id == key))
    elif table is Trials:
        found["comparison"] = connection.scalar(select(Trials.comparison_id).where(Trials.id == key))
    found["attempt"] = attempt_of(connection, table, key)
    return found
