"""Deletes an account; what it did stays, without its name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import String, cast, delete, func, or_, select, update

from campaigns.accounts.accounts import keep_an_administrator, read_account
from campaigns.accounts.permissions import require_administrator, require_browser
from campaigns.deletion.counts import Deletion, present
from campaigns.errors import Conflict
from models.schema.accounts import Account, ApiToken, AuditEntry, Invitation, Membership, Team
from models.schema.campaigns import CampaignMember, Declaration
from models.schema.roles import SiteRole, TeamRole

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal

KEPT = (
    "The submissions that it sent stay: they belong to its teams.",
    "The audit log stays, and calls it by a number from now on.",
)


def delete_account(connection: Connection, principal: Principal, account: int, *, dry_run: bool) -> Deletion:
    """Delete an account, or with `dry_run` say what would be deleted. For administrators, and for its owner.

    Its address and name are gone afterwards; the audit log calls it "deleted account N".

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For all others, and for its owner with a token.
    NotFound
        If it does not exist.
    Conflict
        For the last administrator, and for the only lead of a team with other members.
    """
    own = principal.account_id == account
    if own:
        # A stolen token cannot do it.
        require_browser(principal)
    else:
        require_administrator(principal)
    known = read_account(connection, account)
    if known.role == SiteRole.ADMINISTRATOR:
        keep_an_administrator(connection, account)
    if teams := _led_alone(connection, account):
        raise Conflict(
            f"{known.email} is the only lead of {', '.join(teams)}. Make another member the lead first, or delete the "
            "team."
        )
    counts = {
        "tokens": connection.scalar(select(func.count()).where(ApiToken.account_id == account)),
        "memberships in teams": connection.scalar(select(func.count()).where(Membership.account_id == account)),
        "roles in campaigns": connection.scalar(select(func.count()).where(CampaignMember.account_id == account)),
    }
    sent = connection.scalar(select(func.count()).where(Declaration.account_id == account))
    found = Deletion(f"account {known.email}", present(counts), KEPT if sent else KEPT[1:])
    if not dry_run:
        called = f"deleted account {account}"
        _forget(connection, account, known.email, called)
        connection.execute(delete(Account).where(Account.id == account))
        # Whoever deletes the own account is gone from here on.
        actor = replace(principal, account_id=None, email=called, address="") if own else principal
        actor.audit(connection, "account.delete", called, **found.removed)
    return found


def _led_alone(connection: Connection, account: int) -> list[str]:
    """Return the teams with other members of which the account is the only lead."""
    leads = (
        select(Membership.team_id).where(Membership.account_id == account, Membership.role == TeamRole.LEAD).subquery()
    )
    rows = connection.execute(
        select(Team.name, Membership.account_id, Membership.role)
        .join(Membership, Membership.team_id == Team.id)
        .where(Team.id.in_(select(leads.c.team_id)), Membership.account_id != account)
    ).all()
    other_leads = {row.name for row in rows if row.role == TeamRole.LEAD}
    return sorted({row.name for row in rows} - other_leads)


def _forget(connection: Connection, account: int, email: str, called: str) -> None:
    """Take the address out of the audit log and of invitations."""
    whole = re.compile(rf"(?<![\w.+@-]){re.escape(email)}(?![\w@-])", re.IGNORECASE)

    def without(value: Any) -> Any:
        if isinstance(value, str):
            return whole.sub(called, value)
        if isinstance(value, dict):
            return {without(key): without(each) for key, each in value.items()}
        return [without(each) for each in value] if isinstance(value, list) else value

    named = (
        AuditEntry.account_id == account,
        func.lower(AuditEntry.subject).contains(email, autoescape=True),
        func.lower(AuditEntry.actor).contains(email, autoescape=True),
        func.lower(cast(AuditEntry.details, String)).contains(email, autoescape=True),
    )
    rows = connection.execute(
        select(AuditEntry.id, AuditEntry.account_id, AuditEntry.actor, AuditEntry.subject, AuditEntry.details).where(
            or_(*named)
        )
    ).all()
    for row in rows:
        values = {
            "actor": without(row.actor), "subject": without(row.subject)[:400], "details": without(row.details),
        }  # fmt: skip
        if row.account_id == account:
            # Where it came from is its own, too.
            values["address"] = ""
        connection.execute(update(AuditEntry).where(AuditEntry.id == row.id).values(**values))
    connection.execute(delete(Invitation).where(Invitation.email == email))
