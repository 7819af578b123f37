"""Quotas: how many submissions teams may make, by campaign, team and phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, select

from models.schema.campaigns import Campaign, Quota
from models.schema.states import QuotaKind


@dataclass(frozen=True, slots=True)
class Scope:
    """Whom a quota is for."""

    campaign_id: int | None = None
    team: str = ""
    phase: str = ""

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """The larger, the more specific."""
        return (bool(self.team), self.campaign_id is not None, bool(self.phase))


@dataclass(frozen=True, slots=True)
class KnownQuota:
    """A quota as it is stored."""

    scope: Scope
    campaign: str
    """The name; "" for every campaign."""
    kind: QuotaKind
    amount: int | None
    time_zone: str


def of_scope(scope: Scope) -> list[ColumnElement[bool]]:
    """The conditions for the quotas of exactly this scope."""
    return [
        Quota.campaign_id.is_(None) if scope.campaign_id is None else Quota.campaign_id == scope.campaign_id,
        Quota.team == scope.team,
        Quota.phase == scope.phase,
    ]


def list_quotas(connection: Connection, *conditions: ColumnElement[bool]) -> list[KnownQuota]:
    """All quotas for which the conditions hold, the least specific first."""
    rows = connection.execute(
        select(Quota, Campaign.name.label("campaign"))
        .outerjoin(Campaign, Campaign.id == Quota.campaign_id)
        .where(*conditions)
        .order_by(Quota.id)
    )
    known = [
        KnownQuota(
            Scope(row.campaign_id, row.team, row.phase),
            row.campaign or "",
            QuotaKind(row.kind),
            row.amount,
            row.time_zone,
        )
        for row in rows
    ]
    kinds = list(QuotaKind)
    return sorted(known, key=lambda each: (each.campaign, each.scope.team, each.scope.phase, kinds.index(each.kind)))


def quotas_of(connection: Connection, campaign_id: int | None, team: str, phase: str) -> dict[QuotaKind, KnownQuota]:
    """What holds for a team in a campaign in a phase: of each kind the most specific quota, where there is any."""
    fitting = list_quotas(
        connection,
        Quota.campaign_id.is_(None) | (Quota.campaign_id == campaign_id),
        Quota.team.in_(("", team)),
        Quota.phase.in_(("", phase)),
    )
    return _most_specific(fitting)


def _most_specific(quotas: Sequence[KnownQuota]) -> dict[QuotaKind, KnownQuota]:
    return {each.kind: each for each in sorted(quotas, key=lambda each: each.scope.rank)}
