"""The state of the queue at one moment: waiting work, workers, progress of campaigns, failures. Read-only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from sqlalchemy import Connection, Row, case, func, literal, literal_column, select, union_all

from models.queue.kinds.registry import IN_WORKERS, KINDS, SENT
from models.queue.task_kind import TaskKind
from models.queue_status.campaign_progress import CampaignProgress, read_campaigns
from models.queue_status.evaluation_filters import (
    EvaluationFilter,
    EvaluationSummary,
    base_query,
    read_evaluations,
    read_failed_columns,
    where_clauses,
)
from models.queue_status.learned import LearnedWork, read_learned_work
from models.queue_status.throughput import Throughput, estimate_seconds_left, read_throughput
from models.schema.base import database_time, now
from models.schema.campaigns import CampaignTestSet
from models.schema.column_types import readable
from models.schema.queue import Comparison, Evaluation, Leased, Worker
from models.schema.states import ENDED, IN_FLIGHT, OPEN, ComparisonState, EvaluationState, LeaseState, QueueClass

SENT_NAMES = frozenset(kind.name for kind in SENT)

RECENT_SECONDS = 86400.0
"""Seconds for which ended evaluations are counted in an overview of everything."""

Counted = Row[tuple[str, int, str, str, int, int, float | None]]
"""Kind, class, team, state, count, how many of them were tried before, and the age of the oldest in seconds."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The work of one class that workers run."""

    queue_class: QueueClass
    waiting: int
    in_flight: int
    """Sent to workers, or running."""
    oldest_seconds: float | None
    """The age of the oldest waiting task; None if nothing waits."""


@dataclass(frozen=True, slots=True)
class Work:
    """The work of one kind."""

    kind: str
    """The name of one of `models.queue.kinds.registry.KINDS`."""
    waiting: int
    sent: int
    """A message has been sent to a worker."""
    running: int


@dataclass(frozen=True, slots=True)
class TeamWork:
    """The work of one team, of all classes and kinds."""

    team: str
    waiting: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class RunningTask:
    """A running task."""

    kind: str
    id: int
    attempt: int
    seconds: float | None
    """Since it was claimed; None for workers of an earlier release."""


@dataclass(frozen=True, slots=True)
class WorkerOverview:
    """A worker and the tasks that it runs."""

    id: str
    host: str
    pid: int
    version: str
    edition: int
    processes: int
    beating: bool
    """False if its last heartbeat is so old that it counts as dead."""
    beat_seconds: float
    """Since its last heartbeat."""
    up_seconds: float | None
    """Since it started."""
    holds: tuple[RunningTask, ...]
    queue: str = ""
    """The queue of its own that it works on, such as "learned"; "" for what the scheduler sends."""
    device: str | None = None
    """What its models run on."""


@dataclass(frozen=True, slots=True)
class RunningComparison:
    """Randomization tests that run as one comparison."""

    id: int
    test_set: str
    tests: int
    """Pairs of systems, counted for each metric."""
    trials: int
    """Of each test."""
    tasks_left: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The queue, the workers, and the progress of the selected evaluations."""

    at: float
    """The database's clock, in seconds since 1970."""
    queues: tuple[Queue, ...]
    work: tuple[Work, ...]
    teams: tuple[TeamWork, ...]
    """Teams with waiting or in-flight work."""
    workers: tuple[WorkerOverview, ...]
    astray: tuple[RunningTask, ...]
    """Tasks of workers that no longer have a row; the next sweep reassigns them."""
    comparisons: tuple[RunningComparison, ...]
    """All running comparisons of the database."""
    throughput: Throughput
    seconds_left: float | None
    """The estimated seconds until all waiting shards are done. None without workers or estimates."""
    evaluations: dict[EvaluationState, int]
    """Of the selected evaluations by state; of all, those that are open or ended within a day."""
    campaigns: tuple[CampaignProgress, ...]
    """Of the selected evaluations; of all, those that are open or have just ended."""
    unserved: dict[int, int]
    """Numbers of open evaluations, in the whole database, by editions that no worker produces."""
    failures: tuple[EvaluationSummary, ...]
    """Failed evaluations of the selection, the newest first, then finished ones with a learned metric that failed."""
    asked: tuple[EvaluationSummary, ...]
    """Evaluations that were selected by number."""
    learned: tuple[LearnedWork, ...] = ()
    """Open work of learned metrics, in the whole database."""

    @property
    def open(self) -> int:
        """The number of selected evaluations that can still change."""
        return sum(count for state, count in self.evaluations.items() if state not in ENDED)

    @property
    def processes(self) -> int:
        """The number of pool processes of responsive workers."""
        return sum(worker.processes for worker in self.workers if worker.beating)

    @property
    def waiting(self) -> int:
        """The number of waiting tasks of all kinds."""
        return sum(queue.waiting for queue in self.queues)


