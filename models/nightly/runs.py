"""Nightly runs, with their measurements and outcomes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Connection,
    and_,
    case,
    func,
    select,
)

from models.corpus.test_sets import short_address
from models.errors import NotFound
from models.schema.campaigns import CampaignTestSet, is_campaign_test_set
from models.schema.column_types import UNREADABLE, readable
from models.schema.corpus import Protocol, Submission
from models.schema.nightly import NightlyRun, NightlyRunEvaluation
from models.schema.queue import Evaluation
from models.schema.states import OPEN, OPEN_RUN_STATES, NightlyRunState


@dataclass(frozen=True, slots=True)
class NightlyRunInfo:
    """A nightly run as a read model."""

    id: int
    schedule_id: int
    due_at: float
    date: str
    state: NightlyRunState
    reason: str | None
    caught_up: bool
    manual: bool
    started_at: float | None
    finished_at: float | None
    verdict: dict[str, Any] | None
    regressed: bool | None


@dataclass(frozen=True, slots=True)
class NightlyRunMember:
    """A system on a test set, as a nightly run measured it."""

    evaluation_id: int
    system: str
    protocol_id: int
    test_set: str
    """`NAME`, or `NAME@VERSION` if it is not the first version."""
    references: tuple[str, ...]
    """Labels, in order."""


@dataclass(frozen=True, slots=True)
class NightlyRunProgress:
    """The progress of a nightly run."""

    date: str
    state: NightlyRunState
    evaluations: int
    """The number of its evaluations; 0 until its outputs have arrived."""
    evaluations_done: int

    @property
    def open(self) -> int:
        """Whether it can still change."""
        return int(self.state in OPEN_RUN_STATES)


def read_nightly_run_progress(connection: Connection, nightly_run_id: int) -> NightlyRunProgress:
    """The progress of the nightly run with this id.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    nightly_run = read_nightly_run(connection, nightly_run_id)
    states = connection.scalars(
        select(Evaluation.state)
        .join(NightlyRunEvaluation, NightlyRunEvaluation.evaluation_id == Evaluation.id)
        .where(NightlyRunEvaluation.nightly_run_id == nightly_run_id)
    ).all()
    done = sum(state not in OPEN for state in states)
    return NightlyRunProgress(nightly_run.date, nightly_run.state, len(states), done)


def read_nightly_run(connection: Connection, nightly_run_id: int) -> NightlyRunInfo:
    """The nightly run with this id.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    row = connection.execute(select(*_COLUMNS).where(NightlyRun.id == nightly_run_id)).one_or_none()
    if row is None:
        raise NotFound(f"There is no nightly run {nightly_run_id}.")
    return _known(row)


def list_nightly_runs(connection: Connection, schedule_id: int) -> list[NightlyRunInfo]:
    """All runs of a schedule, the earliest first."""
    rows = connection.execute(
        select(*_COLUMNS).where(NightlyRun.schedule_id == schedule_id).order_by(NightlyRun.due_at)
    )
    return [_known(row) for row in rows]


@dataclass(frozen=True, slots=True)
class NightlyRunCount:
    """The number of runs of a schedule, and the last one that has begun."""

    count: int = 0
    last: NightlyRunInfo | None = None


def count_nightly_runs(connection: Connection, schedules: Collection[int]) -> dict[int, NightlyRunCount]:
    """The number of runs of each of these schedules."""
    begun_at = case((NightlyRun.state != NightlyRunState.DUE, NightlyRun.due_at))
    counted = (
        select(
            NightlyRun.schedule_id.label("schedule"), func.count().label("runs"), func.max(begun_at).label("begun_at")
        )
        .where(NightlyRun.schedule_id.in_(schedules))
        .group_by(NightlyRun.schedule_id)
        .subquery()
    )
    last = and_(NightlyRun.schedule_id == counted.c.schedule, NightlyRun.due_at == counted.c.begun_at)
    rows = connection.execute(select(counted, *_COLUMNS).outerjoin(NightlyRun, last))
    found = {row.schedule: NightlyRunCount(row.runs, None if row.id is None else _known(row)) for row in rows}
    return {schedule: found.get(schedule, NightlyRunCount()) for schedule in schedules}


def read_nightly_run_members(connection: Connection, nightly_runs: Sequence[int]) -> dict[int, list[NightlyRunMember]]:
    """What each of these runs measured, ordered by test set and system name."""
    found: dict[int, list[NightlyRunMember]] = {nightly_run: [] for nightly_run in nightly_runs}
    rows = connection.execute(
        select(
            NightlyRunEvaluation.nightly_run_id,
            NightlyRunEvaluation.evaluation_id,
            NightlyRunEvaluation.system,
            Evaluation.protocol_id,
            Protocol.reference_labels,
            CampaignTestSet.name,
            CampaignTestSet.version,
        )
        .join(Evaluation, Evaluation.id == NightlyRunEvaluation.evaluation_id)
        .join(Protocol, Protocol.id == Evaluation.protocol_id)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(CampaignTestSet, is_campaign_test_set(Submission.campaign_id, Submission.test_set_id))
        .where(NightlyRunEvaluation.nightly_run_id.in_(nightly_runs))
        .order_by(NightlyRunEvaluation.nightly_run_id, Protocol.id, NightlyRunEvaluation.system)
    )
    for row in rows:
        found[row.nightly_run_id].append(
            NightlyRunMember(
                evaluation_id=row.evaluation_id,
                system=row.system,
                protocol_id=row.protocol_id,
                test_set=short_address(row.name, row.version),
                references=tuple(readable(row.reference_labels, UNREADABLE)),
            )
        )
    return found


_COLUMNS = [getattr(NightlyRun, name) for name in NightlyRunInfo.__dataclass_fields__]


def _known(row: Any) -> NightlyRunInfo:
    return NightlyRunInfo(**{name: getattr(row, name) for name in NightlyRunInfo.__dataclass_fields__})
