"""Quotas of a campaign, set by its organisers, and of all campaigns, set by administrators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from campaigns.accounts.permissions import require_administrator
from campaigns.accounts.principal import Principal
from campaigns.errors import Forbidden
from campaigns.permissions import CampaignAccess
from campaigns.quotas.quotas import (
    TeamQuotas,
    campaign_teams,
    read_team_quotas,
    remove_quotas,
    set_phase,
    set_quotas,
)
from campaigns.quotas.rules import QuotaInfo, list_quotas, scope_conditions
from campaigns.quotas.rules import QuotaScope as Whose
from models.errors import NotFound
from models.schema.campaigns import Quota
from models.schema.roles import Scope
from models.schema.states import QuotaKind


def applicable_quotas(connection: Connection, access: CampaignAccess) -> list[QuotaInfo]:
    """Return all quotas that apply to a campaign, those for all campaigns first."""
    return list_quotas(connection, Quota.campaign_id.is_(None) | (Quota.campaign_id == access.campaign_id))


def every_quota(connection: Connection, principal: Principal) -> list[QuotaInfo]:
    """Return all quotas of all campaigns, for administrators, those for all campaigns first.

    Raises
    ------
    Forbidden
        For anyone else.
    """
    require_administrator(principal, Scope.READ)
    return list_quotas(connection)


def teams_with_quotas(connection: Connection, access: CampaignAccess) -> list[str]:
    """Return the teams that a quota of the campaign can be for, by name."""
    return sorted({*access.teams, *campaign_teams(connection, access.campaign_id)}, key=str.casefold)


def set_quota(
    connection: Connection,
    access: CampaignAccess,
    kind: QuotaKind,
    amount: int | None,
    *,
    team: str = "",
    phase: str = "",
    time_zone: str | None = None,
) -> None:
    """Set a limit in a locked campaign (`lock_for_change`); days are those of its time zone by default.

    Raises
    ------
    BadQuota
        If a limit is invalid.
    BadSchedule
        If the time zone does not exist.
    """
    whose = Whose(access.campaign_id, team, phase)
    set_limits(connection, access.principal, whose, access.name, {kind: amount}, time_zone or access.time_zone)


def set_general_quota(
    connection: Connection, principal: Principal, kind: QuotaKind, amount: int | None, time_zone: str | None
) -> QuotaInfo:
    """Set a limit that holds in every campaign; returns it.

    Raises
    ------
    Forbidden
        For anyone but administrators.
    BadSchedule
        If the time zone does not exist.
    """
    require_administrator(principal, Scope.ORGANISE)
    set_limits(connection, principal, Whose(), None, {kind: amount}, time_zone)
    (found,) = list_quotas(connection, *scope_conditions(Whose()), Quota.kind == kind)
    return found


def remove_general_quota(connection: Connection, principal: Principal, kind: QuotaKind) -> None:
    """Remove a limit that holds in every campaign.

    Raises
    ------
    Forbidden
        For anyone but administrators.
    NotFound
        If it does not exist.
    """
    require_administrator(principal, Scope.ORGANISE)
    remove_limits(connection, principal, Whose(), None, [kind])


def set_quota_phase(connection: Connection, access: CampaignAccess, phase: str) -> None:
    """Set the phase by which quotas count in a locked campaign (`lock_for_change`) that plans no phases; "" for none.

    Raises
    ------
    BadQuota
        If the campaign plans its phases.
    """
    set_phase(connection, access.name, phase)
    subject = f"campaign {access.name}"
    access.principal.audit(connection, "campaign.phase", subject, campaign_id=access.campaign_id, phase=phase)


def remove_quota(
    connection: Connection, access: CampaignAccess, kind: QuotaKind, *, team: str = "", phase: str = ""
) -> list[QuotaInfo]:
    """Remove a limit of a locked campaign (`lock_for_change`); returns what was removed.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    return remove_limits(connection, access.principal, Whose(access.campaign_id, team, phase), access.name, [kind])


def set_limits(
    connection: Connection,
    actor: Principal,
    whose: Whose,
    campaign: str | None,
    amounts: Mapping[QuotaKind, int | None],
    time_zone: str | None,
) -> None:
    """Set limits in a campaign, or in all, and write the audit log.

    Raises
    ------
    BadQuota
        If a limit is invalid.
    BadSchedule
        If the time zone does not exist.
    """
    before = {kind: _amount(connection, whose, kind) for kind in amounts}
    set_quotas(connection, whose, amounts, time_zone)
    details = {kind.value: [before[kind], _amount_text(amount)] for kind, amount in amounts.items()}
    _audit(connection, actor, "quota.set", whose, campaign, details)


def remove_limits(
    connection: Connection, actor: Principal, whose: Whose, campaign: str | None, kinds: Sequence[QuotaKind]
) -> list[QuotaInfo]:
    """Remove limits of these kinds, or all, and write the audit log; returns what was removed.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    removed = remove_quotas(connection, whose, kinds)
    details = {each.kind.value: [_amount_text(each.amount), None] for each in removed}
    _audit(connection, actor, "quota.remove", whose, campaign, details)
    return removed


def visible_team_quotas(connection: Connection, access: CampaignAccess, team: str) -> TeamQuotas:
    """Return a team's quota usage in a campaign, for its members and for organisers.

    Raises
    ------
    Forbidden
        If the caller lacks the permission.
    """
    if not access.organises and team not in access.own_teams:
        raise Forbidden("Only members of the team and organisers can see its quota usage.")
    (account,) = read_team_quotas(connection, team, access.name)
    return account


def team_quotas_in(connection: Connection, principal: Principal, team: str) -> list[TeamQuotas]:
    """Return a team's quota usage in each campaign in which it has submitted or has quotas of its own.

    Raises
    ------
    Forbidden
        For others than its members and administrators.
    NotFound
        For administrators, if there is no such campaign.
    """
    principal.require(Scope.READ)
    if principal.administrates:
        return read_team_quotas(connection, team)
    if team not in principal.teams:
        raise Forbidden("Only members of the team and administrators can see its quota usage.")
    try:
        return read_team_quotas(connection, team)
    except NotFound:
        # Its message names other teams.
        return []


def _amount(connection: Connection, whose: Whose, kind: QuotaKind) -> int | str | None:
    """Return the limit set before for exactly this scope; None if there was none."""
    known = list_quotas(connection, *scope_conditions(whose), Quota.kind == kind)
    return _amount_text(known[0].amount) if known else None


def _amount_text(amount: int | None) -> int | str:
    return "no limit" if amount is None else amount


def _audit(
    connection: Connection,
    actor: Principal,
    action: str,
    whose: Whose,
    campaign: str | None,
    details: Mapping[str, Sequence[int | str | None]],
) -> None:
    place = "every campaign" if campaign is None else f"campaign {campaign}"
    subject = f"quota of {whose.team or 'every team'} in {place}"
    more = {"phase": whose.phase} if whose.phase else {}
    actor.audit(connection, action, subject, campaign_id=whose.campaign_id, **details, **more)
