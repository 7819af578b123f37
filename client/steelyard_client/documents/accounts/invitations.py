"""Invitations to the server, to teams and to campaigns."""

from __future__ import annotations

from pydantic import Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import CampaignRole, SiteRole, TeamRole


class InvitationResponse(Document):
    """An invitation, without its secret."""

    id: int
    """Its number."""
    email: str = Field(description='The address that may accept it; "" for anyone with the link.')
    role: SiteRole = Field(description="The role of an account created with it.")
    team: str | None
    """Name of the team; null where it is not for a team."""
    team_role: TeamRole | None
    """The role in the team."""
    campaign: str | None
    """Name of the campaign; null where it is not for a campaign."""
    campaign_role: CampaignRole | None = Field(description="Null for an invitation of a team to take part.")
    made_by: str | None
    """Who made it."""
    created_at: Timestamp
    """When it was created."""
    expires_at: Timestamp
    """When it expires; null for never."""
    used_at: Timestamp | None
    """When it was accepted; null before."""
    used_by: str | None
    """Who accepted it; null before."""
    alive: bool = Field(description="Whether it can be accepted now.")


class InvitationCreate(Document):
    """A new invitation: to a team, to a campaign, or only to the server."""

    email: str = Field("", max_length=1000, description="If given, only this address can accept it.")
    role: SiteRole = SiteRole.PARTICIPANT
    """The role that it gives: in the campaign, or on the server."""
    team: str = Field("", max_length=1000)
    """Name of a team that the invited person joins."""
    team_role: TeamRole = TeamRole.MEMBER
    """The role in that team."""
    campaign: str = Field("", max_length=1000)
    """Name of a campaign that the invited person gets a role in."""
    campaign_role: CampaignRole | None = Field(None, description="Null to invite a team to take part.")


class InvitationCreatedResponse(Document):
    """A new invitation and its link, which cannot be shown again."""

    id: int
    """Its number."""
    link: str
    """The link; it cannot be shown again."""
    mailed: bool = Field(description="Whether the mail server accepted a mail to the address, with its own link.")
    not_mailed: str = Field(description='Why no mail was sent; "" where one was sent, or no address was given.')
    expires_at: Timestamp
    """When it expires; null for never."""


class InvitationAcceptedResponse(Document):
    """The team and campaign that the account has joined."""

    team: str | None
    """The team that the account is now a member of; null for none."""
    campaign: str | None
    """The campaign that the account now has a role in; null for none."""


class InvitationAccept(Document):
    """The secret (the last part of the link), and the team if one is needed."""

    secret: str = Field(max_length=200)
    """The last part of the link of the invitation."""
    team: str = Field("", max_length=1000, description="A team that you lead, where the invitation requires a team.")
    new_team: str = Field("", max_length=1000, description="Or the name of a team to create.")
