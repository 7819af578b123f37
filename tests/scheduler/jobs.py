"""Small jobs for tests: texts made from a seed, taken in and queued."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Engine, select

from models.database.session import reading
from models.queue.kinds.reductions import REDUCTION
from models.queue.kinds.shards import SHARD
from models.queue.task_kind import TaskKind
from models.queue_status.progress import Progress, read_progress
from models.schema.states import LeaseState, QueueClass, ResamplingUnit
from runtime.settings import Settings
from scheduler.embedded.processes import Embedded
from scheduler.ingest.campaigns import IngestResult, NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.metric import EDITION
from steelyard.metrics.registry import parse_metric
from worker.context import WorkerContext
from worker.handlers import do

WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "while",
    "dogs",
    "ran",
    "after",
    "old",
    "red",
    "balls",
    ".",
    ",",
    "!",
    "it",
    "is",
    "what",
    "was",
    "said",
]


def some_text(segments: int, seed: int) -> bytes:
    """Lines of 0 to 12 words; every 10th line or so is empty."""
    draw = random.Random(seed)
    lines = [" ".join(draw.choices(WORDS, k=draw.choice((0, *range(1, 13))))) for _ in range(segments)]
    return "\n".join(lines).encode()


def similar_text(text: bytes, seed: int) -> bytes:
    """The text with some words replaced."""
    draw = random.Random(seed)
    lines = [line.split(" ") for line in text.decode().split("\n")]
    return "\n".join(
        " ".join(word if draw.random() < 0.8 else draw.choice(WORDS) for word in line) for line in lines
    ).encode()


def queue_job(
    engine: Engine,
    settings: Settings,
    *,
    segments: int = 600,
    systems: int = 3,
    metrics: Sequence[str] = ("bleu",),
    replicates: int = 50,
    campaign: str = "trial",
    team: str = "",
    queue_class: QueueClass = QueueClass.CAMPAIGN,
    processes: int | None = None,
    seed: int = 1,
    trouble: Mapping[int, bytes] | None = None,
    runs: Mapping[int, int] | None = None,
    due_at: float | None = None,
    documents: Sequence[str] = (),
    resample: ResamplingUnit = ResamplingUnit.SEGMENT,
) -> IngestResult:
    """Take in a small campaign with one reference.

    `trouble` is put before the texts of some systems; `runs` says how many named runs some have; `documents` names that
    of each segment.
    """
    reference = some_text(segments, seed)
    trouble = trouble or {}
    return ingest_campaign(
        engine,
        settings,
        campaign=campaign,
        test_set=NewTestSet("trial", {"A": reference}, documents=[(name, "", "") for name in documents]),
        submissions=[
            NewSubmission(
                f"system{number}",
                trouble.get(number, b"") + similar_text(reference, seed * 1000 + number),
                team,
                run="0" if number in (runs or {}) else "",
            )
            for number in range(systems)
        ]
        + [
            NewSubmission(
                f"system{number}", similar_text(reference, seed * 1000 + number + 500 * run), team, run=str(run)
            )
            for number, count in (runs or {}).items()
            for run in range(1, count)
        ],
        protocols=[NewProtocol(["A"], [parse_metric(each) for each in metrics], replicates, resample=resample)],
        queue_class=queue_class,
        team=team,
        processes=processes,
        due_at=due_at,
    )


def one_block_shards(database_url: str, **others: object) -> Settings:
    """Settings that make every block a shard."""
    values = {"shortest_shard_seconds": 1e-9, "concurrency": 1000, "retry_seconds": 0.0, **others}
    return Settings(database_url=database_url, **values)


def work_off(settings: Settings, *more: TaskKind[Any, Any]) -> None:
    """Do in this process, without a queue, all shards that wait, the reductions of what was measured, and `more`."""
    context = WorkerContext(settings)
    for kind in (SHARD, REDUCTION, *more):
        table = kind.table
        with reading(context.engine) as connection:
            waiting = select(table.id).where(table.state == LeaseState.PENDING).order_by(table.id)
            keys = list(connection.scalars(waiting))
        for key in keys:
            do(context, kind, key, "task")
    context.close()


def queue_named(name: str) -> str:
    """The broker's queue of a class for what this release measures."""
    return QueueClass[name.upper()].queue_of(EDITION)


def run_until_done(
    embedded: Embedded, evaluations: Sequence[int], on_progress: Callable[[Progress], None] | None = None
) -> Progress:
    """Work until each of the evaluations has ended; the final progress."""
    return embedded.run_until(lambda connection: read_progress(connection, evaluations), on_progress)
