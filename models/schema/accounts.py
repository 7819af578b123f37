"""Tables of accounts, sessions, tokens, invitations, teams, and the audit log."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, UniqueConstraint, false

from models.schema.base import Base, Key, Seconds, now
from models.schema.column_types import EnumText, JsonOf
from models.schema.declarative import Mapped, mapped_column
from models.schema.roles import CampaignRole, SiteRole, TeamRole
from models.schema.states import one_of


class Account(Base):
    """A person who can sign in."""

    __tablename__ = "account"
    __table_args__ = (CheckConstraint(one_of("role", SiteRole), name="role"),)

    id: Mapped[Key]
    email: Mapped[str] = mapped_column(String(254), unique=True)
    """Case-folded, so that two spellings are one account."""
    name: Mapped[str] = mapped_column(String(100))
    password_hash: Mapped[str | None] = mapped_column(String(200))
    """None until the first password is set."""
    role: Mapped[SiteRole] = mapped_column(EnumText(SiteRole), default=SiteRole.PARTICIPANT)
    verified_at: Mapped[Seconds | None]
    """When the e-mail address was confirmed."""
    claimed: Mapped[bool] = mapped_column(server_default=false(), default=False)
    """Whether the address was only claimed by the account's owner: until it is confirmed, it grants no roles."""
    disabled_at: Mapped[Seconds | None]
    created_at: Mapped[Seconds] = mapped_column(default=now())


class WebSession(Base):
    """The session of a signed-in browser."""

    __tablename__ = "web_session"
    __table_args__ = (Index(None, "account_id"), Index(None, "expires_at"))

    id: Mapped[Key]
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    created_at: Mapped[Seconds] = mapped_column(default=now())
    seen_at: Mapped[Seconds] = mapped_column(default=now())
    expires_at: Mapped[Seconds]


class LinkedIdentity(Base):
    """An identity of a provider (OpenID Connect, GitHub) by which an account can be signed in to."""

    __tablename__ = "linked_identity"
    __table_args__ = (UniqueConstraint("issuer", "subject"), Index(None, "account_id"))

    id: Mapped[Key]
    issuer: Mapped[str] = mapped_column(String(200))
    """The address of the provider: a subject of another one is somebody else."""
    subject: Mapped[str] = mapped_column(String(255))
    """The provider's own key of the person, which never goes to another one."""
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """As the provider calls the person."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    used_at: Mapped[Seconds | None]


class ApiToken(Base):
    """A token for programs that act for an account."""

    __tablename__ = "api_token"
    __table_args__ = (Index(None, "account_id"),)

    id: Mapped[Key]
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(100))
    scopes: Mapped[list[str]] = mapped_column(JsonOf(list[str], "The scopes of a token"))
    created_at: Mapped[Seconds] = mapped_column(default=now())
    used_at: Mapped[Seconds | None]
    expires_at: Mapped[Seconds | None]
    revoked_at: Mapped[Seconds | None]


class Invitation(Base):
    """Allows one person to sign up, or to join a team or a campaign, once."""

    __tablename__ = "invitation"
    __table_args__ = (
        CheckConstraint(one_of("role", SiteRole), name="role"),
        CheckConstraint(f"team_role IS NULL OR {one_of('team_role', TeamRole)}", name="team_role"),
        CheckConstraint(f"campaign_role IS NULL OR {one_of('campaign_role', CampaignRole)}", name="campaign_role"),
        Index(None, "team_id"),
        Index(None, "campaign_id"),
        Index(None, "mailed_hash", unique=True),
    )

    id: Mapped[Key]
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    email: Mapped[str] = mapped_column(String(254), server_default="", default="")
    """The invited address; "" for whoever holds the invitation."""
    mailed_hash: Mapped[str | None] = mapped_column(String(64))
    """The hash of the secret that was sent to the address and nowhere else: its holder controls the address."""
    role: Mapped[SiteRole] = mapped_column(EnumText(SiteRole), default=SiteRole.PARTICIPANT)
    """The role of an account created with it."""
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"))
    team_role: Mapped[TeamRole | None] = mapped_column(EnumText(TeamRole))
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    campaign_role: Mapped[CampaignRole | None] = mapped_column(EnumText(CampaignRole))
    """None if the team joins the campaign."""
    made_by: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    created_at: Mapped[Seconds] = mapped_column(default=now())
    expires_at: Mapped[Seconds]
    used_at: Mapped[Seconds | None]
    used_by: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))


class Confirmation(Base):
    """A link sent to an address, to confirm the address or to set a new password."""

    __tablename__ = "confirmation"
    __table_args__ = (CheckConstraint("purpose IN ('address', 'password')", name="purpose"), Index(None, "account_id"))

    id: Mapped[Key]
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    purpose: Mapped[str] = mapped_column(String(16))
    email: Mapped[str] = mapped_column(String(254))
    """The address that it was sent to."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    expires_at: Mapped[Seconds]
    used_at: Mapped[Seconds | None]


class Team(Base):
    """A group of accounts that submits together."""

    __tablename__ = "team"

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(100), unique=True)
    folded_name: Mapped[str] = mapped_column(String(400), unique=True)
    """`steelyard.text.names.folded`: no two teams have names that people would confuse."""
    publication_name: Mapped[str] = mapped_column(String(100), server_default="", default="")
    affiliation: Mapped[str] = mapped_column(String(200), server_default="", default="")
    created_at: Mapped[Seconds] = mapped_column(default=now())


class Membership(Base):
    """An account in a team."""

    __tablename__ = "membership"
    __table_args__ = (CheckConstraint(one_of("role", TeamRole), name="role"), Index(None, "account_id"))

    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[TeamRole] = mapped_column(EnumText(TeamRole), default=TeamRole.MEMBER)
    joined_at: Mapped[Seconds] = mapped_column(default=now())


class AuditEntry(Base):
    """An entry of the audit log: one change."""

    __tablename__ = "audit_entry"
    __table_args__ = (Index(None, "campaign_id", "id"), Index(None, "account_id"))

    id: Mapped[Key]
    at: Mapped[Seconds] = mapped_column(default=now())
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    actor: Mapped[str] = mapped_column(String(300))
    """The actor in a form that outlives the account: an address, or "command line"."""
    address: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The network address of the request."""
    action: Mapped[str] = mapped_column(String(100))
    """Such as "campaign.extend" or "submission.withdraw"."""
    subject: Mapped[str] = mapped_column(String(400))
    """The object of the change, such as "submission 12"."""
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id", ondelete="SET NULL"))
    details: Mapped[dict[str, Any]] = mapped_column(
        JsonOf(dict[str, Any], "The details of an audit entry"), default=dict
    )
    """Old and new values; never secrets, never texts of a test set."""
