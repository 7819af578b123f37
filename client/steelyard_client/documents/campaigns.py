"""Campaigns and their rules."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import Joining, Visibility

MAX_TITLE_LENGTH = 200
MAX_DESCRIPTION_LENGTH = 20_000


class CampaignSummary(Document):
    """A campaign in a list."""

    name: str
    """Its name, as URLs have it."""
    title: str
    """Its title, as pages show it."""
    visibility: Visibility
    """Who may see the campaign."""
    phase: str | None
    """The current phase; null before the first one, and without phases."""
    takes_submissions: bool
    """Whether teams can submit now."""
    deadline: Timestamp | None
    """Deadline of the current phase."""


class CampaignResponse(CampaignSummary):
    """A campaign with its rules.

    For organisers the response has an ETag, which changes with the rules, phases, test sets and protocols.
    """

    description: str
    """What it is about: plain text, with an empty line between paragraphs."""
    time_zone: str
    """Time zone of its deadlines, a name of the IANA database."""
    joining: Joining
    """How teams join."""
    anonymous: bool
    """Whether teams are anonymous until the results are published."""
    verified_only: bool
    """Whether submitting requires a confirmed e-mail address."""
    ranked_by: str
    """The ranking metric; "" for the first one."""
    frozen_at: Timestamp | None
    """When it was frozen; null while it is not."""
    published: bool
    """Whether its results are published."""
    organises: bool
    """Whether the account is one of its organisers."""
    teams: list[str]
    """Your teams that take part."""
    at: Timestamp
    """The server's time of the response."""


class CampaignUpdate(Document):
    """Changes to the rules of a campaign; omitted fields stay unchanged."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = Field(default=None, max_length=MAX_TITLE_LENGTH)
    """Its title."""
    description: str | None = Field(default=None, max_length=MAX_DESCRIPTION_LENGTH)
    """Plain text; an empty line separates paragraphs."""
    time_zone: str | None = Field(default=None, max_length=100)
    """A name of the IANA database, such as Europe/Prague."""
    visibility: Visibility | None = None
    """Who may see it."""
    joining: Joining | None = None
    """How teams join."""
    anonymous: bool | None = None
    """Whether other teams appear as "Team 7" until the results are published."""
    verified_only: bool | None = None
    """Whether submitting requires a confirmed e-mail address."""
    ranked_by: str | None = Field(default=None, max_length=500)
    """The ranking metric; "" for the first one."""


class CampaignCreate(CampaignUpdate):
    """A new campaign. By default it is private, and teams join by invitation."""

    name: str = Field(min_length=1, max_length=100)
    """Used in URLs; it never changes."""
