"""Submissions as their team, and the organisers, see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlalchemy import Select, select

from campaigns.checks.equality import find_equals
from campaigns.checks.finding import Finding, Severity
from campaigns.errors import NotThere
from campaigns.failure_reasons import told_reason
from campaigns.permissions import read_sight_by_id
from models.corpus.test_sets import KnownTestSet
from models.queue_status.submission_progress import Awaited, read_awaited, told_state
from models.results.equal_outputs import read_equals
from models.schema.campaigns import CampaignTestSet, Declaration, Diagnosis, called_there
from models.schema.corpus import Protocol, Submission, System, TestSet, Text
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind
from models.schema.states import EvaluationState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from sqlalchemy import ColumnElement, Connection, Row

    from campaigns.accounts.principal import Principal
    from campaigns.permissions import Sight

UNKNOWN = "There is no submission {} that you may see."


@dataclass(frozen=True, slots=True)
class SeenEvaluation:
    """One way in which a submission is measured."""

    id: int
    protocol_id: int
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    state: EvaluationState
    reason: str | None
    finished_at: float | None


@dataclass(frozen=True, slots=True)
class SeenSubmission:
    """A submission with what its team has said about it."""

    id: int
    campaign_id: int
    team: str
    system: str
    run: str
    test_set: KnownTestSet
    created_at: float
    bytes: int
    sha256: str
    declared: bool
    """Whether the team handed it in; the others were stored by organisers."""
    kind: DeclaredKind
    constrained: bool | None
    description: str
    phase: str
    late_seconds: float
    withdrawn_at: float | None
    evaluations: tuple[SeenEvaluation, ...] = ()
    findings: tuple[Finding, ...] = ()
    awaited: Awaited | None = None

    @property
    def name(self) -> str:
        """The system, and its run where it has one."""
        return f"{self.system}, run {self.run}" if self.run else self.system

    @property
    def warnings(self) -> int:
        """How many findings are more than notes."""
        return sum(each.severity != Severity.NOTE for each in self.findings)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it could not be measured, each once."""
        return tuple(dict.fromkeys(each.reason for each in self.evaluations if each.reason))


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which submissions of a campaign are listed; the newest first."""

    team: str = ""
    test_set: str = ""
    kind: str = ""
    """A kind that teams declare, "withdrawn" or "late"; "" for all."""
    after: int | None = None
    """Only those with lower numbers."""
    limit: int = 50


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of submissions."""

    items: tuple[SeenSubmission, ...] = field(default=())
    next: int | None = None
    """What to list `after`; None at the end."""


def may_see(sight: Sight, team: str) -> bool:
    """Whether a submission of a team is shown: to the team itself, and to organisers."""
    return sight.organises or team in sight.own_teams


def find_submission(
    connection: Connection, principal: Principal, submission: int, silent_seconds: float
) -> tuple[Sight, SeenSubmission]:
    """A submission, and the campaign that it belongs to. Raises NotThere, in the same words for all reasons."""
    sight, row = find_row(connection, principal, submission)
    if not may_see(sight, row.team):
        raise NotThere(UNKNOWN.format(submission))
    (found,) = _complete(connection, sight, [row], silent_seconds)
    return sight, found


def find_row(connection: Connection, principal: Principal, submission: int) -> tuple[Sight, Row[Any]]:
    """The row of a submission in a campaign that one may know of; who may see it is still to be asked."""
    row = None
    if 0 < submission < 2**63:
        row = connection.execute(_rows(Submission.id == submission)).one_or_none()
    if row is None:
        raise NotThere(UNKNOWN.format(submission))
    try:
        sight = read_sight_by_id(connection, principal, row.campaign_id)
    except NotThere:
        raise NotThere(UNKNOWN.format(submission)) from None
    if not sight.sees_source(row.test_set_id):
        raise NotThere(UNKNOWN.format(submission))
    return sight, row


def list_submissions(connection: Connection, sight: Sight, wanted: Wanted, silent_seconds: float) -> Listed:
    """The submissions of a campaign that one may see: organisers all, others those of their own teams."""
    conditions: list[ColumnElement[bool]] = [Submission.campaign_id == sight.campaign_id]
    if not sight.organises:
        conditions.append(System.team.in_(sight.own_teams))
        conditions.append(Submission.test_set_id.not_in(sight.hidden_test_sets))
    if wanted.team:
        conditions.append(System.team == wanted.team)
    if wanted.test_set:
        exact = CampaignTestSet.name + "@" + CampaignTestSet.version == wanted.test_set
        conditions.append(exact | (CampaignTestSet.name == wanted.test_set))
    if wanted.kind == "withdrawn":
        conditions.append(Declaration.withdrawn_at.is_not(None))
    elif wanted.kind == "late":
        conditions.append(Declaration.late_seconds > 0)
    elif wanted.kind:
        conditions += [Declaration.kind == wanted.kind, Declaration.withdrawn_at.is_(None)]
    if wanted.after is not None:
        conditions.append(Submission.id < wanted.after)
    ordered = _rows(*conditions).order_by(Submission.id.desc()).limit(wanted.limit + 1)
    rows = connection.execute(ordered).all()
    items = _complete(connection, sight, rows[: wanted.limit], silent_seconds)
    return Listed(tuple(items), items[-1].id if len(rows) > wanted.limit else None)


