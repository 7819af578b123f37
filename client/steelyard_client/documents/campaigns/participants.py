"""Teams and members of a campaign."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from steelyard_client.documents.document import Document
from steelyard_client.vocabulary import CampaignRole


class CampaignTeamResponse(Document):
    """A team of a campaign, as the account may see it."""

    name: str
    """Displayed name: its name, its publication name, or "Team 7"."""
    team: str | None
    """The team's name, as used for submitting; null where the account may not see it."""
    number: int | None
    """Drawn at random; null for a team that has not accepted its invitation yet."""


class CampaignTeamCreate(Document):
    """A team to add to a campaign."""

    model_config = ConfigDict(extra="forbid")

    team: str = Field(min_length=1, max_length=100)
    """Name of a team of the account."""


class CampaignMemberResponse(Document):
    """An organiser or viewer of a campaign."""

    account: int
    """Number of the account."""
    email: str
    """E-mail address of the account."""
    name: str
    """Name of the person."""
    role: CampaignRole
    """Role in the campaign."""


class CampaignMemberUpdate(Document):
    """An account, by its address, and its role in the campaign."""

    model_config = ConfigDict(extra="forbid")

    email: str = Field(min_length=3, max_length=254)
    """E-mail address of the account."""
    role: CampaignRole
    """Role in the campaign."""
