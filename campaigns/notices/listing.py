"""The notices that somebody may read: of the campaigns that they are inside of, and of their teams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Connection, or_, select, union

from models.notices.choices import choices_of
from models.schema.accounts import Account, Membership, Team
from models.schema.campaigns import Campaign, CampaignMember, Participation
from models.schema.column_types import is_known
from models.schema.notices import Notice, NoticeAddress
from steelyard_client.documents.accounts.notices import NoticeResponse
from steelyard_client.documents.document import utc
from steelyard_client.vocabulary import NoticeChannel, NoticeKind

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess

MOST_IN_FEED = 50


@dataclass(frozen=True, slots=True)
class SeenNotice:
    """A notice as its reader sees it."""

    id: int
    kind: NoticeKind
    campaign: str
    team: str
    title: str
    text: str
    path: str
    created_at: float


def list_notices(connection: Connection, account_id: int, *, limit: int, after: int | None = None) -> list[SeenNotice]:
    """Return what somebody may read, newest first, one more than `limit` if there are more."""
    older = [] if after is None else [Notice.id < after]
    return _read(connection, _inside(account_id), *older, limit=limit + 1)


def list_announcements(connection: Connection, access: CampaignAccess, *, limit: int) -> list[SeenNotice]:
    """Return the announcements of a campaign, newest first: for those inside; nothing for others."""
    if not (access.organises or access.views or access.own_teams):
        return []
    of_campaign = Notice.campaign_id == access.campaign_id, Notice.kind == NoticeKind.ANNOUNCEMENT
    return _read(connection, *of_campaign, limit=limit)


def read_feed(connection: Connection, secret: str) -> list[SeenNotice] | None:
    """Return what the owner of a feed wants to see there; None where there is no such feed."""
    account = connection.scalar(
        select(Account.id)
        .join(NoticeAddress, NoticeAddress.account_id == Account.id)
        .where(NoticeAddress.feed_secret == secret, Account.disabled_at.is_(None))
    )
    if account is None:
        return None
    wanted = choices_of(connection, [account])[account]
    kinds = [kind for kind in NoticeKind if wanted[kind, NoticeChannel.FEED]]
    return _read(connection, _inside(account), Notice.kind.in_(kinds), limit=MOST_IN_FEED)


def notice_response(seen: SeenNotice, site: str) -> NoticeResponse:
    """The document of a notice."""
    return NoticeResponse(
        id=seen.id,
        kind=seen.kind,
        campaign=seen.campaign,
        team=seen.team,
        title=seen.title,
        text=seen.text,
        url=f"{site}{seen.path}",
        created_at=utc(seen.created_at),
    )


def _inside(account_id: int) -> ColumnElement[bool]:
    teams = select(Membership.team_id).where(Membership.account_id == account_id)
    campaigns = union(
        select(Participation.campaign_id).where(Participation.team_id.in_(teams)),
        select(CampaignMember.campaign_id).where(CampaignMember.account_id == account_id),
    )
    return or_(
        Notice.team_id.is_(None) & Notice.campaign_id.in_(select(campaigns.subquery().c.campaign_id)),
        Notice.team_id.in_(teams),
    )


def _read(connection: Connection, *conditions: ColumnElement[bool], limit: int) -> list[SeenNotice]:
    rows: Any = connection.execute(
        select(Notice, Campaign.name.label("campaign"), Team.name.label("team"))
        .join(Campaign, Campaign.id == Notice.campaign_id)
        .outerjoin(Team, Team.id == Notice.team_id)
        .where(*conditions)
        .order_by(Notice.id.desc())
        .limit(limit)
    )
    return [
        SeenNotice(row.id, row.kind, row.campaign, row.team or "", row.title, row.text, row.path, row.created_at)
        for row in rows
        if is_known(row.kind)
    ]
