"""How the queue stands at one moment: what waits, who works, how far campaigns are, what failed. Pure reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Row, case, func, literal, literal_column, select, union_all

from models.queue.kinds.registry import KINDS, SENT
from models.queue.task_kind import TaskKind
from models.queue_status.campaign_progress import CampaignProgress, read_campaigns
from models.queue_status.evaluation_filters import (
    EvaluationFilter,
    EvaluationSummary,
    base_query,
    read_evaluations,
    where_clauses,
)
from models.queue_status.throughput import Throughput, estimate_seconds_left, read_throughput
from models.schema.base import now
from models.schema.campaigns import CampaignTestSet
from models.schema.column_types import readable
from models.schema.queue import Comparison, Evaluation, Leased, Worker
from models.schema.states import IN_FLIGHT, OPEN, ComparisonState, EvaluationState, LeaseState, QueueClass

SENT_NAMES = frozenset(kind.name for kind in SENT)

LATELY_SECONDS = 86400.0
"""Evaluations that ended so long ago are still counted where all are meant."""

Counted = Row[tuple[str, int, str, str, int, int, float | None]]
"""Kind, class, team, state, amount, how many of them were tried before, and the age of the oldest in seconds."""


@dataclass(frozen=True, slots=True)
class Queue:
    """The work of one class that workers do."""

    queue_class: QueueClass
    waiting: int
    in_flight: int
    """Sent to the workers, or running."""
    oldest_seconds: float | None
    """How long the oldest that waits has been there; None where nothing waits."""


@dataclass(frozen=True, slots=True)
class Work:
    """One kind of work."""

    kind: str
    """The name of one of `models.queue.kinds.registry.KINDS`."""
    waiting: int
    sent: int
    """A message is on its way to a worker."""
    running: int


@dataclass(frozen=True, slots=True)
class TeamWork:
    """The work of one team, of all classes and kinds."""

    team: str
    waiting: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class RunningTask:
    """Something that runs."""

    kind: str
    id: int
    attempt: int
    seconds: float | None
    """Since it was claimed; None where a worker of an earlier release did that."""


@dataclass(frozen=True, slots=True)
class WorkerOverview:
    """A worker, and what it holds."""

    id: str
    host: str
    pid: int
    version: str
    edition: int
    processes: int
    beating: bool
    """False when its last beat is so long ago that it is taken for dead."""
    beat_seconds: float
    """Since its last beat."""
    up_seconds: float | None
    """Since it was started."""
    holds: tuple[RunningTask, ...]


@dataclass(frozen=True, slots=True)
class RunningComparison:
    """Randomization tests that are being made together."""

    id: int
    test_set: str
    tests: int
    """Pairs of systems, by each of their metrics."""
    trials: int
    """Of each test."""
    tasks_left: int


@dataclass(frozen=True, slots=True)
class Overview:
    """The queue, the workers, and how far those evaluations are that were asked for."""

    at: float
    """The database's clock, seconds since 1970."""
    queues: tuple[Queue, ...]
    work: tuple[Work, ...]
    teams: tuple[TeamWork, ...]
    """Those that wait or have work in flight."""
    workers: tuple[WorkerOverview, ...]
    astray: tuple[RunningTask, ...]
    """What workers hold that have no row any more; the next sweep gives it to others."""
    comparisons: tuple[RunningComparison, ...]
    """Those that run, in the whole database."""
    throughput: Throughput
    seconds_left: float | None
    """Until all shards that wait are done, estimated. None when nobody works, or what is left has no estimate."""
    evaluations: dict[EvaluationState, int]
    """By state, of those asked for; where all are, of those that are open or ended within a day."""
    campaigns: tuple[CampaignProgress, ...]
    """Those asked for; where all are, those that are open or have just ended."""
    unserved: dict[int, int]
    """Editions of open evaluations of the whole database that no worker makes, and how many there are of each."""
    failures: tuple[EvaluationSummary, ...]
    """Failed evaluations of those asked for, the newest first."""
    asked: tuple[EvaluationSummary, ...]
    """Those asked for by their numbers."""

    @property
    def open(self) -> int:
        """Evaluations of those asked for that will still change by themselves."""
        ended = (EvaluationState.DONE, EvaluationState.FAILED, EvaluationState.CANCELLED)
        return sum(count for state, count in self.evaluations.items() if state not in ended)

    @property
    def processes(self) -> int:
        """Pool processes of the workers that beat."""
        return sum(worker.processes for worker in self.workers if worker.beating)

    @property
    def waiting(self) -> int:
        """Pieces of work of all kinds that wait."""
        return sum(queue.waiting for queue in self.queues)


