"""Columns of metrics tasks: those that are not stored are enqueued, each once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, select, tuple_

from models.database.session import writing
from models.database.upsert import insert_ignore
from models.schema.queue import MetricsTaskPart
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from steelyard.metrics.metric import EDITION


@dataclass(frozen=True, slots=True)
class WantedPart:
    """A column of a metrics task."""

    campaign_id: int
    protocol_id: int
    judgments_id: int
    pair: str
    statistic: str
    inputs: str
    """SHA-256 of what it depends on."""


@dataclass(frozen=True, slots=True)
class PartState:
    """How far a column is."""

    id: int
    state: LeaseState
    error: str | None


def read_parts(connection: Connection, campaign_id: int, wanted: Sequence[WantedPart]) -> dict[WantedPart, PartState]:
    """The columns that are there, whatever their state."""
    rows = connection.execute(
        select(
            MetricsTaskPart.id, MetricsTaskPart.state, MetricsTaskPart.error, MetricsTaskPart.protocol_id,
            MetricsTaskPart.judgments_id, MetricsTaskPart.statistic, MetricsTaskPart.inputs,
        ).where(MetricsTaskPart.campaign_id == campaign_id)
    )  # fmt: skip
    known = {
        (row.protocol_id, row.judgments_id, row.statistic, row.inputs): PartState(row.id, row.state, row.error)
        for row in rows
    }
    states = {part: known.get((part.protocol_id, part.judgments_id, part.statistic, part.inputs)) for part in wanted}
    return {part: state for part, state in states.items() if state is not None}


def request_parts(engine: Engine, settings: Settings, wanted: Sequence[WantedPart]) -> None:
    """Enqueue columns that are not there yet, and delete those of the same judgments that other scores gave."""
    # Somebody is waiting. But embedded workers also do what killed commands left behind, and shards go first.
    queue_class = QueueClass.CAMPAIGN if settings.embedded else QueueClass.INTERACTIVE
    rows = [
        {
            "campaign_id": part.campaign_id, "protocol_id": part.protocol_id, "judgments_id": part.judgments_id,
            "pair": part.pair, "statistic": part.statistic, "inputs": part.inputs,
            "queue_class": int(queue_class), "edition": EDITION,
        }
        for part in wanted
    ]  # fmt: skip
    key = tuple_(MetricsTaskPart.campaign_id, MetricsTaskPart.protocol_id, MetricsTaskPart.judgments_id)
    with writing(engine, durable=True) as connection:
        asked = {(part.campaign_id, part.protocol_id, part.judgments_id) for part in wanted}
        inputs = {part.inputs for part in wanted}
        connection.execute(delete(MetricsTaskPart).where(key.in_(asked), MetricsTaskPart.inputs.not_in(inputs)))
        insert_ignore(connection, MetricsTaskPart, rows)
