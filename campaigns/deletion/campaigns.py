"""Deletes a campaign with everything in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select

from campaigns.changes import lock_for_change
from campaigns.deletion.counts import Deletion, present
from campaigns.deletion.submissions import count_submissions, delete_submissions
from models.schema.campaigns import Campaign, CampaignMember, CampaignTestSet, Participation, Phase, Quota
from models.schema.corpus import Submission
from models.schema.human import Judgments
from models.schema.imported import ScoreImport
from models.schema.nightly import Schedule

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal

COUNTED: dict[str, Any] = {
    "teams": Participation,
    "organisers and viewers": CampaignMember,
    "phases": Phase,
    "test sets": CampaignTestSet,
    "human judgments": Judgments,
    "imported scores": ScoreImport,
    "quotas": Quota,
    "schedules": Schedule,
}
"""What belongs to a campaign, and its table."""
KEPT = (
    "The audit log stays, and teams and accounts do.",
    "The texts of test sets stay in the database, where other campaigns may use them.",
)


def delete_campaign(connection: Connection, principal: Principal, name: str, *, dry_run: bool) -> Deletion:
    """Delete a campaign, or with `dry_run` say what would be deleted. For organisers.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For others than its organisers.
    NotFound
        If it does not exist or is not visible.
    """
    access = lock_for_change(connection, principal, name)
    campaign = access.campaign_id
    submissions = list(
        connection.scalars(select(Submission.id).where(Submission.campaign_id == campaign).order_by(Submission.id))
    )
    counts = {
        what: connection.scalar(select(func.count()).select_from(table).where(table.campaign_id == campaign))
        for what, table in COUNTED.items()
    }
    found = Deletion(f"campaign {name}", {**count_submissions(connection, submissions), **present(counts)}, KEPT)
    if not dry_run:
        delete_submissions(connection, submissions)
        # Schedules and imports hold what the campaign's own row does not take along.
        connection.execute(delete(Schedule).where(Schedule.campaign_id == campaign))
        connection.execute(delete(ScoreImport).where(ScoreImport.campaign_id == campaign))
        principal.audit(connection, "campaign.delete", found.subject, **found.removed)
        connection.execute(delete(Campaign).where(Campaign.id == campaign))
    return found
