"""Campaigns that are over, and clones of them."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from steelyard_client.documents.campaigns.campaigns import MAX_TITLE_LENGTH
from steelyard_client.documents.campaigns.phases import DATETIME_FORMAT
from steelyard_client.documents.document import Document


class Winners(Document):
    """The best systems on a test set."""

    test_set: str
    """Name of the test set."""
    ranked_by: str
    """The rule for human judgments where these rank officially, or else the title of the metric."""
    systems: list[str]
    """The systems of the first cluster, or those of rank 1 where there are no clusters."""


class PastCampaign(Document):
    """A campaign whose results are published."""

    name: str
    """Its name, as URLs have it."""
    title: str
    """Its title."""
    year: int
    """The year in which its results were published."""
    pairs: list[str]
    """Language pairs of its test sets, such as en-cs; "?" for a language that is not known."""
    segments: int
    """Segments of its test sets together."""
    teams: int
    """How many teams took part."""
    winners: list[Winners]
    """The best systems on each test set."""


class CampaignClone(Document):
    """A new campaign with the rules of another one."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=100)
    """Used in URLs; it never changes."""
    title: str | None = Field(default=None, max_length=MAX_TITLE_LENGTH)
    """By default that of the old one."""
    starts: str = Field(default="", max_length=40, description=f'{DATETIME_FORMAT} "" for 52 weeks later, or 104, ...')
    """When its first phase begins."""
    test_sets: bool = True
    """With the test sets and what is measured on them; their references are not released."""
    teams: bool = False
    """With the teams: they are invited, or added by administrators."""
