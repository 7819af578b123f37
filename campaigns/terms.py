"""Terms that a team accepts before it submits: each change is a version, and who accepted which is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from campaigns.errors import BadRequest, Forbidden, NotFound, OutOfDate
from campaigns.fields.short_text import short_text
from models.database.upsert import insert_new
from models.schema.accounts import Account, Team
from models.schema.campaigns import CampaignTerms, TermsAcceptance
from models.schema.roles import Scope

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from campaigns.accounts.principal import Principal
    from campaigns.permissions import CampaignAccess

MAX_TERMS_LENGTH = 50_000


class TermsNotAccepted(Forbidden):
    """The team has not accepted the terms of the campaign. A member must accept them on the page "Terms"."""


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a campaign that hold now."""

    id: int
    version: int
    text: str
    created_at: float


@dataclass(frozen=True, slots=True)
class Acceptance:
    """That somebody accepted terms for a team."""

    team: str
    version: int
    account: str
    """The name of the account; "" once it is deleted."""
    accepted_at: float


def read_terms(connection: Connection, campaign_id: int) -> Terms | None:
    """Return the terms of a campaign; None if it has none."""
    row = connection.execute(
        select(CampaignTerms)
        .where(CampaignTerms.campaign_id == campaign_id)
        .order_by(CampaignTerms.version.desc())
        .limit(1)
    ).one_or_none()
    return None if row is None or not row.text else Terms(row.id, row.version, row.text, row.created_at)


def terms_versions(connection: Connection, access: CampaignAccess) -> list[dict[str, Any]]:
    """Return the terms of a campaign as an export has them: for organisers all versions, for others the newest."""
    columns = CampaignTerms.version, CampaignTerms.text, CampaignTerms.created_at
    stored = select(*columns).where(CampaignTerms.campaign_id == access.campaign_id).order_by(CampaignTerms.version)
    rows = [dict(row) for row in connection.execute(stored).mappings()]
    return rows if access.organises else rows[-1:]


def restore_terms(connection: Connection, campaign_id: int, versions: Sequence[Mapping[str, Any]]) -> None:
    """Store the terms of an export under a new campaign. Who accepted them elsewhere is not known here.

    Raises
    ------
    BadRequest
        If a text is too long or contains what cannot be shown, or a version is there twice.
    """
    numbers = [each["version"] for each in versions]
    if sorted(set(numbers)) != numbers or any(each < 1 for each in numbers):
        raise BadRequest("The versions of the terms are not in order. Export the campaign again.")
    rows = [
        {
            **each,
            "text": short_text(each["text"], "The terms", MAX_TERMS_LENGTH, lines=True),
            "campaign_id": campaign_id,
        }
        for each in versions
    ]
    if rows:
        connection.execute(insert(CampaignTerms), rows)


def set_terms(connection: Connection, access: CampaignAccess, text: str) -> None:
    """Set the terms of a campaign that is locked for an organiser's change; "" for none.

    Teams must accept a changed text before they submit again.

    Raises
    ------
    BadRequest
        If the text is too long or contains what cannot be shown.
    """
    text = short_text(text, "The text", MAX_TERMS_LENGTH, lines=True)
    newest = connection.execute(
        select(CampaignTerms.version, CampaignTerms.text)
        .where(CampaignTerms.campaign_id == access.campaign_id)
        .order_by(CampaignTerms.version.desc())
        .limit(1)
    ).one_or_none()
    if text == (newest.text if newest else ""):
        return
    version = newest.version + 1 if newest else 1
    connection.execute(insert(CampaignTerms).values(campaign_id=access.campaign_id, version=version, text=text))
    access.principal.audit(
        connection, "campaign.terms", f"campaign {access.name}", campaign_id=access.campaign_id, version=version
    )


def accept_terms(connection: Connection, principal: Principal, access: CampaignAccess, team: str, version: int) -> None:
    """Accept a version of the terms for a team of the campaign.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        For others than members of the team.
    NotFound
        If the campaign has no terms.
    OutOfDate
        If another version holds now, which must be read first.
    """
    principal.require_account(Scope.SUBMIT)
    if team not in access.own_teams:
        raise Forbidden("Only members of a team that takes part can accept the terms for it.")
    terms = read_terms(connection, access.campaign_id)
    if terms is None:
        raise NotFound("The campaign has no terms.")
    if terms.version != version:
        raise OutOfDate("The terms were changed in the meantime. Read the new version, then accept it.")
    team_id = connection.execute(select(Team.id).where(Team.name == team)).scalar_one()
    values = {"terms_id": terms.id, "team_id": team_id, "account_id": principal.account_id}
    if insert_new(connection, TermsAcceptance, values) is not None:
        principal.audit(
            connection,
            "campaign.accept_terms",
            f"team {team} in campaign {access.name}",
            campaign_id=access.campaign_id,
            version=version,
        )


def accepted_by(connection: Connection, campaign_id: int) -> list[Acceptance]:
    """Return who accepted which version, the newest first."""
    rows = connection.execute(
        select(
            *(Team.name.label("team"), CampaignTerms.version, TermsAcceptance.accepted_at),
            Account.name.label("account"),
        )
        .join(CampaignTerms, CampaignTerms.id == TermsAcceptance.terms_id)
        .join(Team, Team.id == TermsAcceptance.team_id)
        .outerjoin(Account, Account.id == TermsAcceptance.account_id)
        .where(CampaignTerms.campaign_id == campaign_id)
        .order_by(TermsAcceptance.accepted_at.desc(), Team.name)
    )
    return [Acceptance(row.team, row.version, row.account or "", row.accepted_at) for row in rows]


def require_accepted(connection: Connection, campaign_id: int, team: str) -> None:
    """Check that a team has accepted the terms that hold now.

    Raises
    ------
    TermsNotAccepted
        If it has not.
    """
    terms = read_terms(connection, campaign_id)
    if terms is None:
        return
    accepted = (
        select(TermsAcceptance.team_id)
        .join(Team, Team.id == TermsAcceptance.team_id)
        .where(TermsAcceptance.terms_id == terms.id, Team.name == team)
    )
    if connection.scalar(accepted) is None:
        raise TermsNotAccepted
