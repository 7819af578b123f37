"""Tells those whom it concerns what has happened, once: a row for the notice, and one for each delivery."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy import Connection, select, union

from models.database.upsert import insert_ignore, insert_new
from models.notices.choices import choices_of
from models.schema.accounts import Account, Membership
from models.schema.campaigns import CampaignMember, Participation
from models.schema.notices import Notice, NoticeAddress, NoticeDelivery
from steelyard_client.vocabulary import NoticeChannel, NoticeKind


@dataclass(frozen=True, slots=True)
class NewNotice:
    """What has happened; the fields are those of `models.schema.notices.Notice`."""

    campaign_id: int
    key: str
    kind: NoticeKind
    title: str
    text: str
    path: str
    team_id: int | None = None
    account_id: int | None = None
    until: float | None = None


def notify(connection: Connection, new: NewNotice, *, mails: bool) -> int | None:
    """Store a notice with its deliveries, and return its id; None if it was told before.

    `mails` says whether the server sends mails at all; they go to confirmed addresses alone.
    """
    notice = insert_new(connection, Notice, {**asdict(new), "title": new.title[:400]})
    if notice is None:
        return None
    people = connection.execute(
        select(Account.id, Account.verified_at, NoticeAddress.webhook)
        .outerjoin(NoticeAddress, NoticeAddress.account_id == Account.id)
        .where(Account.id.in_(_concerned(new.campaign_id, new.team_id)), Account.disabled_at.is_(None))
        .order_by(Account.id)
    ).all()
    wanted = choices_of(connection, [row.id for row in people])
    rows = []
    for row in people:
        reached = {
            NoticeChannel.MAIL: mails and row.verified_at is not None,
            NoticeChannel.WEBHOOK: bool(row.webhook),
        }
        rows += [
            {"notice_id": notice, "account_id": row.id, "channel": channel}
            for channel, possible in reached.items()
            if possible and wanted[row.id][new.kind, channel]
        ]
    insert_ignore(connection, NoticeDelivery, rows)
    return notice


def _concerned(campaign_id: int, team_id: int | None):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """The members of a team; or of all teams of the campaign, with its organisers and viewers."""
    if team_id is not None:
        return select(Membership.account_id).where(Membership.team_id == team_id)
    return union(
        select(Membership.account_id)
        .join(Participation, Participation.team_id == Membership.team_id)
        .where(Participation.campaign_id == campaign_id),
        select(CampaignMember.account_id).where(CampaignMember.campaign_id == campaign_id),
    )
