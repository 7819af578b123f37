"""The life cycle of a column of a metrics task: requested once for the same inputs, computed by a worker, kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, select

from models.queue.task_kind import Claim, TaskKind
from models.schema.queue import MetricsTaskPart
from models.schema.states import LeaseState


@dataclass(frozen=True, slots=True)
class ClaimedPart(Claim):
    """A column under our lease."""

    campaign_id: int
    protocol_id: int
    judgments_id: int
    pair: str
    statistic: str

    def log_fields(self) -> dict[str, Any]:
        """As `Claim`."""
        return {"protocol": self.protocol_id, "judgments": self.judgments_id, "statistic": self.statistic}


def _load(connection: Connection, claim: Claim) -> ClaimedPart:
    row = connection.execute(select(MetricsTaskPart).where(MetricsTaskPart.id == claim.key)).one()
    return ClaimedPart(
        *claim.identity,
        campaign_id=row.campaign_id,
        protocol_id=row.protocol_id,
        judgments_id=row.judgments_id,
        pair=row.pair,
        statistic=row.statistic,
    )


def _columns(_claim: ClaimedPart, result: bytes) -> Mapping[str, object]:
    return {"result": result}


def _removable() -> ColumnElement[bool]:
    # What is done is the result; requests for other inputs delete it.
    return MetricsTaskPart.state != LeaseState.DONE


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    return {"protocol": connection.scalar(select(MetricsTaskPart.protocol_id).where(MetricsTaskPart.id == key))}


METRICS_TASK_PART: TaskKind[ClaimedPart, bytes] = TaskKind(
    name="metrics_task_parts",
    table=MetricsTaskPart,
    message="compare_metrics",
    run="analysis.meta_evaluation.metrics_task_parts:compare_metrics",
    load=_load,
    columns=_columns,
    removable=_removable,
    log_fields=_log_fields,
    cost=lambda settings: settings.shard_seconds,
    # With the same scores it would take as long again.
    retried_after_timeout=False,
)
