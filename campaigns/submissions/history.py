"""The history of a submission, as its team may see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from models.schema.accounts import Account, AuditEntry, Membership, Team

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess
    from campaigns.submissions.views import SubmissionView

EVENT_NAMES = {
    "submission.submit": "submitted",
    "submission.declare": "declared",
    "submission.withdraw": "withdrawn",
    "submission.reinstate": "reinstated",
    "evaluation.cancel": "cancelled",
    "evaluation.retry": "queued again",
}
MAX_EVENTS = 50


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One change."""

    at: float
    what: str
    by: str
    """The name of a member of the team; for others "the organisers" or "a command"."""


def read_history(connection: Connection, access: CampaignAccess, submission: SubmissionView) -> list[HistoryEvent]:
    """Return the changes of a submission, newest first."""
    members = (
        select(Membership.account_id)
        .join(Team, Team.id == Membership.team_id)
        .where(Team.name == submission.team)
        .scalar_subquery()
    )
    subject = f"submission {submission.id}"
    rows = connection.execute(
        select(
            *(AuditEntry.at, AuditEntry.action, AuditEntry.account_id, Account.name),
            AuditEntry.account_id.in_(members).label("ours"),
        )
        .outerjoin(Account, Account.id == AuditEntry.account_id)
        .where(
            AuditEntry.campaign_id == access.campaign_id,
            AuditEntry.action.in_(list(EVENT_NAMES)),
            or_(AuditEntry.subject == subject, AuditEntry.subject.startswith(f"{subject} of ")),
        )
        .order_by(AuditEntry.id.desc())
        .limit(MAX_EVENTS)
    )
    return [
        HistoryEvent(
            row.at,
            EVENT_NAMES[row.action],
            row.name if row.ours else "the organisers" if row.account_id else "a command",
        )
        for row in rows
    ]