def read_overview(
    connection: Connection,
    *,
    silent_seconds: float,
    selection: EvaluationFilter | None = None,
    most_failures: int = 10,
) -> Overview:
    """How things stand. Queues and workers are always those of the whole database.

    Evaluations, campaigns and failures are those of `selection`; at most `most_failures` of the latter.
    """
    chosen = selection or EvaluationFilter()
    at = connection.execute(select(now())).scalar_one()
    counted = count_work(connection)
    # What the scheduler does itself waits for no worker.
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
        unserved=_unserved(connection, {worker.edition for worker in workers if worker.beating}),
        failures=tuple(read_evaluations(connection, failed, newest=True, most=most_failures)),
        asked=tuple(read_evaluations(connection, chosen)) if chosen.evaluations else (),
    )


def count_work(connection: Connection) -> list[Counted]:
    """The open work by kind, class, team and state: how many there are and were tried before, and the oldest's age."""
    # Two statements for each table, so that each is answered from a partial index.
    parts = [
        select(
            literal(name).label("kind"),
            table.queue_class,
            table.team,
            table.state,
            func.count().label("amount"),
            # What runs has counted its attempt already.
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
    return list(connection.execute(union_all(*parts)))


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


def _read_workers(
    connection: Connection, silent_seconds: float
) -> tuple[tuple[WorkerOverview, ...], tuple[RunningTask, ...]]:
    parts = [
        select(
            literal(name).label("kind"),
            table.id,
            table.worker,
            table.attempts,
            (now() - table.claimed_at).label("seconds"),
        ).where(table.state == LeaseState.RUNNING)
        for name, table in _tables(SENT)
    ]
    held: dict[str | None, list[RunningTask]] = {}
    for row in sorted(connection.execute(union_all(*parts)), key=lambda row: (row.kind, row.id)):
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
        )
        for row in rows
    )
    return lines, tuple(each for those in held.values() for each in those)


def _comparisons(connection: Connection) -> tuple[RunningComparison, ...]:
    rows = connection.execute(
        select(Comparison.id, Comparison.contestants, Comparison.tests, Comparison.trials, Comparison.remaining)
        # In so many words, as in the index of those that run.
        .where(Comparison.state == literal_column(f"'{ComparisonState.RUNNING}'"))
    ).all()
    systems = {row.id: readable(row.contestants, []) for row in rows}
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
    """How many evaluations of a selection there are in each state; without one, of those that are open or ended lately.

    All that were ever done are not counted at each look.
    """
    if selection is None or selection.everything:
        lately = Evaluation.finished_at >= now() - LATELY_SECONDS
        # Two statements, so that each is answered from an index.
        parts = Evaluation.state.in_(OPEN), lately & Evaluation.state.not_in(OPEN)
        meant = union_all(*(select(Evaluation.state).where(part) for part in parts)).subquery()
    else:
        meant = base_query(Evaluation.state).where(*where_clauses(selection)).subquery()
    wanted = select(meant.c.state, func.count().label("amount")).group_by(meant.c.state)
    counts = {row.state: row.amount for row in connection.execute(wanted)}
    return {state: counts.get(state, 0) for state in EvaluationState}
