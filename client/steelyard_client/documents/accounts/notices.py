"""Notices, what of them somebody wants, and announcements."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import NoticeChannel, NoticeKind

MAX_SUBJECT_LENGTH = 200
MAX_ANNOUNCEMENT_LENGTH = 10_000


class NoticeResponse(Document):
    """One thing that has happened in a campaign."""

    id: int
    """Its number."""
    kind: NoticeKind
    """What it is about."""
    campaign: str
    """Name of the campaign."""
    team: str
    """The team that it is for; "" for everybody inside."""
    title: str
    """What has happened, on one line."""
    text: str
    """More about it, as plain text."""
    url: str
    """The page about it."""
    created_at: Timestamp
    """When it was written."""


class NoticeChoiceResponse(Document):
    """Whether somebody wants a kind of notice by a channel."""

    kind: NoticeKind
    """What notices are about."""
    channel: NoticeChannel
    """How they come."""
    wanted: bool
    """Whether they come."""


class NoticeSettingsResponse(Document):
    """What notices an account gets, and where."""

    choices: list[NoticeChoiceResponse]
    """For each kind and channel."""
    mails: bool
    """Whether the server sends mails, and the address of the account is confirmed."""
    feed: str
    """The address of the account's Atom feed, which nobody else knows."""
    webhook: str | None
    """Where notices are sent by POST as JSON; null for nowhere."""
    webhook_secret: str | None = None
    """The key of the signatures of a new webhook; shown once, when it is set."""


class NoticeSettingsUpdate(Document):
    """Changes to what notices an account gets; omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    choices: list[NoticeChoiceResponse] = Field(default=[], max_length=100)
    """Those that change."""
    webhook: str | None = Field(default=None, max_length=500)
    """A new address for notices, with a new key; "" for none."""
    renew_feed: bool = False
    """Give the feed another address; the old one shows nothing any more."""


class AnnouncementCreate(Document):
    """A text to all teams of a campaign, its organisers and viewers."""

    model_config = ConfigDict(extra="forbid")

    subject: str = Field(min_length=1, max_length=MAX_SUBJECT_LENGTH)
    """On one line."""
    text: str = Field(min_length=1, max_length=MAX_ANNOUNCEMENT_LENGTH)
    """Plain text."""