def read_overview(
    connection: Connection,
    *,
    silent_seconds: float,
    selection: EvaluationFilter | None = None,
    most_failures: int = 10,
) -> Overview:
    """Read an overview. Queues and workers are always those of the whole database.

    Evaluations, campaigns and failures are those of `selection`; at most `most_failures` of the latter.
    """
    chosen = selection or EvaluationFilter()
    at = database_time(connection)
    counted = count_work(connection)
    # Kinds that the scheduler runs itself wait for no worker.
    sent = [row for row in counted if row.kind in SENT_NAMES]
    workers, astray = _read_workers(connection, silent_seconds)
    processes = sum(worker.processes for worker in workers if worker.beating)
    failed = replace(chosen, states=(EvaluationState.FAILED,))
    return Overview(
        at=at,
        queues=_queues(sent),
        work=_work(counted),
        teams=_teams(sent),
        workers=workers,
        astray=astray,
        comparisons=_comparisons(connection),
        throughput=read_throughput(connection),
        seconds_left=estimate_seconds_left(connection, processes, any(row.kind != "shards" for row in sent)),
        evaluations=count_evaluations(connection, chosen),
        campaigns=read_campaigns(connection, chosen),
        unserved=_unserved(connection, {each.edition for each in workers if each.beating and not each.queue}),
        failures=(
            *read_evaluations(connection, failed, newest=True, most=most_failures),
            *read_failed_columns(connection, chosen, most_failures),
        )[:most_failures],
        asked=tuple(read_evaluations(connection, chosen)) if chosen.evaluations else (),
        learned=read_learned_work(connection, silent_seconds),
    )


def count_work(connection: Connection) -> list[Counted]:
    """Open work by kind, class, team and state: how many, how many tried before, and the oldest's age."""
    return list(connection.execute(_open_work()))


@cache
def _open_work() -> Any:
    """The statement that counts it: made once, for it names every table of work, and pages ask again and again."""
    # Two statements per table, so that each is answered from a partial index.
    parts = [
        select(
            literal(name).label("kind"),
            table.queue_class,
            table.team,
            table.state,
            func.count().label("amount"),
            # Running tasks have already counted their attempt.
            func.sum(case((table.attempts > case((table.state == LeaseState.RUNNING, 1), else_=0), 1), else_=0)).label(
                "retried"
            ),
            (now() - func.min(table.created_at)).label("age"),
        )
        .where(states)
        .group_by(table.queue_class, table.team, table.state)
        for name, table in _tables(KINDS)
        for states in (table.state == LeaseState.PENDING, table.state.in_(IN_FLIGHT))
    ]
    return union_all(*parts)


def _tables(kinds: Iterable[TaskKind[Any, Any]]) -> list[tuple[str, type[Leased]]]:
    return [(kind.name, kind.table) for kind in kinds]


def _queues(counted: list[Counted]) -> tuple[Queue, ...]:
    queues = []
    for queue_class in QueueClass:
        rows = [row for row in counted if row.queue_class == queue_class]
        pending = [row for row in rows if row.state == LeaseState.PENDING]
        waiting = sum(row.amount for row in pending)
        ages = [row.age for row in pending if row.age is not None]
        queues.append(Queue(queue_class, waiting, sum(row.amount for row in rows) - waiting, max(ages, default=None)))
    return tuple(queues)


def _work(counted: list[Counted]) -> tuple[Work, ...]:
    amounts = Counter[tuple[str, str]]()
    for row in counted:
        amounts[row.kind, row.state] += row.amount
    states = (LeaseState.PENDING, *IN_FLIGHT)
    return tuple(Work(name, *(amounts[name, state] for state in states)) for name, _ in _tables(KINDS))


