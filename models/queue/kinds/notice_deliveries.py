"""The life cycle of sending a notice. The scheduler sends them itself (`scheduler.notices.courier`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from models.notices.choices import choices_of
from models.queue.task_kind import Claim, LeasePolicy, TaskKind
from models.schema.accounts import Account
from models.schema.base import now
from models.schema.campaigns import Campaign
from models.schema.notices import Notice, NoticeAddress, NoticeDelivery
from runtime.settings import Settings
from steelyard_client.vocabulary import NoticeChannel, NoticeKind

LONGEST_DELAY = 3600.0
"""Maximum delay between two attempts, in seconds: a notice that comes a day late helps nobody."""

SPARE_SECONDS = 60.0
"""How much longer a lease lasts than a request may take, in seconds: mail servers are slower than webhooks."""


@dataclass(frozen=True, slots=True)
class ClaimedNotice(Claim):
    """A notice to somebody, under our lease."""

    channel: NoticeChannel
    account_id: int
    notice_id: int
    kind: NoticeKind
    campaign: str
    title: str
    text: str
    path: str
    email: str
    created_at: float
    moment: float
    """The time of this attempt, by the database's clock."""
    sent_at: float | None
    """When an earlier attempt was about to give the mail to the server."""
    webhook: str | None
    webhook_secret: str | None = field(repr=False)


def _load(connection: Connection, claim: Claim) -> ClaimedNotice | None:
    row = connection.execute(
        select(
            *(NoticeDelivery.channel, NoticeDelivery.account_id, NoticeDelivery.notice_id, NoticeDelivery.sent_at),
            *(Notice.kind, Notice.title, Notice.text, Notice.path, Notice.created_at, now().label("moment")),
            *(Campaign.name.label("campaign"), Account.email, Account.verified_at, Account.disabled_at),
            *(NoticeAddress.webhook, NoticeAddress.webhook_secret),
        )
        .join(Notice, Notice.id == NoticeDelivery.notice_id)
        .join(Campaign, Campaign.id == Notice.campaign_id)
        .join(Account, Account.id == NoticeDelivery.account_id)
        .outerjoin(NoticeAddress, NoticeAddress.account_id == Account.id)
        .where(NoticeDelivery.id == claim.key)
    ).one()
    wanted = choices_of(connection, [row.account_id])[row.account_id].get((row.kind, row.channel), False)
    reached = bool(row.webhook) if row.channel == NoticeChannel.WEBHOOK else row.verified_at is not None
    if row.disabled_at is not None or not wanted or not reached:
        # Somebody has said so since it was written.
        return None
    return ClaimedNotice(
        *claim.identity,
        channel=row.channel,
        account_id=row.account_id,
        notice_id=row.notice_id,
        kind=row.kind,
        campaign=row.campaign,
        title=row.title,
        text=row.text,
        path=row.path,
        email=row.email,
        created_at=row.created_at,
        moment=row.moment,
        sent_at=row.sent_at,
        webhook=row.webhook,
        webhook_secret=row.webhook_secret,
    )


def _log_fields(connection: Connection, key: int) -> dict[str, Any]:
    return {"notice": connection.scalar(select(NoticeDelivery.notice_id).where(NoticeDelivery.id == key))}


def _policy(settings: Settings) -> LeasePolicy:
    return LeasePolicy(
        settings.webhook_seconds + SPARE_SECONDS,
        settings.webhook_attempts,
        lambda attempts: min(settings.webhook_retry_seconds * 2.0 ** min(attempts - 1, 60), LONGEST_DELAY),
        setting="STEELYARD_WEBHOOK_ATTEMPTS",
    )


NOTICE_DELIVERY: TaskKind[ClaimedNotice, None] = TaskKind(
    name="notices",
    table=NoticeDelivery,
    message=None,
    run=None,
    load=_load,
    log_fields=_log_fields,
    policy=_policy,
)
