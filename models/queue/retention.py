"""Deletes rows of tasks that ended long ago. Results (statistics, states, scores, tests) do not depend on them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, exists, select, update

from models.queue.kinds.registry import KINDS
from models.queue.task_kind import TaskKind
from models.schema.base import now
from models.schema.queue import Comparison, Trials
from models.schema.states import CLOSED, ComparisonState

HOUR = 3600.0
"""Long enough ago not to count as recent work."""


def backfill_ended_at(connection: Connection) -> int:
    """Set `ended_at` to an hour ago in rows written by workers of an earlier release; their number."""
    backfilled = 0
    for kind in KINDS:
        without = (kind.table.state.in_(CLOSED), kind.table.ended_at.is_(None))
        backfilled += connection.execute(update(kind.table).where(*without).values(ended_at=now() - HOUR)).rowcount
    return backfilled


def prune_finished(connection: Connection, keep_seconds: float, most: int) -> dict[str, int]:
    """Delete at most this many rows of each kind of task that ended long enough ago; the number of each kind."""
    deleted = {kind.name: _prune(connection, kind, keep_seconds, most) for kind in KINDS}
    return {**deleted, "comparisons": _prune_comparisons(connection, keep_seconds, most)}


def _prune(connection: Connection, kind: TaskKind[Any, Any], keep_seconds: float, most: int) -> int:
    table = kind.table
    old = (
        select(table.id)
        .where(table.state.in_(CLOSED), table.ended_at < now() - keep_seconds, kind.removable())
        .order_by(table.ended_at)
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    keys = list(connection.scalars(old))
    if not keys:
        return 0
    kind.detach(connection, keys)
    return connection.execute(delete(table).where(table.id.in_(keys))).rowcount


def _prune_comparisons(connection: Connection, keep_seconds: float, most: int) -> int:
    trials = exists().where(Trials.comparison_id == Comparison.id)
    old = (
        select(Comparison.id)
        .where(Comparison.state != ComparisonState.RUNNING, Comparison.finished_at < now() - keep_seconds, ~trials)
        .order_by(Comparison.finished_at)
        .limit(most)
    )
    keys = list(connection.scalars(old))
    return connection.execute(delete(Comparison).where(Comparison.id.in_(keys))).rowcount if keys else 0
