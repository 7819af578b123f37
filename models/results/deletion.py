"""Dropping what was measured, so that it is measured anew."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete

from models.schema.queue import ShardEvaluation
from models.schema.results import Contestant, ReplicatePart, Score, Statistics


def delete_results(connection: Connection, evaluations: Sequence[int]) -> None:
    """Drop all that shards and reductions stored for these evaluations, and the randomization tests that rest on it.

    Their shards no longer work for them: what is still handed in is dropped. Only for who holds the evaluations.
    """
    for table in (Statistics, ReplicatePart, Score, ShardEvaluation):
        connection.execute(delete(table).where(table.evaluation_id.in_(evaluations)))
    # Tests go with their contestants, and so do contestants of further runs.
    connection.execute(delete(Contestant).where(Contestant.evaluation_id.in_(evaluations)))
