"""What a team says about its submissions: primary or contrastive, constrained, a description; withdrawn, or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from campaigns.accounts.principal import COMMAND_LINE, Principal
from campaigns.changes import changed
from campaigns.errors import Forbidden, NotThere, Taken
from campaigns.measures import protocols_on
from campaigns.permissions import Sight, read_sight_by_id
from campaigns.quotas.ledger import lock_account
from campaigns.short_text import short_text
from campaigns.submissions.declarations import demote_primary, primary_of
from campaigns.times import shown_moment
from models.corpus.campaign_protocols import hold_campaign
from models.schema.base import now
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission, System
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind
from models.schema.states import QueueClass
from runtime.settings import Settings
from scheduler.enqueue.evaluations import queue_submissions

LONGEST_DESCRIPTION = 5_000


@dataclass(frozen=True, slots=True)
class Declared:
    """A submission with what its team says about it."""

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
class Saying:
    """What is to be said of a submission; None leaves it as it is."""

    kind: DeclaredKind | None = None
    constrained: bool | None = None
    unsaid: bool = False
    """Let it be unsaid whether it is constrained."""
    description: str | None = None


def read_declared(connection: Connection, submission_id: int) -> Declared | None:
    """What is said of a submission; None where there is no such submission."""
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
    return Declared(
        submission_id=row.id,
        campaign_id=row.campaign_id,
        test_set_id=row.test_set_id,
        team=row.team,
        system=row.name,
        kind=DeclaredKind(row.kind or ""),
        constrained=row.constrained,
        description=row.description or "",
        phase=row.phase or "",
        late_seconds=row.late_seconds or 0.0,
        withdrawn_at=row.withdrawn_at,
    )


def why_settled(sight: Sight, test_set_id: int) -> str:
    """Why teams cannot change what they say about submissions for a test set any more; "" while they can."""
    if sight.frozen_at is not None:
        return "The organisers have frozen the campaign: nothing is declared or withdrawn now."
    seen = sight.test_sets.get(test_set_id)
    if seen is not None and seen.replaced_by is not None:
        return "The references of this test set were corrected: change the submission that stands for this one now."
    if not sight.phases:
        return ""
    phase = sight.phase
    if phase is None or not phase.takes(sight.at):
        return "No phase is open in which submissions could be declared or withdrawn."
    if phase.ends_at is not None and sight.at >= phase.ends_at:
        deadline = shown_moment(phase.ends_at, sight.time_zone)
        return f'The deadline of the phase "{phase.name}" was {deadline}: what was declared by then stands.'
    if seen is not None and seen.phase_id not in (None, phase.id):
        return f'Outputs for this test set are not taken in the phase "{phase.name}": what was declared stands.'
    return ""


def declare(connection: Connection, principal: Principal, submission_id: int, saying: Saying) -> Declared:
    """Say something about a submission; the first primary of the team for the test set gives way to a new one.

    By members of the team until the deadline, by organisers at any time. Raises NotThere, NotSignedIn, Forbidden,
    BadRequest and Taken.
    """
    sight, before, override = _to_change(connection, principal, submission_id)
    values: dict[str, Any] = {}
    if saying.kind is not None:
        values["kind"] = saying.kind
    if saying.constrained is not None or saying.unsaid:
        values["constrained"] = None if saying.unsaid else saying.constrained
    if saying.description is not None:
        values["description"] = short_text(saying.description, "The description", LONGEST_DESCRIPTION, lines=True)
    _require_row(connection, before)
    demoted: list[int] = []
    if saying.kind == DeclaredKind.PRIMARY and before.withdrawn_at is None:
        key = before.campaign_id, before.test_set_id, before.team
        demoted = demote_primary(connection, *key, but=submission_id)
    known = {name: getattr(before, name) for name in values}
    changes: dict[str, Any] = changed(known, values)
    if changes:
        connection.execute(update(Declaration).where(Declaration.submission_id == submission_id).values(**values))
        if demoted:
            changes["contrastive_now"] = demoted
        _audit(connection, sight, "submission.declare", before, override, **changes)
    return _read(connection, submission_id)


def withdraw(connection: Connection, principal: Principal, submission_id: int) -> Declared:
    """Take a submission off all boards. It counts against quotas all the same. Raises as `declare`."""
    sight, before, override = _to_change(connection, principal, submission_id)
    if before.withdrawn_at is None:
        _require_row(connection, before)
        connection.execute(
            update(Declaration).where(Declaration.submission_id == submission_id).values(withdrawn_at=now())
        )
        _audit(connection, sight, "submission.withdraw", before, override)
    return _read(connection, submission_id)


def reinstate(connection: Connection, settings: Settings, principal: Principal, submission_id: int) -> Declared:
    """Let a submission that was withdrawn stand again, and measure it where that was not done meanwhile.

    It is contrastive where the team has another primary by now. Raises as `declare`.
    """
    sight, before, override = _to_change(connection, principal, submission_id)
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
            queue_submissions(
                *(connection, settings, protocol.id, [submission_id]),
                queue_class=QueueClass.CAMPAIGN,
                team=before.team,
                processes=None,
            )
    _audit(
        connection, sight, "submission.reinstate", before, override, **changed({"kind": before.kind}, {"kind": kind})
    )
    return _read(connection, submission_id)


def _to_change(connection: Connection, principal: Principal, submission_id: int) -> tuple[Sight, Declared, bool]:
    """The submission, nobody else changing those of its team, and whether its organisers overrule its team."""
    unknown = NotThere(f"There is no submission {submission_id} that you may see.")
    found = read_declared(connection, submission_id)
    if found is None:
        raise unknown
    try:
        sight = read_sight_by_id(connection, principal, found.campaign_id)
    except NotThere:
        raise unknown from None
    if not sight.sees_source(found.test_set_id):
        raise unknown
    ours = found.team in sight.own_teams
    if not ours and not sight.organises:
        # Whether a number is that of somebody else's submission is nobody's business.
        raise Forbidden("Only members of its team may change a submission.") if sight.sees_board else unknown
    # The team first: organisers that are in it are members like others until the deadline.
    hold_campaign(connection, found.campaign_id)
    lock_account(connection, found.campaign_id, found.team)
    found, sight = _read(connection, submission_id), read_sight_by_id(connection, principal, found.campaign_id)
    settled = why_settled(sight, found.test_set_id)
    if ours and not settled:
        sight.require_team(found.team)
        return sight, found, False
    if not sight.organises:
        sight.require_team(found.team)
        raise Taken(settled)
    if principal is not COMMAND_LINE:
        sight.require_organiser()
    return sight, found, True


def _require_row(connection: Connection, declared: Declared) -> None:
    """Submissions that organisers stored by commands have no declaration yet."""
    there = connection.scalar(
        select(Declaration.submission_id).where(Declaration.submission_id == declared.submission_id)
    )
    if there is None:
        row = {name: getattr(declared, name) for name in ("submission_id", "campaign_id", "test_set_id", "team")}
        connection.execute(insert(Declaration).values(**row))


def _read(connection: Connection, submission_id: int) -> Declared:
    found = read_declared(connection, submission_id)
    assert found is not None
    return found


def _audit(
    connection: Connection, sight: Sight, action: str, declared: Declared, override: bool, **details: Any
) -> None:
    subject = f"submission {declared.submission_id} of team {declared.team} in campaign {sight.name}"
    if override:
        details["override"] = True
    sight.principal.audit(connection, action, subject, campaign_id=sight.campaign_id, **details)