def earlier_of_system(
    connection: Connection, sight: Sight, seen: SeenSubmission, silent_seconds: float
) -> list[SeenSubmission]:
    """The other submissions of the same system for the same test set, the newest first; at most twenty."""
    rows = connection.execute(
        _rows(
            Submission.campaign_id == seen.campaign_id,
            Submission.test_set_id == seen.test_set.id,
            System.team == seen.team,
            System.name == seen.system,
            Submission.id != seen.id,
        )
        .order_by(Submission.id.desc())
        .limit(20)
    ).all()
    return _complete(connection, sight, rows, silent_seconds)


def across_corrections(connection: Connection, sight: Sight, seen: SeenSubmission) -> tuple[int | None, int | None]:
    """The same output on the test set that this one's corrects, and on the one that corrects it; None for none."""
    own = sight.test_sets.get(seen.test_set.id)
    newer = own.replaced_by if own is not None else None
    older = [each.id for each in sight.test_sets.values() if each.replaced_by == seen.test_set.id]
    if newer is None and not older:
        return None, None
    rows = connection.execute(
        _rows(
            Submission.campaign_id == seen.campaign_id,
            Submission.test_set_id.in_([*older, newer] if newer is not None else older),
            *(System.team == seen.team, System.name == seen.system, Submission.run == seen.run),
            Text.sha256 == seen.sha256,
        )
    ).all()
    found = {row.test_set_id: row.id for row in rows}
    before = next((found[each] for each in reversed(older) if each in found), None)
    return before, found.get(newer) if newer is not None else None


def _rows(*conditions: ColumnElement[bool]) -> Select[Any]:
    columns: tuple[Any, ...] = (
        *(Submission.id, Submission.campaign_id, Submission.run, Submission.created_at, Submission.text_id),
        *(System.team, System.name.label("system"), Text.bytes, Text.sha256),
        *(TestSet.id.label("test_set_id"), TestSet.segments),
        *(CampaignTestSet.name.label("test_set"), CampaignTestSet.version),
        *(Declaration.submission_id.label("declared"), Declaration.kind, Declaration.constrained),
        *(Declaration.description, Declaration.phase, Declaration.late_seconds, Declaration.withdrawn_at),
    )
    return (
        select(*columns)
        .join(System, System.id == Submission.system_id)
        .join(TestSet, TestSet.id == Submission.test_set_id)
        .join(CampaignTestSet, called_there(Submission.campaign_id, Submission.test_set_id))
        .join(Text, Text.id == Submission.text_id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .where(*conditions)
    )


def _complete(
    connection: Connection, sight: Sight, rows: Sequence[Row[Any]], silent_seconds: float
) -> list[SeenSubmission]:
    ids = [row.id for row in rows]
    if not ids:
        return []
    test_sets = {row.id: row.test_set_id for row in rows}
    evaluations: dict[int, list[SeenEvaluation]] = {each: [] for each in ids}
    for row in connection.execute(
        select(
            *(Evaluation.id, Evaluation.submission_id, Evaluation.state, Evaluation.reason, Evaluation.finished_at),
            Evaluation.started_at,
            *(Evaluation.fault, Evaluation.protocol_id, Protocol.reference_labels, Protocol.metrics),
        )
        .join(Protocol, Protocol.id == Evaluation.protocol_id)
        .where(Evaluation.submission_id.in_(ids), Protocol.sweep.is_(False))
        .order_by(Evaluation.protocol_id)
    ):
        evaluations[row.submission_id].append(
            SeenEvaluation(
                row.id,
                row.protocol_id,
                tuple(row.reference_labels),
                tuple(row.metrics),
                told_state(row.state, row.started_at),
                told_reason(sight, test_sets[row.submission_id], row.state, row.reason, row.fault),
                row.finished_at,
            )
        )
    diagnoses = connection.execute(
        select(Diagnosis.submission_id, Diagnosis.findings).where(Diagnosis.submission_id.in_(ids))
    )
    findings = {row.submission_id: tuple(Finding.of_row(each) for each in row.findings) for row in diagnoses}
    for each, equals in read_equals(connection, ids).items() if sight.organises else ():
        kept = [finding for finding in findings.get(each, ()) if not (equals.outputs and finding.code == "same_output")]
        findings[each] = (*find_equals(equals), *kept)
    awaited = read_awaited(connection, ids, silent_seconds)
    return [
        SeenSubmission(
            id=row.id,
            campaign_id=row.campaign_id,
            team=row.team,
            system=row.system,
            run=row.run,
            test_set=KnownTestSet(row.test_set_id, row.test_set, row.version, row.segments),
            created_at=row.created_at,
            bytes=row.bytes,
            sha256=row.sha256,
            declared=row.declared is not None,
            kind=DeclaredKind(row.kind or ""),
            constrained=row.constrained,
            description=row.description or "",
            phase=row.phase or "",
            late_seconds=row.late_seconds or 0.0,
            withdrawn_at=row.withdrawn_at,
            evaluations=tuple(evaluations[row.id]),
            findings=findings.get(row.id, ()),
            awaited=awaited[row.id],
        )
        for row in rows
    ]
