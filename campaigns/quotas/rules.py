"""Quotas: how many submissions teams may make, by campaign, team and phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, select

from models.schema.campaigns import Campaign, Quota
from models.schema.column_types import is_known, known
from models.schema.states import QuotaKind


@dataclass(frozen=True, slots=True)
class QuotaScope:
    """What a quota applies to."""

    campaign_id: int | None = None
    team: str = ""
    phase: str = ""

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """Higher for more specific scopes."""
        return (bool(self.team), self.campaign_id is not None, bool(self.phase))


@dataclass(frozen=True, slots=True)
class QuotaInfo:
    """A stored quota."""

    scope: QuotaScope
    campaign: str
    """The name; "" for every campaign."""
    kind: QuotaKind
    amount: int | None
    time_zone: str


def scope_conditions(scope: QuotaScope) -> list[ColumnElement[bool]]:
    """Return SQL conditions for the quotas of exactly this scope."""
    return [
        Quota.campaign_id.is_(None) if scope.campaign_id is None else Quota.campaign_id == scope.campaign_id,
        Quota.team == scope.team,
        Quota.phase == scope.phase,
    ]


def list_quotas(connection: Connection, *conditions: ColumnElement[bool]) -> list[QuotaInfo]:
    """Return all quotas that satisfy the conditions, least specific first."""
    rows = connection.execute(
        select(Quota, Campaign.name.label("campaign"))
        .outerjoin(Campaign, Campaign.id == Quota.campaign_id)
        .where(*conditions)
        .order_by(Quota.id)
    )
    quotas = [
        QuotaInfo(
            QuotaScope(row.campaign_id, row.team, row.phase),
            row.campaign or "",
            row.kind,
            row.amount,
            row.time_zone,
        )
        for row in rows
    ]
    kinds = list(QuotaKind)

    def place(quota: QuotaInfo) -> tuple[str, str, str, int]:
        of_kind = kinds.index(quota.kind) if is_known(quota.kind) else len(kinds)
        return (quota.campaign, quota.scope.team, quota.scope.phase, of_kind)

    return sorted(quotas, key=place)


def quotas_of(connection: Connection, campaign_id: int | None, team: str, phase: str) -> dict[QuotaKind, QuotaInfo]:
    """Return the quotas that apply to a team in a campaign and phase: the most specific one of each kind.

    Raises
    ------
    UnreadableRow
        For a limit of a kind that this release does not know: it would not be enforced.
    """
    applicable = list_quotas(
        connection,
        Quota.campaign_id.is_(None) | (Quota.campaign_id == campaign_id),
        Quota.team.in_(("", team)),
        Quota.phase.in_(("", phase)),
    )
    for each in applicable:
        known(each.kind, "The kind of a quota")
    return _most_specific(applicable)


def _most_specific(quotas: Sequence[QuotaInfo]) -> dict[QuotaKind, QuotaInfo]:
    return {each.kind: each for each in sorted(quotas, key=lambda each: each.scope.rank)}
