"""What was done with a submission, and by whom, as its team may read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from models.schema.accounts import Account, AuditEntry, Membership, Team

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import Sight
    from campaigns.submissions.views import SeenSubmission

WORDS = {
    "submission.submit": "handed in",
    "submission.declare": "declared",
    "submission.withdraw": "withdrawn",
    "submission.reinstate": "taken back",
    "evaluation.cancel": "stopped",
    "evaluation.retry": "queued again",
}
MOST = 50


@dataclass(frozen=True, slots=True)
class Happening:
    """One change."""

    at: float
    what: str
    by: str
    """A member of the team by name; others are the organisers."""


def read_history(connection: Connection, sight: Sight, seen: SeenSubmission) -> list[Happening]:
    """The changes of a submission, the newest first."""
    members = (
        select(Membership.account_id)
        .join(Team, Team.id == Membership.team_id)
        .where(Team.name == seen.team)
        .scalar_subquery()
    )
    called = f"submission {seen.id}"
    rows = connection.execute(
        select(
            *(AuditEntry.at, AuditEntry.action, AuditEntry.account_id, Account.name),
            AuditEntry.account_id.in_(members).label("ours"),
        )
        .outerjoin(Account, Account.id == AuditEntry.account_id)
        .where(
            AuditEntry.campaign_id == sight.campaign_id,
            AuditEntry.action.in_(list(WORDS)),
            or_(AuditEntry.subject == called, AuditEntry.subject.startswith(f"{called} of ")),
        )
        .order_by(AuditEntry.id.desc())
        .limit(MOST)
    )
    return [
        Happening(
            row.at, WORDS[row.action], row.name if row.ours else "the organisers" if row.account_id else "a command"
        )
        for row in rows
    ]
