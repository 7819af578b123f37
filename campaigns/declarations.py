"""What a team declares about its submissions: primary or contrastive, constrained, a description, withdrawal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.changes import changed_fields
from campaigns.errors import Conflict, Forbidden, NotFound
from campaigns.fields.short_text import short_text
from campaigns.measures import protocols_on
from campaigns.permissions import CampaignAccess, read_access_by_id
from campaigns.quotas.usage_log import lock_quota_account
from campaigns.submissions.declarations import demote_primary, primary_of
from models.corpus.campaign_protocols import lock_campaign_shared
from models.schema.base import now
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission, System
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind
from models.schema.states import QueueClass
from runtime.settings import Settings
from scheduler.enqueue.evaluations import enqueue_submissions
from steelyard.tables.formatting import date_time

MAX_DESCRIPTION_LENGTH = 5_000


@dataclass(frozen=True, slots=True)
class DeclaredSubmission:
    """A submission with its declaration."""

    submission_id: int
    campaign_id: int
    test_set_id: int
    team: str
    system: str
    kind: DeclaredKind
    constrained: bool | None
    description: str
    phase: str
    late_seconds: float
    withdrawn_at: float | None


@dataclass(frozen=True, slots=True)
class DeclarationUpdate:
    """A change to a declaration; None leaves a field unchanged."""

    kind: DeclaredKind | None = None
    constrained: bool | None = None
    unsaid: bool = False
    """Reset `constrained` to unspecified."""
    description: str | None = None


def read_declared(connection: Connection, submission_id: int) -> DeclaredSubmission | None:
    """Return a submission with its declaration; None if there is no such submission."""
    row = connection.execute(
        select(
            *(Submission.id, Submission.campaign_id, Submission.test_set_id, System.team, System.name),
            *(Declaration.kind, Declaration.constrained, Declaration.description, Declaration.phase),
            *(Declaration.late_seconds, Declaration.withdrawn_at),
        )
        .join(System, System.id == Submission.system_id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .where(Submission.id == submission_id)
    ).one_or_none()
    if row is None:
        return None
    return DeclaredSubmission(
        submission_id=row.id,
        campaign_id=row.campaign_id,
        test_set_id=row.test_set_id,
        team=row.team,
        system=row.name,
        kind=row.kind or DeclaredKind.UNDECLARED,
        constrained=row.constrained,
        description=row.description or "",
        phase=row.phase or "",
        late_seconds=row.late_seconds or 0.0,
        withdrawn_at=row.withdrawn_at,
    )


def why_locked(access: CampaignAccess, test_set_id: int) -> str:
    """Return why teams cannot change declarations for a test set any more; "" while they can."""
    if access.frozen_at is not None:
        return "The organisers have frozen the campaign: submissions cannot be changed or withdrawn now."
    seen = access.test_sets.get(test_set_id)
    if seen is not None and seen.replaced_by is not None:
        return "The references of this test set were corrected: change the submission that replaces this one."
    if not access.phases:
        return ""
    phase = access.phase
    if phase is None or not phase.takes(access.at):
        return "Submissions can only be changed or withdrawn during a phase that accepts them."
    if phase.ends_at is not None and access.at >= phase.ends_at:
        deadline = date_time(phase.ends_at, access.time_zone)
        return f'The deadline of the phase "{phase.name}" was {deadline}: what was declared by then is final.'
    if seen is not None and seen.phase_id not in (None, phase.id):
        return f'Outputs for this test set are not accepted in the phase "{phase.name}": what was declared is final.'
    return ""


def declare_submission(
    connection: Connection, principal: Principal, submission_id: int, declared: DeclarationUpdate
) -> DeclaredSubmission:
    """Change the declaration of a submission. A new primary replaces the team's previous one for the test set.

    Allowed for members of the team until the deadline, for organisers at any time.

    Raises
    ------
    NotFound
        If it does not exist.
    NotSignedIn
        If nobody is signed in.
    Forbidden
        If the caller lacks the permission.
    BadRequest
        If a value is invalid.
    Conflict
        If it contradicts what is stored.
    """
    access, before, override = _lock_submission(connection, principal, submission_id)
    values: dict[str, Any] = {}
    if declared.kind is not None:
        values["kind"] = declared.kind
    if declared.constrained is not None or declared.unsaid:
        values["constrained"] = None if declared.unsaid else declared.constrained
    if declared.description is not None:
        values["description"] = short_text(declared.description, "The description", MAX_DESCRIPTION_LENGTH, lines=True)
    _require_row(connection, before)
    demoted: list[int] = []
    if declared.kind == DeclaredKind.PRIMARY and before.withdrawn_at is None:
        key = before.campaign_id, before.test_set_id, before.team
        demoted = demote_primary(connection, *key, but=submission_id)
    known = {name: getattr(before, name) for name in values}
    changes: dict[str, Any] = changed_fields(known, values)
    if changes:
        connection.execute(update(Declaration).where(Declaration.submission_id == submission_id).values(**values))
        if demoted:
            changes["contrastive_now"] = demoted
        _audit(connection, access, "submission.declare", before, override, **changes)
    return _read(connection, submission_id)


def withdraw(connection: Connection, principal: Principal, submission_id: int) -> DeclaredSubmission:
    """Withdraw a submission from all leaderboards. It still counts against quotas. Raises as `declare_submission`."""
    access, before, override = _lock_submission(connection, principal, submission_id)
    if before.withdrawn_at is None:
        _require_row(connection, before)
        connection.execute(
            update(Declaration).where(Declaration.submission_id == submission_id).values(withdrawn_at=now())
        )
        _audit(connection, access, "submission.withdraw", before, override)
    return _read(connection, submission_id)


def reinstate(
    connection: Connection, settings: Settings, principal: Principal, submission_id: int
) -> DeclaredSubmission:
    """Reinstate a withdrawn submission, and score it where that is missing.

    It becomes contrastive if the team has another primary by now. Raises as `declare_submission`.
    """
    access, before, override = _lock_submission(connection, principal, submission_id)
    if before.withdrawn_at is None:
        return before
    kind = before.kind
    if kind == DeclaredKind.PRIMARY and primary_of(connection, before.campaign_id, before.test_set_id, before.team):
        kind = DeclaredKind.CONTRASTIVE
    connection.execute(
        update(Declaration).where(Declaration.submission_id == submission_id).values(withdrawn_at=None, kind=kind)
    )
    measured = set(connection.scalars(select(Evaluation.protocol_id).where(Evaluation.submission_id == submission_id)))
    for protocol in protocols_on(connection, before.campaign_id, before.test_set_id):
        if protocol.id not in measured:
            enqueue_submissions(
                *(connection, settings, protocol.id, [submission_id]),
                queue_class=QueueClass.CAMPAIGN,
                team=before.team,
                processes=None,
            )
    _audit(
        connection,
        access,
        "submission.reinstate",
        before,
        override,
        **changed_fields({"kind": before.kind}, {"kind": kind}),
    )
    return _read(connection, submission_id)


def _lock_submission(
    connection: Connection, principal: Principal, submission_id: int
) -> tuple[CampaignAccess, DeclaredSubmission, bool]:
    """Return access, the submission, locked together with those of its team, and whether an organiser overrides."""
    unknown = NotFound(f"There is no submission {submission_id} that you may see.")
    found = read_declared(connection, submission_id)
    if found is None:
        raise unknown
    try:
        access = read_access_by_id(connection, principal, found.campaign_id)
    except NotFound:
        raise unknown from None
    if not access.sees_source(found.test_set_id):
        raise unknown
    ours = found.team in access.own_teams
    if not ours and not access.organises:
        # Whether somebody else's submission has this id must not be revealed.
        raise Forbidden("Only members of its team can change a submission.") if access.sees_board else unknown
    # Membership is checked first: organisers in the team are treated as members until the deadline.
    lock_campaign_shared(connection, found.campaign_id)
    lock_quota_account(connection, found.campaign_id, found.team)
    found, access = _read(connection, submission_id), read_access_by_id(connection, principal, found.campaign_id)
    settled = why_locked(access, found.test_set_id)
    if ours and not settled:
        access.require_team(found.team)
        return access, found, False
    if not access.organises:
        access.require_team(found.team)
        raise Conflict(settled)
    if principal is not COMMAND_LINE:
        access.require_organiser()
    return access, found, True


def _require_row(connection: Connection, declared: DeclaredSubmission) -> None:
    """Create the missing declaration of a submission that organisers stored by commands."""
    there = connection.scalar(
        select(Declaration.submission_id).where(Declaration.submission_id == declared.submission_id)
    )
    if there is None:
        row = {name: getattr(declared, name) for name in ("submission_id", "campaign_id", "test_set_id", "team")}
        connection.execute(insert(Declaration).values(**row))


def _read(connection: Connection, submission_id: int) -> DeclaredSubmission:
    found = read_declared(connection, submission_id)
    assert found is not None
    return found


def _audit(
    connection: Connection,
    access: CampaignAccess,
    action: str,
    declared: DeclaredSubmission,
    override: bool,
    **details: Any,
) -> None:
    subject = f"submission {declared.submission_id} of team {declared.team} in campaign {access.name}"
    if override:
        details["override"] = True
    access.principal.audit(connection, action, subject, campaign_id=access.campaign_id, **details)
