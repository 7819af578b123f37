"""Quotas of a campaign, set by its organisers; those that hold for everything are set by the command line."""

from __future__ import annotations

from sqlalchemy import Connection

from models.quota import KnownQuota, Quota, list_quotas, of_scope
from models.quota import Scope as Whose
from models.states import QuotaKind
from scheduler.quotas import Account, campaign_teams, read_accounts, remove_quotas, set_quotas
from web.errors import Forbidden
from web.life.sight import Sight


def quotas_that_hold(connection: Connection, sight: Sight) -> list[KnownQuota]:
    """All quotas of a campaign, those for everything before its own."""
    return list_quotas(connection, Quota.campaign_id.is_(None) | (Quota.campaign_id == sight.campaign_id))


def teams_of_quotas(connection: Connection, sight: Sight) -> list[str]:
    """The teams that a quota of the campaign can be for, by name."""
    return sorted({*sight.teams, *campaign_teams(connection, sight.campaign_id)}, key=str.casefold)


def set_quota(
    connection: Connection,
    sight: Sight,
    kind: QuotaKind,
    amount: int | None,
    *,
    team: str = "",
    phase: str = "",
    time_zone: str | None = None,
) -> None:
    """Set a limit in a campaign (`to_change`); days are those of its time zone unless another one is said.

    Raises BadQuota and BadSchedule.
    """
    whose = Whose(sight.campaign_id, team, phase)
    before = _amount(connection, whose, kind)
    set_quotas(connection, whose, {kind: amount}, time_zone or sight.time_zone)
    _audit(connection, sight, "quota.set", whose, {kind.value: [before, _said(amount)]})


def remove_quota(
    connection: Connection, sight: Sight, kind: QuotaKind, *, team: str = "", phase: str = ""
) -> list[KnownQuota]:
    """Remove a limit of a campaign (`to_change`); which it was. Raises NotFound."""
    whose = Whose(sight.campaign_id, team, phase)
    removed = remove_quotas(connection, whose, [kind])
    _audit(connection, sight, "quota.remove", whose, {each.kind.value: [_said(each.amount), None] for each in removed})
    return removed


def team_account(connection: Connection, sight: Sight, team: str) -> Account:
    """How a team stands in a campaign: for itself and for organisers. Raises Forbidden."""
    if not sight.organises and team not in sight.own_teams:
        raise Forbidden("Only members of a team, and organisers, see what it has used.")
    (account,) = read_accounts(connection, team, sight.name)
    return account


def _amount(connection: Connection, whose: Whose, kind: QuotaKind) -> int | str | None:
    """What was set before for exactly the same; None where nothing was."""
    known = list_quotas(connection, *of_scope(whose), Quota.kind == kind)
    return _said(known[0].amount) if known else None


def _said(amount: int | None) -> int | str:
    return "no limit" if amount is None else amount


def _audit(connection: Connection, sight: Sight, action: str, whose: Whose, details: dict[str, object]) -> None:
    subject = f"quota of {whose.team or 'every team'} in campaign {sight.name}"
    if whose.phase:
        details["phase"] = whose.phase
    sight.principal.audit(connection, action, subject, campaign_id=sight.campaign_id, **details)