def _teams(counted: list[Counted]) -> tuple[TeamWork, ...]:
    waiting, in_flight = Counter[str](), Counter[str]()
    for row in counted:
        (waiting if row.state == LeaseState.PENDING else in_flight)[row.team] += row.amount
    return tuple(TeamWork(team, waiting[team], in_flight[team]) for team in sorted({*waiting, *in_flight}))


@cache
def _running_tasks() -> Any:
    """The statement that reads what workers run, made once, too."""
    parts = [
        select(
            literal(name).label("kind"),
            table.id,
            table.worker,
            table.attempts,
            (now() - table.claimed_at).label("seconds"),
        ).where(table.state == LeaseState.RUNNING)
        for name, table in _tables(IN_WORKERS)
    ]
    return union_all(*parts)


def _read_workers(
    connection: Connection, silent_seconds: float
) -> tuple[tuple[WorkerOverview, ...], tuple[RunningTask, ...]]:
    held: dict[str | None, list[RunningTask]] = {}
    for row in sorted(connection.execute(_running_tasks()), key=lambda row: (row.kind, row.id)):
        held.setdefault(row.worker, []).append(RunningTask(row.kind, row.id, row.attempts, row.seconds))
    rows = connection.execute(
        select(
            Worker,
            (now() - Worker.beat_at).label("beat_seconds"),
            (now() - Worker.started_at).label("up_seconds"),
        ).order_by(Worker.host, Worker.started_at, Worker.id)
    )
    lines = tuple(
        WorkerOverview(
            id=row.id,
            host=row.host,
            pid=row.pid,
            version=row.version,
            edition=row.edition,
            processes=row.concurrency,
            beating=row.beat_seconds <= silent_seconds,
            beat_seconds=max(row.beat_seconds, 0.0),
            up_seconds=row.up_seconds,
            holds=tuple(held.pop(row.id, ())),
            queue=row.queue,
            device=row.device,
        )
        for row in rows
    )
    return lines, tuple(each for those in held.values() for each in those)


def _comparisons(connection: Connection) -> tuple[RunningComparison, ...]:
    rows = connection.execute(
        select(Comparison.id, Comparison.systems, Comparison.tests, Comparison.trials, Comparison.remaining)
        # Written as in the index of running comparisons.
        .where(Comparison.state == literal_column(f"'{ComparisonState.RUNNING}'"))
    ).all()
    systems = {row.id: readable(row.systems, []) for row in rows}
    of = {key: runs[0][0] for key, runs in systems.items() if runs and runs[0]}
    names = connection.execute(
        base_query(Evaluation.id, CampaignTestSet.name).where(Evaluation.id.in_(sorted(set(of.values()))))
    )
    called = {row.id: row.name for row in names}
    found = (
        RunningComparison(
            row.id, called.get(of.get(row.id, 0), ""), len(readable(row.tests, [])), row.trials, row.remaining
        )
        for row in rows
    )
    return tuple(sorted(found, key=lambda each: each.id))


def _unserved(connection: Connection, made: Collection[int]) -> dict[int, int]:
    rows = connection.execute(
        select(Evaluation.edition, func.count().label("amount"))
        .where(Evaluation.state.in_(OPEN), Evaluation.edition.not_in(made))
        .group_by(Evaluation.edition)
        .order_by(Evaluation.edition)
    )
    return {row.edition: row.amount for row in rows}


def count_evaluations(connection: Connection, selection: EvaluationFilter | None = None) -> dict[EvaluationState, int]:
    """The number of evaluations of a selection in each state; without a filter, of open and recently ended ones.

    This avoids counting every finished evaluation on each call.
    """
    if selection is None or selection.everything:
        lately = Evaluation.finished_at >= now() - RECENT_SECONDS
        # Two statements, so that each is answered from an index.
        parts = Evaluation.state.in_(OPEN), lately & Evaluation.state.not_in(OPEN)
        meant = union_all(*(select(Evaluation.state).where(part) for part in parts)).subquery()
    else:
        meant = base_query(Evaluation.state).where(*where_clauses(selection)).subquery()
    wanted = select(meant.c.state, func.count().label("amount")).group_by(meant.c.state)
    counts = {row.state: row.amount for row in connection.execute(wanted)}
    return {state: counts.get(state, 0) for state in EvaluationState}
