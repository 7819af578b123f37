"""Schedules with runs that were scored, made by hand: systems' outputs of every night are given."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from sqlalchemy import Engine, insert, select, update

from analysis.nightly.verdict import Verdict, judge_nightly_run
from models.database.session import reading, writing
from models.queue.kinds.reductions import REDUCTION
from models.schema.base import now
from models.schema.campaigns import Campaign
from models.schema.corpus import Submission, System
from models.schema.nightly import NightlyRun, NightlyRunEvaluation, Schedule
from models.schema.queue import Evaluation, Reduction
from models.schema.states import LeaseState, NightlyRunState, QueueClass, ResamplingUnit
from runtime.settings import Settings
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import WORDS, one_block_shards, some_text, work_off
from worker.context import WorkerContext
from worker.handlers import do

SEGMENTS = 120
REFERENCE = some_text(SEGMENTS, 1)


def output(worse: float = 0.0, seed: int = 1, reference: bytes = REFERENCE) -> bytes:
    """A translation in which a fifth of the words are wrong, and of further lines a share of all."""
    draw, spoilt = random.Random(seed), random.Random(7)
    lines = [line.split(" ") for line in reference.decode().split("\n")]
    outputs = []
    for line in lines:
        broken = spoilt.random() < worse
        outputs.append(" ".join(draw.choice(WORDS) if broken or draw.random() < 0.2 else word for word in line))
    return "\n".join(outputs).encode()


def add_schedule(engine: Engine, campaign_id: int, **others: object) -> int:
    """A schedule of that campaign; `others` are columns with other values."""
    values = {
        "name": "gate",
        "cron": "30 2 * * *",
        "time_zone": "Europe/Prague",
        "source": {"kind": "folder", "pattern": "{date}/{system}.txt"},
        "test_sets": [],
        "metrics": ["bleu"],
        "replicates": 300,
        "seed": 12345,
        "baseline": {"kind": "previous"},
        "alpha": 0.05,
        "correction": "holm",
        "test": "bootstrap",
        "campaign_id": campaign_id,
    }
    with writing(engine) as connection:
        return connection.execute(insert(Schedule).values({**values, **others}).returning(Schedule.id)).scalar_one()


def add_nightly_runs(
    engine: Engine,
    url: str,
    outputs: Sequence[Mapping[str, bytes]],
    *,
    metrics: Sequence[str] = ("bleu",),
    replicates: int = 300,
    references: bytes = REFERENCE,
    judged: bool = True,
    resample: ResamplingUnit = ResamplingUnit.SEGMENT,
    **schedule: object,
) -> list[int]:
    """A schedule with one scored run for each mapping of systems to outputs, from 2027-03-01 on; the runs.

    With `judged` all but the last are done and have verdicts; the last is being judged.
    """
    settings, nightly_runs, schedule_id = one_block_shards(url), [], None
    for number, systems in enumerate(outputs):
        intake = ingest_campaign(
            engine,
            settings,
            campaign="gate",
            test_set=NewTestSet(
                "port",
                {"A": references},
                source_language="en",
                target_language="cs",
                documents=[(f"talk {segment // 6}", "", "") for segment in range(references.count(b"\n") + 1)],
            ),
            submissions=[NewSubmission(name, text) for name, text in systems.items()],
            protocols=[NewProtocol(["A"], [parse_metric(each) for each in metrics], replicates, resample=resample)],
            queue_class=QueueClass.NIGHTLY,
        )
        work_off(settings)
        _reduce(settings)
        with writing(engine) as connection:
            rows = connection.execute(
                select(Evaluation.id, System.name)
                .join(Submission, Submission.id == Evaluation.submission_id)
                .join(System, System.id == Submission.system_id)
                .where(Evaluation.id.in_(intake.evaluations[0]))
            ).all()
        if schedule_id is None:
            schedule_id = add_schedule(engine, _campaign(engine), **{"replicates": replicates, **schedule})
        nightly_runs.append(add_nightly_run(engine, schedule_id, number, {row.name: row.id for row in rows}))
        if judged and number < len(outputs) - 1:
            judge(engine, nightly_runs[-1])
    return nightly_runs


def add_nightly_run(engine: Engine, schedule_id: int, number: int, evaluations: Mapping[str, int]) -> int:
    """One run that is to be judged; the run."""
    values = {
        "schedule_id": schedule_id,
        "due_at": 86_400.0 * number,
        "date": f"2027-03-{number + 1:02}",
        "state": NightlyRunState.JUDGING,
    }
    with writing(engine) as connection:
        nightly_run = connection.execute(insert(NightlyRun).values(values).returning(NightlyRun.id)).scalar_one()
        for system, evaluation in evaluations.items():
            connection.execute(
                insert(NightlyRunEvaluation).values(nightly_run_id=nightly_run, evaluation_id=evaluation, system=system)
            )
    return nightly_run


def judge(engine: Engine, nightly_run: int) -> Verdict:
    """Judge a run and store the verdict, as the scheduler does."""
    with reading(engine) as connection:
        verdict = judge_nightly_run(connection, nightly_run)
    values = {"state": NightlyRunState.DONE, "verdict": verdict.as_json(), "regressed": verdict.regressed}
    with writing(engine) as connection:
        connection.execute(update(NightlyRun).where(NightlyRun.id == nightly_run).values(**values, finished_at=now()))
    return verdict


def _reduce(settings: Settings) -> None:
    """Do the reductions of evaluations that need no shard, since their text was measured before."""
    context = WorkerContext(settings)
    with reading(context.engine) as connection:
        waiting = list(connection.scalars(select(Reduction.id).where(Reduction.state == LeaseState.PENDING)))
    for reduction in waiting:
        do(context, REDUCTION, reduction, "task")
    context.close()


def _campaign(engine: Engine) -> int:
    with reading(engine) as connection:
        return connection.execute(select(Campaign.id).where(Campaign.name == "gate")).scalar_one()
