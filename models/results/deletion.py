"""Deletes results, so that they are computed again."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, delete

from models.schema.learned import LearnedColumn, LearnedShardEvaluation
from models.schema.queue import ShardEvaluation
from models.schema.results import ReplicatePart, Score, Statistics, SystemRuns


def delete_results(connection: Connection, evaluations: Sequence[int]) -> None:
    """Delete the results of these evaluations, including their randomization tests.

    Their shards are detached: late results are discarded. The caller must hold the evaluations' locks.
    """
    for table in (
        *(Statistics, ReplicatePart, Score, ShardEvaluation),
        *(LearnedColumn, LearnedShardEvaluation),
    ):
        connection.execute(delete(table).where(table.evaluation_id.in_(evaluations)))
    # Tests are deleted with their systems, and these with their further runs.
    connection.execute(delete(SystemRuns).where(SystemRuns.evaluation_id.in_(evaluations)))
