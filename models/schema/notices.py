"""Tables of notices: what has happened, who wants to hear of it and how, and what was sent."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy import Text as LongString

from models.schema.base import Base, Key, Seconds, now
from models.schema.column_types import EnumText
from models.schema.declarative import Mapped, mapped_column
from models.schema.queue import Leased, lease_indexes
from models.schema.states import LeaseState, one_of
from steelyard_client.vocabulary import NoticeChannel, NoticeKind


class Notice(Base):
    """One thing that has happened in a campaign, for its teams, organisers and viewers, or for one of its teams."""

    __tablename__ = "notice"
    __table_args__ = (
        # Whoever finds out that it has happened, it is told once.
        UniqueConstraint("campaign_id", "key"),
        CheckConstraint(one_of("kind", NoticeKind), name="kind"),
        Index(None, "team_id"),
        Index(None, "account_id"),
    )

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    key: Mapped[str] = mapped_column(String(100))
    """Names what has happened within the campaign: "phase-3", "deadline-3-1764525600"."""
    kind: Mapped[NoticeKind] = mapped_column(EnumText(NoticeKind))
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"))
    """The only team that it is for; None for everybody inside."""
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    """Who wrote an announcement."""
    title: Mapped[str] = mapped_column(String(400))
    text: Mapped[str] = mapped_column(LongString)
    path: Mapped[str] = mapped_column(String(1000))
    """The page about it, from the root of the server."""
    until: Mapped[Seconds | None]
    """For scored and failed: the end of the last evaluation that it tells of; the next one tells of later ones."""
    created_at: Mapped[Seconds] = mapped_column(default=now())


class NoticeChoice(Base):
    """That somebody wants a kind of notice by a channel, or does not. Without a row the default applies."""

    __tablename__ = "notice_choice"
    __table_args__ = (
        CheckConstraint(one_of("kind", NoticeKind), name="kind"),
        CheckConstraint(one_of("channel", NoticeChannel), name="channel"),
    )

    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    kind: Mapped[NoticeKind] = mapped_column(EnumText(NoticeKind), primary_key=True)
    channel: Mapped[NoticeChannel] = mapped_column(EnumText(NoticeChannel), primary_key=True)
    wanted: Mapped[bool] = mapped_column(Boolean)


class NoticeAddress(Base):
    """The addresses by which notices reach somebody, and that are known to nobody else."""

    __tablename__ = "notice_address"
    __table_args__ = (UniqueConstraint("unsubscribe_secret"), UniqueConstraint("feed_secret"))

    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    unsubscribe_secret: Mapped[str] = mapped_column(String(64))
    """In the links of mails. It ends mails, and can do nothing else."""
    feed_secret: Mapped[str] = mapped_column(String(64))
    """In the address of the feed. It shows notices, and can do nothing else."""
    webhook: Mapped[str | None] = mapped_column(String(500))
    webhook_secret: Mapped[str | None] = mapped_column(String(64))
    """The key of the webhook's signatures. Shown once."""


class NoticeDelivery(Leased, Base):
    """Sending a notice to somebody by mail or to a webhook."""

    __tablename__ = "notice_delivery"
    __table_args__ = (
        UniqueConstraint("notice_id", "account_id", "channel"),
        CheckConstraint(one_of("state", LeaseState), name="state"),
        CheckConstraint(one_of("channel", NoticeChannel), name="channel"),
        Index(None, "account_id", "sent_at"),
        *lease_indexes("notice_delivery"),
    )

    notice_id: Mapped[int] = mapped_column(ForeignKey("notice.id", ondelete="CASCADE"))
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    channel: Mapped[NoticeChannel] = mapped_column(EnumText(NoticeChannel))
    sent_at: Mapped[Seconds | None]
    """When a mail was about to be given to the mail server: whatever happens then, it is not given to it again."""
