"""The life cycle of a learned shard: claimed by a learned worker, scored, then reduced to the scores of its columns.

Learned workers look for these tasks themselves (`next_learned_shard`): there are few, they take long, and only some
workers have the model. Lock order: learned shard, evaluations by id, then columns by evaluation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, exists, insert, select, update

from models.database.upsert import upsert
from models.queue.evaluation_end import lock_evaluations
from models.queue.kinds.reductions import SCORE_KEY
from models.queue.kinds.shards import ShardRow, store_results
from models.queue.task_kind import Claim, Failure, TaskKind
from models.schema.base import BLOCK_SEGMENTS, now
from models.schema.corpus import Submission
from models.schema.learned import LearnedColumn, LearnedShard, LearnedShardEvaluation
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.states import UNFINISHED, ColumnState, EvaluationState


@dataclass(frozen=True, slots=True)
class ClaimedLearnedShard(Claim):
    """A learned shard under our lease."""

    protocol_id: int
    metric: int
    specification: str
    first_block: int
    last_block: int
    reduces: bool
    evaluations: tuple[int, ...]
    texts: tuple[int, ...]
    """The output of each evaluation's system, as a text id."""

    def log_fields(self) -> dict[str, Any]:
        """As `Claim`."""
        return {"protocol": self.protocol_id, "metric": self.specification, "evaluations": self.evaluations}


@dataclass(frozen=True, slots=True)
class ScoredColumns:
    """The result of a learned shard: statistics, or the rows of Score where it reduces."""

    rows: Sequence[ShardRow] = ()
    scores: Sequence[dict[str, Any]] = ()
    contents: int = 0
    """The number of different contents."""
    computed: int = field(default=0)
    """How many of them had no stored scores."""


