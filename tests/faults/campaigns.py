"""Campaigns for fault tests, and what comes of them when nothing happens."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import combinations

from sqlalchemy import Engine, select

from models.database.session import make_engine, reading
from models.queue.kinds.corpus_statistics import CORPUS_COUNT
from models.queue.kinds.learned_shards import LEARNED_SHARD
from models.schema.campaigns import Campaign
from models.schema.corpus import Submission, System
from models.schema.learned import LearnedShard
from models.schema.queue import CorpusCount, Evaluation
from models.schema.results import Randomization, Score, SystemRuns
from models.schema.states import EvaluationState, LeaseState, QueueClass
from runtime.settings import Settings
from scheduler.enqueue.randomization import request_comparison
from scheduler.ingest.campaigns import IngestResult
from tests.scheduler.jobs import one_block_shards, queue_job, work_off
from worker.context import WorkerContext
from worker.handlers import do

Outcome = tuple[str, tuple[tuple[str, str, float | None, bytes, bytes], ...]]
"""The state of an evaluation, and of each metric specification, signature, score, sums and replicate scores."""

Outcomes = dict[tuple[str, str, str], Outcome]
"""By campaign, team and system."""


Tests = dict[tuple[str, str, str], tuple[float, int]]
"""By campaign and two systems the difference, and how many trials were as large."""

TRIALS = 800
"""Four tasks."""

LEARNED_SHARD_TOKENS = 30_000
"""A few blocks."""


@dataclass(frozen=True)
class Job:
    """A campaign with one test set; those of different seeds have nothing in common."""

    seed: int
    metrics: tuple[str, ...]
    segments: int = 256 * 11 + 7
    systems: int = 3
    team: str = ""
    queue_class: QueueClass = QueueClass.CAMPAIGN
    trouble: dict[int, bytes] = field(default_factory=dict)

    def queue(self, engine: Engine, *, cut: bool = True) -> IngestResult:
        """Take it in, with a shard for each block or one for all."""
        url = engine.url.render_as_string(hide_password=False)
        whole = {"concurrency": 1, "shortest_shard_seconds": 100.0, "shard_seconds": 100.0}
        return queue_job(
            engine,
            one_block_shards(url, **({"learned_shard_tokens": LEARNED_SHARD_TOKENS} if cut else whole)),
            segments=self.segments,
            systems=self.systems,
            metrics=self.metrics,
            campaign=f"campaign {self.seed}",
            team=self.team,
            queue_class=self.queue_class,
            seed=self.seed,
            trouble=self.trouble,
        )


def outcomes(engine: Engine) -> Outcomes:
    """What has come of all evaluations, to the bit."""
    with reading(engine) as connection:
        rows = connection.execute(
            select(Evaluation.id, Evaluation.state, Campaign.name.label("campaign"), System.team, System.name)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .join(Campaign, Campaign.id == Submission.campaign_id)
            .join(System, System.id == Submission.system_id)
        ).all()
        scores = connection.execute(select(Score).order_by(Score.evaluation_id, Score.metric)).all()
    found: dict[int, list[tuple[str, str, float | None, bytes, bytes]]] = {row.id: [] for row in rows}
    for row in scores:
        found[row.evaluation_id].append((row.specification, row.signature, row.score, row.sums, row.replicate_scores))
    return {(row.campaign, row.team, row.name): (row.state, tuple(found[row.id])) for row in rows}


def undisturbed(url: str, jobs: Iterable[Job]) -> Outcomes:
    """What comes of jobs that are done one after the other by this process alone, each in one shard."""
    engine = make_engine(url, pooled=False)
    settings = one_block_shards(url, max_attempts=1)
    for job in jobs:
        job.queue(engine, cut=False)
        context = WorkerContext(settings)
        with reading(engine) as connection:
            waiting = select(CorpusCount.id).where(CorpusCount.state == LeaseState.PENDING)
            counts = list(connection.scalars(waiting))
        for each in counts:
            do(context, CORPUS_COUNT, each, "task")
        context.close()
        # One that fails is split, so that the others of its shard are scored.
        for _ in range(2):
            work_off(settings)
        learn(settings)
    return outcomes(engine)


def learn(settings: Settings) -> None:
    """Do in this process all learned shards that wait, and what they leave to do."""
    context = WorkerContext(settings)
    waiting = select(LearnedShard.id).where(LearnedShard.state == LeaseState.PENDING).order_by(LearnedShard.id)
    while True:
        with reading(context.engine) as connection:
            keys = list(connection.scalars(waiting))
        if not keys:
            break
        for key in keys:
            do(context, LEARNED_SHARD, key, "task")
    context.close()


def compare(engine: Engine, job: Job, *, at_once: bool = False) -> int | None:
    """Ask for the randomization tests of a job's systems by its last metric; the comparison, if it is not made at once.

    Only when all are done.
    """
    url = engine.url.render_as_string(hide_password=False)
    with reading(engine) as connection:
        rows = connection.execute(
            select(Evaluation.id, Evaluation.protocol_id, Evaluation.state)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .join(Campaign, Campaign.id == Submission.campaign_id)
            .where(Campaign.name == f"campaign {job.seed}")
        ).all()
    assert {row.state for row in rows} == {EvaluationState.DONE}
    return request_comparison(
        engine,
        one_block_shards(url, at_once_seconds=1e9 if at_once else 0.0),
        rows[0].protocol_id,
        list(combinations([(row.id,) for row in rows], 2)),
        [len(job.metrics) - 1],
        trials=TRIALS,
        seed=3,
    )


def randomizations(engine: Engine) -> Tests:
    """All stored randomization tests."""
    with reading(engine) as connection:
        display_name = {
            row.id: (row.campaign, row.system)
            for row in connection.execute(
                select(SystemRuns.id, Campaign.name.label("campaign"), System.name.label("system"))
                .join(Evaluation, Evaluation.id == SystemRuns.evaluation_id)
                .join(Submission, Submission.id == Evaluation.submission_id)
                .join(Campaign, Campaign.id == Submission.campaign_id)
                .join(System, System.id == Submission.system_id)
            )
        }
        rows = connection.execute(select(Randomization)).all()
    return {(*display_name[row.a_id], display_name[row.b_id][1]): (row.difference, row.as_large) for row in rows}
