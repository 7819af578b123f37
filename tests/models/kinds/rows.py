"""Rows of every kind of task, and what is done to them."""

from typing import Any

import pytest
from sqlalchemy import Connection, Engine, func, select, update

from models.database.session import reading, writing
from models.queue.kinds.comparisons import start_comparison
from models.queue.kinds.reductions import enqueue_reductions
from models.results.randomizations import Pair, RandomizationPlan
from models.schema.base import Base, now
from models.schema.corpus import Submission
from models.schema.human import Judgments
from models.schema.learned import LearnedShard
from models.schema.queue import (
    CorpusCount,
    Evaluation,
    Leased,
    MetricsTaskPart,
    ProtocolStatistics,
    Reduction,
    Shard,
    Trials,
)
from models.schema.states import EvaluationState, LeaseState
from steelyard.metrics.metric import EDITION
from tests.campaigns.deletion.rows import stored_row
from tests.scheduler.jobs import one_block_shards, queue_job
from tests.tasks import KIND_OF, claim_task, release_task

KINDS = pytest.mark.parametrize("table", [Shard, Reduction, CorpusCount, Trials, LearnedShard, MetricsTaskPart])


def queue_row(engine: Engine, table: type[Leased], segments: int = 200) -> int:
    """Evaluations 1 and 2, for which a row of this kind waits; its id."""
    url = engine.url.render_as_string(hide_password=False)
    metric = {CorpusCount: "nist", LearnedShard: "vowels"}.get(table, "bleu")
    job = queue_job(engine, one_block_shards(url), segments=segments, systems=2, metrics=[metric])
    with writing(engine) as connection:
        if table is LearnedShard:
            # Learned metrics are scored after the others.
            connection.execute(update(Evaluation).values(state=EvaluationState.DONE))
        if table is Reduction:
            enqueue_reductions(connection, job.all_evaluations[1:])
        if table is Trials:
            contest = RandomizationPlan(job.protocols[0], ((1,), (2,)), (Pair(0, 0, 1),), 300, 7)
            start_comparison(connection, contest, [(100, 200)], queue_class=1, team="", edition=EDITION)
        if table is MetricsTaskPart:
            add_metrics_task_part(connection)
        return connection.execute(select(func.min(table.id))).scalar_one()


def add_metrics_task_part(connection: Connection) -> None:
    """A column of a metrics task for evaluation 1, by judgments of its test set."""
    of = select(Submission.campaign_id, Submission.test_set_id, Evaluation.protocol_id).join(Evaluation)
    given = connection.execute(of.where(Evaluation.id == 1)).one()._asdict()
    stored_row(connection, Judgments.__table__, **given)
    judgments = connection.scalar(select(func.max(Judgments.id)))
    stored_row(connection, MetricsTaskPart.__table__, **given, judgments_id=judgments, edition=EDITION)


def claim(engine: Engine, table: type[Leased], key: int, owner: str = "o", **others: Any) -> Any:
    given = {"owner": owner, "worker": "w", "lease_seconds": 60, "max_attempts": 3, **others}
    with writing(engine) as connection:
        return claim_task(connection, KIND_OF[table], key, **given)


def release(engine: Engine, table: type[Leased], key: int, owner: str = "o", **others: Any) -> bool:
    given = {"max_attempts": 3, "delay_seconds": 0.0, **others}
    with writing(engine) as connection:
        return release_task(connection, KIND_OF[table], key, owner, "no.", **given)


def row_of(engine: Engine, table: type[Leased], key: int) -> Any:
    with reading(engine) as connection:
        return connection.execute(select(table, now().label("now")).where(table.id == key)).one()


def all_rows(engine: Engine) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Every row of every table: by its table and key."""
    with reading(engine) as connection:
        return {
            (table.name, *(row._mapping[column] for column in table.primary_key)): dict(row._mapping)
            for table in Base.metadata.sorted_tables
            for row in connection.execute(select(table))
        }


def waiting_keys(engine: Engine, table: type[Leased], job: Any) -> list[int]:
    """Rows that wait, of the job's protocol."""
    query = select(table.id).where(table.state == LeaseState.PENDING).order_by(table.id)
    if table is CorpusCount:
        theirs = select(ProtocolStatistics.corpus_statistics_id).where(
            ProtocolStatistics.protocol_id == job.protocols[0]
        )
        query = query.where(CorpusCount.corpus_statistics_id.in_(theirs))
    else:
        query = query.where(table.protocol_id == job.protocols[0])  # type: ignore[attr-defined]
    with reading(engine) as connection:
        return list(connection.scalars(query))


def ends(engine: Engine, job: Any) -> list[str]:
    with reading(engine) as connection:
        states = select(Evaluation.state).where(Evaluation.id.in_(job.all_evaluations)).order_by(Evaluation.id)
        return list(connection.scalars(states))
