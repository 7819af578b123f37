"""Quotas of a campaign, set by its organisers; those that hold for everything are set by the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection

from campaigns.accounts.principal import Principal
from campaigns.errors import Forbidden
from campaigns.permissions import Sight
from campaigns.quotas.quotas import Account, campaign_teams, read_accounts, remove_quotas, set_quotas
from campaigns.quotas.rules import KnownQuota, list_quotas, of_scope
from campaigns.quotas.rules import Scope as Whose
from models.schema.campaigns import Quota
from models.schema.states import QuotaKind


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
    set_limits(connection, sight.principal, whose, sight.name, {kind: amount}, time_zone or sight.time_zone)


def remove_quota(
    connection: Connection, sight: Sight, kind: QuotaKind, *, team: str = "", phase: str = ""
) -> list[KnownQuota]:
    """Remove a limit of a campaign (`to_change`); which it was. Raises NotFound."""
    return remove_limits(connection, sight.principal, Whose(sight.campaign_id, team, phase), sight.name, [kind])


def set_limits(
    connection: Connection,
    actor: Principal,
    whose: Whose,
    campaign: str | None,
    amounts: Mapping[QuotaKind, int | None],
    time_zone: str,
) -> None:
    """Set limits, in a campaign of that name or everywhere, and note it. Raises BadQuota and BadSchedule."""
    before = {kind: _amount(connection, whose, kind) for kind in amounts}
    set_quotas(connection, whose, amounts, time_zone)
    details = {kind.value: [before[kind], _said(amount)] for kind, amount in amounts.items()}
    _audit(connection, actor, "quota.set", whose, campaign, details)


def remove_limits(
    connection: Connection, actor: Principal, whose: Whose, campaign: str | None, kinds: Sequence[QuotaKind]
) -> list[KnownQuota]:
    """Remove limits of these kinds, or all, and note it; which they were. Raises NotFound."""
    removed = remove_quotas(connection, whose, kinds)
    details = {each.kind.value: [_said(each.amount), None] for each in removed}
    _audit(connection, actor, "quota.remove", whose, campaign, details)
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
