"""Submissions as their team and the organisers see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, bindparam, select

from campaigns.checks.equality import find_equals
from campaigns.checks.stored_findings import findings_of
from campaigns.errors import NotFound
from campaigns.failure_reasons import public_reason
from campaigns.permissions import read_access_by_id
from models.corpus.test_sets import StoredTestSet
from models.queue_status.submission_progress import SubmissionProgress, public_state, read_submission_progress
from models.results.equal_outputs import read_equals
from models.schema.campaigns import CampaignTestSet, Declaration, SubmissionFindings, is_campaign_test_set
from models.schema.column_types import UNREADABLE, readable
from models.schema.corpus import Protocol, Submission, System, TestSet, Text
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind
from models.schema.states import EvaluationState
from steelyard.checks.finding import Finding, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection, Row

    from campaigns.accounts.principal import Principal
    from campaigns.permissions import CampaignAccess

NOT_VISIBLE = "There is no submission {} that you may see."


@dataclass(frozen=True, slots=True)
class EvaluationView:
    """An evaluation of a submission by one protocol."""

    id: int
    protocol_id: int
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    state: EvaluationState
    reason: str | None
    finished_at: float | None


@dataclass(frozen=True, slots=True)
class SubmissionView:
    """A submission with its declaration, evaluations and findings."""

    id: int
    campaign_id: int
    team: str
    system: str
    run: str
    test_set: StoredTestSet
    created_at: float
    bytes: int
    sha256: str
    declared: bool
    """Whether the team submitted it; otherwise organisers stored it."""
    kind: DeclaredKind
    constrained: bool | None
    description: str
    phase: str
    late_seconds: float
    withdrawn_at: float | None
    evaluations: tuple[EvaluationView, ...] = ()
    findings: tuple[Finding, ...] = ()
    progress: SubmissionProgress | None = None

    @property
    def name(self) -> str:
        """The system, and its run if it has one."""
        return f"{self.system}, run {self.run}" if self.run else self.system

    @property
    def warnings(self) -> int:
        """How many findings are more severe than notes."""
        return sum(each.severity != Severity.NOTE for each in self.findings)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it could not be scored, each once."""
        return tuple(dict.fromkeys(each.reason for each in self.evaluations if each.reason))


@dataclass(frozen=True, slots=True)
class SubmissionQuery:
    """Which submissions of a campaign to list, newest first."""

    team: str = ""
    test_set: str = ""
    kind: str = ""
    """A declared kind, "withdrawn" or "late"; "" for all."""
    after: int | None = None
    """Only those with smaller ids."""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class SubmissionPage:
    """A page of submissions."""

    items: tuple[SubmissionView, ...] = field(default=())
    next: int | None = None
    """The next page's `after`; None at the end."""


def may_see(access: CampaignAccess, team: str) -> bool:
    """Return whether submissions of a team are visible: to the team and to organisers."""
    return access.organises or team in access.own_teams


def find_submission(
    connection: Connection, principal: Principal, submission: int, silent_seconds: float
) -> tuple[CampaignAccess, SubmissionView]:
    """Return a submission and the access to its campaign.

    Raises
    ------
    NotFound
        If it does not exist or is not visible, with the same message.
    """
    access, row = find_submission_row(connection, principal, submission)
    if not may_see(access, row.team):
        raise NotFound(NOT_VISIBLE.format(submission))
    (found,) = _submission_views(connection, access, [row], silent_seconds)
    return access, found


def find_submission_row(
    connection: Connection, principal: Principal, submission: int
) -> tuple[CampaignAccess, Row[Any]]:
    """Return the row of a submission in a visible campaign; the caller checks who may see it."""
    row = None
    if 0 < submission < 2**63:
        row = connection.execute(_rows(Submission.id == submission)).one_or_none()
    if row is None:
        raise NotFound(NOT_VISIBLE.format(submission))
    try:
        access = read_access_by_id(connection, principal, row.campaign_id)
    except NotFound:
        raise NotFound(NOT_VISIBLE.format(submission)) from None
    if not access.sees_source(row.test_set_id):
        raise NotFound(NOT_VISIBLE.format(submission))
    return access, row


def list_submissions(
    connection: Connection, access: CampaignAccess, query: SubmissionQuery, silent_seconds: float
) -> SubmissionPage:
    """Return the visible submissions of a campaign: all for organisers, otherwise those of the own teams."""
    conditions: list[ColumnElement[bool]] = [Submission.campaign_id == access.campaign_id]
    if not access.organises:
        conditions.append(System.team.in_(access.own_teams))
        conditions.append(Submission.test_set_id.not_in(access.hidden_test_sets))
    if query.team:
        conditions.append(System.team == query.team)
    if query.test_set:
        exact = CampaignTestSet.name + "@" + CampaignTestSet.version == query.test_set
        conditions.append(exact | (CampaignTestSet.name == query.test_set))
    if query.kind == "withdrawn":
        conditions.append(Declaration.withdrawn_at.is_not(None))
    elif query.kind == "late":
        conditions.append(Declaration.late_seconds > 0)
    elif query.kind:
        conditions += [Declaration.kind == query.kind, Declaration.withdrawn_at.is_(None)]
    if query.after is not None:
        conditions.append(Submission.id < query.after)
    ordered = _rows(*conditions).order_by(Submission.id.desc()).limit(query.limit + 1)
    rows = connection.execute(ordered).all()
    items = _submission_views(connection, access, rows[: query.limit], silent_seconds)
    return SubmissionPage(tuple(items), items[-1].id if len(rows) > query.limit else None)


