"""Filters over evaluations: by number, campaign, test set, system, team or state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, func, or_, select

from models.corpus.test_sets import titled_test_set
from models.errors import NotFound
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet, is_campaign_test_set
from models.schema.column_types import UNREADABLE, readable
from models.schema.corpus import Protocol, Submission, System
from models.schema.learned import LearnedColumn
from models.schema.queue import Evaluation
from models.schema.states import ColumnState, EvaluationState

MAX_NAMES = 20
"""Names listed in a message; for more, their number."""


@dataclass(frozen=True, slots=True)
class EvaluationFilter:
    """Selects the evaluations that match all given criteria; without any, all evaluations."""

    evaluations: tuple[int, ...] = ()
    name: str | None = None
    """Of a campaign or a test set."""
    campaign: str | None = None
    system: str | None = None
    """NAME or TEAM/NAME."""
    team: str | None = None
    """The team charged for the work."""
    states: tuple[EvaluationState, ...] = ()
    within: ColumnElement[bool] | None = field(default=None, compare=False)
    """A condition on `Campaign`, for those who may not see all; None for everything that there is."""

    @property
    def everything(self) -> bool:
        """Whether the filter selects everything."""
        return self == EvaluationFilter()


@dataclass(frozen=True, slots=True)
class EvaluationSummary:
    """An evaluation with the names of what it evaluates."""

    id: int
    state: EvaluationState
    campaign: str
    test_set: str
    """With the version if it is not the first."""
    references: tuple[str, ...]
    system_team: str
    system: str
    run: str
    reason: str | None
    fault: str | None
    ended_seconds: float | None
    """Seconds since it ended."""
    remaining: int
    """Unfinished shards."""
    protocol_id: int
    submission_id: int
    queue_class: int
    team: str

    @property
    def called(self) -> str:
        """The system, with its team and run, if any."""
        system = f"{self.system_team}/{self.system}" if self.system_team else self.system
        return f"{system}, run {self.run}" if self.run else system

    @property
    def measured(self) -> str:
        """Campaign, test set and references; each is named only if it adds information."""
        name = self.test_set if self.campaign == self.test_set else f"{self.campaign}: {self.test_set}"
        return f"{name} against {','.join(self.references)}"


def base_query(*columns: Any) -> Select[Any]:
    """Select these columns of evaluations, joined with all tables that a filter may refer to."""
    return (
        select(*columns)
        .select_from(Evaluation)
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(System, System.id == Submission.system_id)
        .join(Campaign, Campaign.id == Submission.campaign_id)
        .join(CampaignTestSet, is_campaign_test_set(Submission.campaign_id, Submission.test_set_id))
    )


def where_clauses(selection: EvaluationFilter) -> list[ColumnElement[bool]]:
    """The conditions of a filter, for a query that begins with `base_query`."""
    found: list[ColumnElement[bool]] = [] if selection.within is None else [selection.within]
    if selection.evaluations:
        found.append(Evaluation.id.in_(selection.evaluations))
    if selection.name is not None:
        found.append(or_(Campaign.name == selection.name, CampaignTestSet.name == selection.name))
    if selection.campaign is not None:
        found.append(Campaign.name == selection.campaign)
    if selection.system is not None:
        found.append(or_(System.name == selection.system, System.team + "/" + System.name == selection.system))
    if selection.team is not None:
        found.append(Evaluation.team == selection.team)
    if selection.states:
        found.append(Evaluation.state.in_(selection.states))
    return found


def read_evaluations(
    connection: Connection,
    selection: EvaluationFilter,
    *,
    newest: bool = False,
    after: int = 0,
    most: int | None = None,
) -> list[EvaluationSummary]:
    """The selected evaluations by number, or those that ended last first; at most `most`, with numbers over `after`."""
    wanted = _summaries().where(*where_clauses(selection), Evaluation.id > after)
    order = (Evaluation.finished_at.desc(), Evaluation.id.desc()) if newest else (Evaluation.id,)
    rows = connection.execute(wanted.order_by(*order).limit(most))
    return [_summary(row) for row in rows]


def read_failed_columns(connection: Connection, selection: EvaluationFilter, most: int) -> list[EvaluationSummary]:
    """The selected finished evaluations with a learned metric that failed, with its reason, the newest first."""
    rows = connection.execute(
        _summaries(LearnedColumn.metric, LearnedColumn.reason.label("column_reason"), Protocol.metrics)
        .join(LearnedColumn, LearnedColumn.evaluation_id == Evaluation.id)
        .where(
            *where_clauses(replace(selection, states=())),
            LearnedColumn.state == ColumnState.FAILED,
            Evaluation.state == EvaluationState.DONE,
        )
        .order_by(LearnedColumn.finished_at.desc(), Evaluation.id.desc())
        .limit(most)
    )
    return [
        replace(
            _summary(row), reason=f"{readable(row.metrics, UNREADABLE)[row.metric]}: {row.column_reason}", fault=None
        )
        for row in rows
    ]


def _summaries(*more: Any) -> Select[Any]:
    columns = (
        *(Evaluation.id, Evaluation.state, Evaluation.reason, Evaluation.fault, Evaluation.protocol_id),
        *(Evaluation.submission_id, Evaluation.queue_class, Evaluation.team, Evaluation.remaining),
        *(Campaign.name.label("campaign"), CampaignTestSet.name.label("test_set"), CampaignTestSet.version),
        *(Protocol.reference_labels, System.team.label("system_team"), System.name.label("system"), Submission.run),
        (now() - Evaluation.finished_at).label("ended_seconds"),
        *more,
    )
    return base_query(*columns).join(Protocol, Protocol.id == Evaluation.protocol_id)


def _summary(row: Any) -> EvaluationSummary:
    return EvaluationSummary(
        id=row.id,
        state=row.state,
        campaign=row.campaign,
        test_set=titled_test_set(row.test_set, row.version),
        references=tuple(readable(row.reference_labels, UNREADABLE)),
        system_team=row.system_team,
        system=row.system,
        run=row.run,
        reason=row.reason,
        fault=row.fault,
        ended_seconds=row.ended_seconds,
        remaining=row.remaining,
        protocol_id=row.protocol_id,
        submission_id=row.submission_id,
        queue_class=row.queue_class,
        team=row.team,
    )


def check_names(connection: Connection, selection: EvaluationFilter) -> None:
    """Raise NotFound, listing what exists, for a number or name in the filter that matches nothing."""
    everything = EvaluationFilter(within=selection.within)
    if selection.evaluations:
        wanted = replace(everything, evaluations=selection.evaluations)
        there = set(connection.scalars(base_query(Evaluation.id).where(*where_clauses(wanted))))
        if missing := [number for number in selection.evaluations if number not in there]:
            first, last, amount = connection.execute(
                base_query(func.min(Evaluation.id), func.max(Evaluation.id), func.count()).where(
                    *where_clauses(everything)
                )
            ).one()
            known = f"There are {amount}, numbered {first} to {last}." if amount else "Nothing was evaluated here yet."
            raise NotFound(f"There is no evaluation {', '.join(map(str, missing))}. {known}")
    parts: list[tuple[str, EvaluationFilter, tuple[Any, ...]]] = []
    if selection.name is not None:
        parts.append(
            (
                f'campaign or test set "{selection.name}"',
                replace(everything, name=selection.name),
                (Campaign.name, CampaignTestSet.name),
            )
        )
    if selection.campaign is not None:
        parts.append(
            (f'campaign "{selection.campaign}"', replace(everything, campaign=selection.campaign), (Campaign.name,))
        )
    if selection.system is not None:
        parts.append((f'system "{selection.system}"', replace(everything, system=selection.system), (System.name,)))
    if selection.team is not None:
        parts.append(
            (f'work of a team "{selection.team}"', replace(everything, team=selection.team), (Evaluation.team,))
        )
    for called, part, columns in parts:
        if connection.execute(base_query(Evaluation.id).where(*where_clauses(part)).limit(1)).first() is None:
            raise NotFound(f"There is no {called}. {_known(connection, everything, columns)}")


def _known(connection: Connection, everything: EvaluationFilter, columns: Iterable[Column[str]]) -> str:
    which = where_clauses(everything)
    found = (connection.scalars(base_query(column).where(*which).distinct()) for column in columns)
    names = sorted({name for those in found for name in those if name})
    if not names:
        some = connection.scalar(base_query(Evaluation.id).where(*which).limit(1))
        return "There are none." if some else "Nothing was evaluated yet."
    more = f", and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"There are: {', '.join(names[:MAX_NAMES])}{more}."
