"""Claiming, completing and releasing tasks by hand, with a policy of one's own."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from sqlalchemy import Connection

from models.queue import task_kind
from models.queue.kinds.registry import KINDS
from models.queue.kinds.shards import SHARD, ScoredShard, ShardTiming
from models.queue.task_kind import Claim, Completion, LeasePolicy, TaskKind
from models.schema.queue import Leased

KIND_OF: Mapping[type[Leased], TaskKind[Any, Any]] = {kind.table: kind for kind in KINDS}
"""The kind whose rows are in this table."""

Claimed = TypeVar("Claimed", bound=Claim)


def policy(max_attempts: int = 3, *, lease_seconds: float = 60.0, delay_seconds: float = 0.0) -> LeasePolicy:
    return LeasePolicy(lease_seconds, max_attempts, lambda attempts: delay_seconds * attempts)


def claim_task(
    connection: Connection,
    kind: TaskKind[Claimed, Any],
    key: int,
    *,
    owner: str,
    worker: str,
    lease_seconds: float,
    max_attempts: int,
    edition: int | None = None,
) -> Claimed | None:
    given = policy(max_attempts, lease_seconds=lease_seconds)
    return task_kind.claim(connection, kind, key, given, owner=owner, worker=worker, edition=edition)


def claim_tasks(
    connection: Connection,
    kind: TaskKind[Claimed, Any],
    keys: Sequence[int],
    *,
    owner: str,
    worker: str,
    lease_seconds: float,
    max_attempts: int,
) -> list[Claimed]:
    given = policy(max_attempts, lease_seconds=lease_seconds)
    return task_kind.claim_several(connection, kind, keys, given, owner=owner, worker=worker)


def complete_task(connection: Connection, kind: TaskKind[Claimed, Any], claimed: Claimed, result: Any) -> Completion:
    return task_kind.complete(connection, kind, claimed, result)


def complete_shard(connection: Connection, claimed: Any, rows: Any, timing: ShardTiming | None = None) -> Completion:
    return complete_task(connection, SHARD, claimed, ScoredShard(rows, timing))


def release_task(
    connection: Connection,
    kind: TaskKind[Any, Any],
    key: int,
    owner: str,
    reason: str,
    *,
    max_attempts: int,
    delay_seconds: float,
    permanent: bool = False,
) -> bool:
    given = policy(max_attempts, delay_seconds=delay_seconds)
    return task_kind.release(connection, kind, key, owner, reason, given, permanent=permanent)
