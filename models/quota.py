"""Quotas: how many submissions teams may make, by campaign, team and phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import CheckConstraint, ColumnElement, Connection, ForeignKey, Index, Integer, String, select, text
from sqlalchemy.orm import Mapped, mapped_column

from models.base import Base, Key
from models.campaign import Campaign
from models.states import QuotaKind, one_of


class Quota(Base):
    """One limit: for a campaign and a team, for a campaign and every team, or for everything; perhaps in one phase."""

    __tablename__ = "quota"
    __table_args__ = (
        CheckConstraint(one_of("kind", QuotaKind), name="kind"),
        CheckConstraint("amount >= 0", name="amount"),
        # Two, since no two rows without a campaign would be the same to a database.
        Index(
            "uq_quota_of_campaign",
            *("campaign_id", "team", "phase", "kind"),
            unique=True,
            postgresql_where=text("campaign_id IS NOT NULL"),
            sqlite_where=text("campaign_id IS NOT NULL"),
        ),
        Index(
            "uq_quota_of_all",
            *("team", "phase", "kind"),
            unique=True,
            postgresql_where=text("campaign_id IS NULL"),
            sqlite_where=text("campaign_id IS NULL"),
        ),
    )

    id: Mapped[Key]
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    """None means every campaign."""
    team: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """"" means every team."""
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The phase of the campaign in which it holds; "" means always."""
    kind: Mapped[str] = mapped_column(String(16))
    amount: Mapped[int | None] = mapped_column(Integer)
    """The most that a team may have in a campaign; None means no limit, whatever less specific rows say."""
    time_zone: Mapped[str] = mapped_column(String(100), server_default="UTC", default="UTC")
    """Of a limit per day: where days begin and end, a name of the IANA database."""


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
