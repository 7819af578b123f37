"""Deletes a team with its submissions, everywhere or from a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, select

from campaigns.accounts.permissions import require_administrator
from campaigns.changes import lock_for_change
from campaigns.deletion.counts import Deletion, present
from campaigns.deletion.submissions import count_submissions, delete_submissions
from campaigns.errors import NotFound
from models.schema.accounts import Invitation, Membership, Team
from models.schema.campaigns import Participation, Quota, QuotaAccount
from models.schema.corpus import Submission, System

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal

KEPT = ("The audit log stays, and so do the accounts of its members.",)
KEPT_IN_CAMPAIGN = ("The audit log stays, and so does the team with its submissions in other campaigns.",)


def delete_team(connection: Connection, principal: Principal, name: str, *, dry_run: bool) -> Deletion:
    """Delete a team with its submissions in all campaigns, or with `dry_run` say what would be deleted.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For others than administrators: results of a campaign change.
    NotFound
        If it does not exist.
    """
    require_administrator(principal)
    team = connection.scalar(select(Team.id).where(Team.name == name).with_for_update())
    if team is None:
        raise NotFound(f"There is no team {name[:100]!r}.")
    own = select(System.id).where(System.team == name)
    submissions = list(
        connection.scalars(select(Submission.id).where(Submission.system_id.in_(own)).order_by(Submission.id))
    )
    counts = {
        "members": connection.scalar(select(func.count()).where(Membership.team_id == team)),
        "campaigns that it takes part in": connection.scalar(select(func.count()).where(Participation.team_id == team)),
        "invitations": connection.scalar(select(func.count()).where(Invitation.team_id == team)),
        "quotas": connection.scalar(select(func.count()).where(Quota.team == name)),
    }
    found = Deletion(f"team {name}", {**count_submissions(connection, submissions), **present(counts)}, KEPT)
    if not dry_run:
        delete_submissions(connection, submissions)
        connection.execute(delete(Quota).where(Quota.team == name))
        connection.execute(delete(QuotaAccount).where(QuotaAccount.team == name))
        connection.execute(delete(Participation).where(Participation.team_id == team))
        principal.audit(connection, "team.delete", found.subject, **found.removed)
        connection.execute(delete(Team).where(Team.id == team))
    return found


def delete_team_from_campaign(
    connection: Connection, principal: Principal, campaign: str, name: str, *, dry_run: bool
) -> Deletion:
    """Remove a team and its submissions from a campaign, or with `dry_run` say what would be deleted. For organisers.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For others than the organisers of the campaign.
    NotFound
        If there is no such campaign, or no such team in it.
    """
    access = lock_for_change(connection, principal, campaign)
    if name not in access.teams:
        raise NotFound(f"There is no team {name[:100]!r} in this campaign.")
    team = connection.scalar(select(Team.id).where(Team.name == name))
    its = Submission.campaign_id == access.campaign_id, System.team == name
    submissions = list(
        connection.scalars(
            select(Submission.id).join(System, System.id == Submission.system_id).where(*its).order_by(Submission.id)
        )
    )
    quotas = Quota.team == name, Quota.campaign_id == access.campaign_id
    counts = {"quotas": connection.scalar(select(func.count()).select_from(Quota).where(*quotas))}
    found = Deletion(
        f"team {name} in campaign {campaign}",
        {**count_submissions(connection, submissions), **present(counts)},
        KEPT_IN_CAMPAIGN,
    )
    if not dry_run:
        delete_submissions(connection, submissions)
        connection.execute(delete(Quota).where(*quotas))
        account = QuotaAccount.team == name, QuotaAccount.campaign_id == access.campaign_id
        connection.execute(delete(QuotaAccount).where(*account))
        where = Participation.campaign_id == access.campaign_id, Participation.team_id == team
        connection.execute(delete(Participation).where(*where))
        principal.audit(
            connection, "campaign.delete_team", found.subject, campaign_id=access.campaign_id, **found.removed
        )
    return found