def earlier_of_system(
    connection: Connection, access: CampaignAccess, submission: SubmissionView, silent_seconds: float
) -> list[SubmissionView]:
    """Return the other submissions of the same system for the same test set, newest first; at most twenty."""
    rows = connection.execute(
        _rows(
            Submission.campaign_id == submission.campaign_id,
            Submission.test_set_id == submission.test_set.id,
            System.team == submission.team,
            System.name == submission.system,
            Submission.id != submission.id,
        )
        .order_by(Submission.id.desc())
        .limit(20)
    ).all()
    return _submission_views(connection, access, rows, silent_seconds)


def across_corrections(
    connection: Connection, access: CampaignAccess, submission: SubmissionView
) -> tuple[int | None, int | None]:
    """Return the same output on the test set before a correction and on the one after it; None if there is none."""
    own = access.test_sets.get(submission.test_set.id)
    newer = own.replaced_by if own is not None else None
    older = [each.id for each in access.test_sets.values() if each.replaced_by == submission.test_set.id]
    if newer is None and not older:
        return None, None
    rows = connection.execute(
        _rows(
            Submission.campaign_id == submission.campaign_id,
            Submission.test_set_id.in_([*older, newer] if newer is not None else older),
            *(System.team == submission.team, System.name == submission.system, Submission.run == submission.run),
            Text.sha256 == submission.sha256,
        )
    ).all()
    found = {row.test_set_id: row.id for row in rows}
    before = next((found[each] for each in reversed(older) if each in found), None)
    return before, found.get(newer) if newer is not None else None


def _rows(*conditions: ColumnElement[bool]) -> Select[Any]:
    return _ROWS.where(*conditions)


# Built once: building them takes as long as executing them.
_COLUMNS: tuple[Any, ...] = (
    *(Submission.id, Submission.campaign_id, Submission.run, Submission.created_at, Submission.text_id),
    *(System.team, System.name.label("system"), Text.bytes, Text.sha256),
    *(TestSet.id.label("test_set_id"), TestSet.segments),
    *(CampaignTestSet.name.label("test_set"), CampaignTestSet.version),
    *(Declaration.submission_id.label("declared"), Declaration.kind, Declaration.constrained),
    *(Declaration.description, Declaration.phase, Declaration.late_seconds, Declaration.withdrawn_at),
)
_ROWS = (
    select(*_COLUMNS)
    .join(System, System.id == Submission.system_id)
    .join(TestSet, TestSet.id == Submission.test_set_id)
    .join(CampaignTestSet, is_campaign_test_set(Submission.campaign_id, Submission.test_set_id))
    .join(Text, Text.id == Submission.text_id)
    .outerjoin(Declaration, Declaration.submission_id == Submission.id)
)
_EVALUATIONS = (
    select(
        *(Evaluation.id, Evaluation.submission_id, Evaluation.state, Evaluation.reason, Evaluation.finished_at),
        *(Evaluation.started_at, Evaluation.fault),
        *(Evaluation.protocol_id, Protocol.reference_labels, Protocol.metrics),
    )
    .join(Protocol, Protocol.id == Evaluation.protocol_id)
    .where(Evaluation.submission_id.in_(bindparam("submissions", expanding=True)), Protocol.sweep.is_(False))
    .order_by(Evaluation.protocol_id)
)
_FINDINGS = select(SubmissionFindings.submission_id, SubmissionFindings.findings).where(
    SubmissionFindings.submission_id.in_(bindparam("submissions", expanding=True))
)


def _submission_views(
    connection: Connection, access: CampaignAccess, rows: Sequence[Row[Any]], silent_seconds: float
) -> list[SubmissionView]:
    ids = [row.id for row in rows]
    if not ids:
        return []
    test_sets = {row.id: row.test_set_id for row in rows}
    evaluations: dict[int, list[EvaluationView]] = {each: [] for each in ids}
    for row in connection.execute(_EVALUATIONS, {"submissions": ids}):
        evaluations[row.submission_id].append(
            EvaluationView(
                row.id,
                row.protocol_id,
                tuple(readable(row.reference_labels, UNREADABLE)),
                tuple(readable(row.metrics, UNREADABLE)),
                public_state(row.state, row.started_at),
                public_reason(access, test_sets[row.submission_id], row.state, row.reason, row.fault),
                row.finished_at,
            )
        )
    stored = connection.execute(_FINDINGS, {"submissions": ids})
    findings = {row.submission_id: findings_of(row.findings) for row in stored}
    for each, equals in read_equals(connection, ids).items() if access.organises else ():
        kept = [finding for finding in findings.get(each, ()) if not (equals.outputs and finding.code == "same_output")]
        findings[each] = (*find_equals(equals), *kept)
    progress = read_submission_progress(connection, ids, silent_seconds)
    return [
        SubmissionView(
            id=row.id,
            campaign_id=row.campaign_id,
            team=row.team,
            system=row.system,
            run=row.run,
            test_set=StoredTestSet(row.test_set_id, row.test_set, row.version, row.segments),
            created_at=row.created_at,
            bytes=row.bytes,
            sha256=row.sha256,
            declared=row.declared is not None,
            kind=row.kind or DeclaredKind.UNDECLARED,
            constrained=row.constrained,
            description=row.description or "",
            phase=row.phase or "",
            late_seconds=row.late_seconds or 0.0,
            withdrawn_at=row.withdrawn_at,
            evaluations=tuple(evaluations[row.id]),
            findings=findings.get(row.id, ()),
            progress=progress[row.id],
        )
        for row in rows
    ]
