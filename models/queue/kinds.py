"""Every kind of work that is claimed, and how it is taken from an owner that could not finish it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Protocol

from sqlalchemy import Connection, update

from models.queue.comparisons import release_trials
from models.queue.corpus_statistics import release_preparation
from models.queue.lease import no_attempt_left
from models.queue.reductions import release_reduction
from models.queue.shards import release_shard
from models.schema.queue import RETRIED, Leased, Preparation, Reduction, Shard, Trials
from models.schema.states import LeaseState


class Release(Protocol):
    """Puts a row back, or fails it when it is out of attempts; False when it was not the owner's any more."""

    def __call__(
        self,
        connection: Connection,
        key: int,
        owner: str,
        reason: str,
        /,
        *,
        max_attempts: int,
        delay_seconds: float,
        permanent: bool = False,
    ) -> bool:
        """As `models.queue.shards.release_shard`."""


RELEASES: Mapping[type[Leased], Release] = {
    Shard: release_shard,
    Reduction: release_reduction,
    Preparation: release_preparation,
    Trials: release_trials,
}


def give_up(connection: Connection, table: type[Leased], key: int, max_attempts: int) -> bool:
    """End a row that waits although its attempts are used up, as if the last one had failed now.

    False when it is not such a row any more.
    """
    owner = uuid.uuid4().hex
    # Who holds it can release it, and nobody can claim it any more.
    held = (
        update(table)
        .where(table.id == key, RETRIED, table.attempts >= max_attempts)
        .values(state=LeaseState.RUNNING, owner=owner)
        .returning(table.error)
    )
    row = connection.execute(held).one_or_none()
    if row is None:
        return False
    reason = no_attempt_left(row.error, "STEELYARD_MAX_ATTEMPTS", max_attempts)
    return RELEASES[table](connection, key, owner, reason, max_attempts=max_attempts, delay_seconds=0.0)
