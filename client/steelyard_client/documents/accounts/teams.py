"""Teams and their members."""

from __future__ import annotations

from pydantic import Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import TeamRole


class TeamResponse(Document):
    """A team."""

    id: int
    """Its number."""
    name: str = Field(description="Identifies the team; it never changes.")
    publication_name: str = Field(description='The public name; "" for `name`.')
    affiliation: str
    """The institution of the team; "" if not given."""
    created_at: Timestamp
    """When it was created."""
    members: int
    """Number of members."""


class TeamMemberResponse(Document):
    """A member of a team."""

    account_id: int
    """Number of the account."""
    email: str
    """E-mail address of the account."""
    name: str
    """Name of the person."""
    role: TeamRole
    """Role in the team."""
    joined_at: Timestamp
    """When the person joined."""


class TeamDetailsResponse(TeamResponse):
    """A team with its members and campaigns."""

    people: list[TeamMemberResponse]
    """Its members."""
    campaigns: list[str]
    """Names of the campaigns that it takes part in."""


class TeamCreate(Document):
    """A new team."""

    name: str = Field(max_length=1000)
    """Its name, unique on the server."""
    publication_name: str = Field("", max_length=1000)
    """Name of the team in publications."""
    affiliation: str = Field("", max_length=1000)
    """The institution of the team."""
    lead: str = Field("", max_length=1000, description="Address of the account that leads it; you, where it is empty.")


class TeamUpdate(Document):
    """Changes to a team; omitted fields stay unchanged."""

    publication_name: str | None = Field(None, max_length=1000)
    """Name of the team in publications."""
    affiliation: str | None = Field(None, max_length=1000)
    """The institution of the team."""


class TeamMemberCreate(Document):
    """An account to add to a team."""

    email: str = Field(max_length=1000)
    """E-mail address of the account."""
    role: TeamRole = TeamRole.MEMBER
    """Role in the team."""


class TeamMemberUpdate(Document):
    """The new role of a member."""

    role: TeamRole
    """Role in the team."""