def _load(connection: Connection, claim: Claim) -> ClaimedLearnedShard | None:
    rows = connection.execute(
        select(LearnedShard, Evaluation.id.label("evaluation_id"), Submission.text_id)
        .join(LearnedShardEvaluation, LearnedShardEvaluation.learned_shard_id == LearnedShard.id)
        .join(Evaluation, Evaluation.id == LearnedShardEvaluation.evaluation_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(LearnedColumn, _column_of(LearnedShard.metric, Evaluation.id))
        .where(
            LearnedShard.id == claim.key,
            LearnedColumn.state == ColumnState.WAITING,
            Evaluation.state.not_in(UNFINISHED),
        )
        .order_by(Evaluation.id)
    ).all()
    if not rows:
        return None
    first = rows[0]
    return ClaimedLearnedShard(
        *claim.identity,
        protocol_id=first.protocol_id,
        metric=first.metric,
        specification=first.specification,
        first_block=first.first_block,
        last_block=first.last_block,
        reduces=first.reduces,
        evaluations=tuple(row.evaluation_id for row in rows),
        texts=tuple(row.text_id for row in rows),
    )


def _column_of(metric: Any, evaluation: Any) -> Any:
    return (LearnedColumn.metric == metric) & (LearnedColumn.evaluation_id == evaluation)


def lock_columns(connection: Connection, metric: int, evaluations: Sequence[int]) -> list[int]:
    """Lock those of the columns that still wait; their evaluations."""
    rows = connection.scalars(
        select(LearnedColumn.evaluation_id)
        .where(
            LearnedColumn.metric == metric,
            LearnedColumn.evaluation_id.in_(evaluations),
            LearnedColumn.state == ColumnState.WAITING,
        )
        .order_by(LearnedColumn.evaluation_id)
        .with_for_update()
    )
    return list(rows)


def _columns(_claim: ClaimedLearnedShard, scored: ScoredColumns) -> Mapping[str, object]:
    return {"segments": scored.contents, "scored": scored.contents}


def _complete(
    connection: Connection, claim: ClaimedLearnedShard, scored: ScoredColumns
) -> tuple[TaskKind[Any, Any], int] | None:
    """Store statistics and go on to the scores of columns without unfinished shards; or store these scores."""
    shown = lock_evaluations(connection, claim.evaluations, [EvaluationState.DONE]) if claim.reduces else []
    waiting = lock_columns(connection, claim.metric, claim.evaluations)
    # One that was enqueued again meanwhile has other shards now.
    linked = select(LearnedShardEvaluation.evaluation_id).where(LearnedShardEvaluation.learned_shard_id == claim.key)
    ours = set(waiting) & set(connection.scalars(linked))
    column = (LearnedColumn.metric == claim.metric) & LearnedColumn.evaluation_id.in_(ours)
    if claim.reduces:
        rows = [row for row in scored.scores if row["evaluation_id"] in ours]
        upsert(connection, Score, rows, [name for name in (rows[0] if rows else ()) if name not in SCORE_KEY])
        connection.execute(
            update(LearnedColumn).where(column).values(state=ColumnState.DONE, reason=None, finished_at=now())
        )
        # What shows the evaluation is read again.
        again = Evaluation.id.in_(ours & set(shown))
        connection.execute(update(Evaluation).where(again).values(finished_at=now()))
        return None
    blocks = claim.first_block, claim.last_block
    store_results(connection, [(blocks, [row for row in scored.rows if row.evaluation_id in ours])])
    counted = connection.execute(
        update(LearnedColumn)
        .where(column)
        .values(remaining=LearnedColumn.remaining - 1)
        .returning(LearnedColumn.evaluation_id, LearnedColumn.remaining)
    )
    complete = sorted(row.evaluation_id for row in counted if not row.remaining)
    return (LEARNED_SHARD, enqueue_reducing(connection, claim.key, complete)) if complete else None


def enqueue_reducing(connection: Connection, like: int, evaluations: Sequence[int]) -> int:
    """Add the step from statistics to scores for columns whose shards are all done, as urgent as one of these."""
    wanted = (
        "queue_class", "team", "due_at", "edition", "trace", "protocol_id", "metric", "specification",
    )  # fmt: skip
    row = connection.execute(
        select(*(getattr(LearnedShard, name) for name in wanted)).where(LearnedShard.id == like)
    ).one()
    values = {**row._mapping, "first_block": 0, "last_block": 0, "segments": 0, "reduces": True}
    added: int = connection.execute(insert(LearnedShard).values(**values).returning(LearnedShard.id)).scalar_one()
    connection.execute(
        insert(LearnedShardEvaluation),
        [{"learned_shard_id": added, "evaluation_id": evaluation} for evaluation in evaluations],
    )
    return added


def _exhausted(connection: Connection, shard: Row[Any], failure: Failure) -> None:
    """Fail a single column; give each of several evaluations a shard of its own, so that one bad text fails alone.

    What was scored of it is stored by content, and not computed again.
    """
    members = select(LearnedShardEvaluation.evaluation_id).where(LearnedShardEvaluation.learned_shard_id == shard.id)
    waiting = lock_columns(connection, shard.metric, list(connection.scalars(members)))
    if len(waiting) == 1 or shard.reduces:
        first, last = shard.first_block * BLOCK_SEGMENTS + 1, shard.last_block * BLOCK_SEGMENTS
        what = "The scores could not be added up" if shard.reduces else f"Segments {first} to {last} were not scored"
        fail_columns(connection, shard.metric, waiting, failure.describe(what))
        return
    kept = {
        name: getattr(shard, name)
        for name in ("queue_class", "team", "due_at", "edition", "trace", "protocol_id", "metric", "specification")
    }
    for evaluation in waiting:
        values = {**kept, "first_block": shard.first_block, "last_block": shard.last_block, "segments": shard.segments}
        own = connection.execute(insert(LearnedShard).values(**values).returning(LearnedShard.id)).scalar_one()
        connection.execute(
            update(LearnedShardEvaluation)
            .where(
                LearnedShardEvaluation.learned_shard_id == shard.id,
                LearnedShardEvaluation.evaluation_id == evaluation,
            )
            .values(learned_shard_id=own)
        )


def fail_columns(connection: Connection, metric: int, evaluations: Sequence[int], reason: str) -> None:
    """Fail columns that are locked and wait; the other columns of their evaluations stay."""
    connection.execute(
        update(LearnedColumn)
        .where(LearnedColumn.metric == metric, LearnedColumn.evaluation_id.in_(evaluations))
        .values(state=ColumnState.FAILED, reason=reason, finished_at=now())
    )


def _removable() -> ColumnElement[bool]:
    # Progress is counted from done shards as long as their columns wait.
    return ~exists().where(
        LearnedShardEvaluation.learned_shard_id == LearnedShard.id,
        LearnedColumn.evaluation_id == LearnedShardEvaluation.evaluation_id,
        LearnedColumn.metric == LearnedShard.metric,
        LearnedColumn.state == ColumnState.WAITING,
    )


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    row = connection.execute(
        select(LearnedShard.protocol_id, LearnedShard.specification).where(LearnedShard.id == key)
    ).one_or_none()
    return {} if row is None else {"protocol": row.protocol_id, "metric": row.specification}


LEARNED_SHARD = TaskKind(
    name="learned_shards",
    table=LearnedShard,
    message=None,
    run="worker.learned.scoring:score_learned",
    load=_load,
    columns=_columns,
    complete=_complete,
    exhausted=_exhausted,
    removable=_removable,
    log_fields=_log_fields,
)
