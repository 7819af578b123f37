"""Tables of accounts, sessions, tokens, invitations, teams, and the audit log."""

from __future__ import annotations

from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from models.schema.base import Base, Key, Seconds, now
from models.schema.column_types import OneOf, Shaped
from models.schema.roles import CampaignRole, SiteRole, TeamRole
from models.schema.states import one_of


class Account(Base):
    """Somebody who can sign in."""

    __tablename__ = "account"
    __table_args__ = (CheckConstraint(one_of("role", SiteRole), name="role"),)

    id: Mapped[Key]
    email: Mapped[str] = mapped_column(String(254), unique=True)
    """Folded, so that two spellings are one account."""
    name: Mapped[str] = mapped_column(String(100))
    password_hash: Mapped[str | None] = mapped_column(String(200))
    """None until the first password is set."""
    role: Mapped[SiteRole] = mapped_column(OneOf(SiteRole), default=SiteRole.PARTICIPANT)
    verified_at: Mapped[Seconds | None]
    """When the e-mail address was confirmed."""
    claimed: Mapped[bool] = mapped_column(server_default=false(), default=False)
    """Whether its owner alone has said that the address is his: until it is confirmed, nobody gives it a role by it."""
    disabled_at: Mapped[Seconds | None]
    created_at: Mapped[Seconds] = mapped_column(default=now())


class WebSession(Base):
    """A browser that has signed in."""

    __tablename__ = "web_session"
    __table_args__ = (Index(None, "account_id"), Index(None, "expires_at"))

    id: Mapped[Key]
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    created_at: Mapped[Seconds] = mapped_column(default=now())
    seen_at: Mapped[Seconds] = mapped_column(default=now())
    expires_at: Mapped[Seconds]


class ApiToken(Base):
    """A program that acts for an account."""

    __tablename__ = "api_token"
    __table_args__ = (Index(None, "account_id"),)

    id: Mapped[Key]
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(100))
    scopes: Mapped[list[str]] = mapped_column(Shaped(list[str], "The scopes of a token"))
    created_at: Mapped[Seconds] = mapped_column(default=now())
    used_at: Mapped[Seconds | None]
    expires_at: Mapped[Seconds | None]
    revoked_at: Mapped[Seconds | None]


class Invitation(Base):
    """Lets one person sign up, or join a team or a campaign, once."""

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
    """Whose it is; "" for whoever has it."""
    mailed_hash: Mapped[str | None] = mapped_column(String(64))
    """Of the secret that was sent to the address, and to nobody else: who has it gets what is sent there."""
    role: Mapped[SiteRole] = mapped_column(OneOf(SiteRole), default=SiteRole.PARTICIPANT)
    """Of an account that is made with it."""
    team_id: Mapped[int | None] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"))
    team_role: Mapped[TeamRole | None] = mapped_column(OneOf(TeamRole))
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    campaign_role: Mapped[CampaignRole | None] = mapped_column(OneOf(CampaignRole))
    """None where the campaign is joined by the team."""
    made_by: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    created_at: Mapped[Seconds] = mapped_column(default=now())
    expires_at: Mapped[Seconds]
    used_at: Mapped[Seconds | None]
    used_by: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))


class Confirmation(Base):
    """A link that was sent to an address: it confirms the address, or lets a new password be set."""

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
    """Those who hand in together."""

    __tablename__ = "team"

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(100), unique=True)
    folded_name: Mapped[str] = mapped_column(String(400), unique=True)
    """`metrics.text.names.folded`: no two teams have names that people would take for the same."""
    publication_name: Mapped[str] = mapped_column(String(100), server_default="", default="")
    affiliation: Mapped[str] = mapped_column(String(200), server_default="", default="")
    created_at: Mapped[Seconds] = mapped_column(default=now())


class Membership(Base):
    """An account in a team."""

    __tablename__ = "membership"
    __table_args__ = (CheckConstraint(one_of("role", TeamRole), name="role"), Index(None, "account_id"))

    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[TeamRole] = mapped_column(OneOf(TeamRole), default=TeamRole.MEMBER)
    joined_at: Mapped[Seconds] = mapped_column(default=now())


class AuditEntry(Base):
    """One change."""

    __tablename__ = "audit_entry"
    __table_args__ = (Index(None, "campaign_id", "id"), Index(None, "account_id"))

    id: Mapped[Key]
    at: Mapped[Seconds] = mapped_column(default=now())
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    actor: Mapped[str] = mapped_column(String(300))
    """Who, in words that outlive the account: its address, or "command line"."""
    address: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """From which network address."""
    action: Mapped[str] = mapped_column(String(100))
    """Such as "campaign.extend" or "submission.withdraw"."""
    subject: Mapped[str] = mapped_column(String(400))
    """What was changed, such as "submission 12"."""
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id", ondelete="SET NULL"))
    details: Mapped[dict[str, Any]] = mapped_column(
        Shaped(dict[str, Any], "The details of an audit entry"), default=dict
    )
    """What was changed to what; never a secret, never a text of a test set."""
