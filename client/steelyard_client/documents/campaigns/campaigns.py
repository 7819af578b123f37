"""Campaigns and their rules."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.documents.paging import Page
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
    frozen_at: Timestamp | None
    """When it was frozen; null while it is not."""


class UnreadableCampaignResponse(Document):
    """A campaign that cannot be shown, because the database holds a value that this release does not know."""

    name: str
    """Its name, as URLs have it."""
    reason: str
    """What is wrong with it; "" for all but its organisers."""


class CampaignPage(Page[CampaignSummary]):
    """A page of campaigns, and the names of those that cannot be shown."""

    unreadable: list[UnreadableCampaignResponse]
    """Campaigns that would be among those of this page, but cannot be shown."""


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
    human_rule: str
    """The rule by which human judgments rank officially, such as human:wmt24; "" for no such ranking."""
    human_judgments: str
    """Which judgments: NAME for their newest version, or NAME@VERSION."""
    embeddable: bool = False
    """Whether other sites may show the leaderboard in a frame."""
    published: bool
    """Whether its results are published."""
    organises: bool
    """Whether the account is one of its organisers."""
    teams: list[str]
    """Your teams that take part."""
    at: Timestamp
    """The server's time of the response."""


class CampaignRules(Document):
    """Rules of a campaign; those that are left out stay as they are."""

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
    human_rule: str | None = Field(default=None, max_length=100)
    """The rule by which human judgments rank officially: human, human:wmt24, human:wmt25; "" for no such ranking."""
    human_judgments: str | None = Field(default=None, max_length=120)
    """Which judgments, NAME or NAME@VERSION; by default the only ones."""
    embeddable: bool | None = None
    """Whether other sites may show the leaderboard, as everybody sees it, in a frame."""


class CampaignUpdate(CampaignRules):
    """Changes to the rules of a campaign; omitted fields stay unchanged."""

    quota_phase: str | None = Field(default=None, max_length=100)
    """The phase that quotas count by, where the campaign plans no phases; "" for none."""


class CampaignCreate(CampaignRules):
    """A new campaign. By default it is private, and teams join by invitation."""

    name: str = Field(min_length=1, max_length=100)
    """Used in URLs; it never changes."""
    organiser: str = Field(default="", max_length=254)
    """E-mail address of an account that organises it, too."""
