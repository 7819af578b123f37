"""Tables of campaigns: rules, phases, test sets, participants, declarations, quotas."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    UniqueConstraint,
    and_,
    false,
    text,
)
from sqlalchemy import Text as LongString

from models.schema.base import Base, Key, PartialIndex, Seconds, now
from models.schema.column_types import EnumText, JsonOf
from models.schema.declarative import Mapped, mapped_column
from models.schema.roles import CampaignRole, DeclaredKind, Feedback, Joining, LateRule, PhaseKind, Visibility
from models.schema.states import QuotaKind, one_of


class Campaign(Base):
    """Many submissions under one set of rules."""

    __tablename__ = "campaign"
    __table_args__ = (
        CheckConstraint(one_of("visibility", Visibility), name="visibility"),
        CheckConstraint(one_of("joining", Joining), name="joining"),
        Index(None, "folded_name", unique=True),
    )

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(200), unique=True)
    folded_name: Mapped[str | None] = mapped_column(String(800))
    """`steelyard.text.names.folded`: no two campaigns have names that people would confuse; None for older
    campaigns with a conflict."""
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The current phase as set by the organisers, for campaigns without rows of Phase; "" without phases."""
    title: Mapped[str] = mapped_column(String(200), server_default="", default="")
    """The title on pages; "" for the name."""
    description: Mapped[str] = mapped_column(LongString, server_default="", default="")
    """Plain text; empty lines separate paragraphs."""
    time_zone: Mapped[str] = mapped_column(String(100), server_default="UTC", default="UTC")
    """The time zone in which times are shown, and read if they name none."""
    visibility: Mapped[Visibility] = mapped_column(
        EnumText(Visibility), server_default=Visibility.PRIVATE, default=Visibility.PRIVATE
    )
    joining: Mapped[Joining] = mapped_column(EnumText(Joining), server_default=Joining.INVITED, default=Joining.INVITED)
    anonymous: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether other teams appear as "Team 7" until the results are published."""
    verified_only: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether only accounts with a confirmed address may submit."""
    ranked_by: Mapped[str] = mapped_column(String(500), server_default="", default="")
    """The specification of the metric that ranks; "" for the first one."""
    human_rule: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The rule by which human judgments rank systems officially, such as human:wmt24; "" for no such ranking."""
    human_judgments: Mapped[str] = mapped_column(String(120), server_default="", default="")
    """Which judgments of each test set: NAME for the newest version, or NAME@VERSION."""
    embeddable: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether other sites may show the leaderboard in a frame."""
    frozen_at: Mapped[Seconds | None]
    """The time since which submitting, declaring and withdrawing are suspended, whatever the phase."""
    created_at: Mapped[Seconds] = mapped_column(default=now())


class Phase(Base):
    """A period of a campaign with its own rules. The phase that began last is current; phases do not overlap."""

    __tablename__ = "phase"
    __table_args__ = (
        UniqueConstraint("campaign_id", "name"),
        UniqueConstraint("campaign_id", "starts_at"),
        CheckConstraint(one_of("kind", PhaseKind), name="kind"),
        CheckConstraint(one_of("feedback", Feedback), name="feedback"),
        CheckConstraint(one_of("late", LateRule), name="late"),
        CheckConstraint("ends_at IS NULL OR ends_at > starts_at", name="ends_at"),
    )

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(100))
    kind: Mapped[PhaseKind] = mapped_column(EnumText(PhaseKind))
    starts_at: Mapped[Seconds]
    ends_at: Mapped[Seconds | None]
    """The deadline: the first time that is too late. None without a deadline."""
    late: Mapped[LateRule] = mapped_column(EnumText(LateRule), server_default=LateRule.REFUSE, default=LateRule.REFUSE)
    grace_seconds: Mapped[float] = mapped_column(Double, server_default="0", default=0.0)
    """How long after the deadline late submissions are accepted and marked."""
    feedback: Mapped[Feedback] = mapped_column(EnumText(Feedback), server_default=Feedback.FULL, default=Feedback.FULL)
    """Used in blind phases only."""
    feedback_step: Mapped[float] = mapped_column(Double, server_default="1", default=1.0)
    """Points on the scale of 0 to 100 (for NIST: a hundredth of that)."""


class CampaignTestSet(Base):
    """A test set of a campaign: its name there, when outputs are accepted, and the visibility of its texts.

    There is one for every test set with a protocol or a submission in the campaign.
    """

    __tablename__ = "campaign_test_set"
    __table_args__ = (
        UniqueConstraint("campaign_id", "name", "version"),
        Index(None, "test_set_id"),
        Index(None, "replaced_by"),
        Index(None, "name"),
    )

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    version: Mapped[str] = mapped_column(String(50))
    """Counted within the campaign: different content under the same name is another version."""
    position: Mapped[int] = mapped_column(Integer, server_default="0", default=0)
    phase_id: Mapped[int | None] = mapped_column(ForeignKey("phase.id", ondelete="SET NULL"))
    """The only phase in which outputs are accepted and teams get the source; None for all."""
    references_released_at: Mapped[Seconds | None]
    """Since when everyone who sees the campaign may see the references; None while they are blind."""
    replaced_by: Mapped[int | None] = mapped_column(ForeignKey("test_set.id"))
    """The test set with corrected references that has replaced this one."""


def is_campaign_test_set(campaign_id: Any, test_set_id: Any) -> ColumnElement[bool]:
    """Join condition: the campaign's entry for the test set in these columns."""
    return and_(CampaignTestSet.campaign_id == campaign_id, CampaignTestSet.test_set_id == test_set_id)


class CampaignProtocol(Base):
    """A protocol of a campaign, possibly before its first submission."""

    __tablename__ = "campaign_protocol"
    __table_args__ = (Index(None, "protocol_id"),)

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"), primary_key=True)


class CampaignMember(Base):
    """An account that is an organiser or viewer of a campaign."""

    __tablename__ = "campaign_member"
    __table_args__ = (CheckConstraint(one_of("role", CampaignRole), name="role"), Index(None, "account_id"))

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[CampaignRole] = mapped_column(EnumText(CampaignRole), default=CampaignRole.ORGANISER)


class Participation(Base):
    """A team in a campaign."""

    __tablename__ = "participation"
    __table_args__ = (UniqueConstraint("campaign_id", "number"), Index(None, "team_id"))

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id"), primary_key=True)
    number: Mapped[int] = mapped_column(Integer)
    """A random number, so that the order of joining does not reveal "Team 7"."""
    joined_at: Mapped[Seconds] = mapped_column(default=now())


class CampaignTerms(Base):
    """One version of the terms of a campaign; the newest one holds. An empty text means that there are none now."""

    __tablename__ = "campaign_terms"
    __table_args__ = (UniqueConstraint("campaign_id", "version"),)

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    version: Mapped[int] = mapped_column(Integer)
    """From 1."""
    text: Mapped[str] = mapped_column(LongString)
    """In Markdown."""
    created_at: Mapped[Seconds] = mapped_column(default=now())


class TermsAcceptance(Base):
    """That somebody accepted a version of the terms for a team."""

    __tablename__ = "terms_acceptance"
    __table_args__ = (UniqueConstraint("terms_id", "team_id"), Index(None, "team_id"), Index(None, "account_id"))

    id: Mapped[Key]
    terms_id: Mapped[int] = mapped_column(ForeignKey("campaign_terms.id", ondelete="CASCADE"))
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id", ondelete="CASCADE"))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    """Who accepted them; None once the account is deleted."""
    accepted_at: Mapped[Seconds] = mapped_column(default=now())


class Correction(Base):
    """The replacement of a campaign's test set by one with corrected references, with everything recomputed."""

    __tablename__ = "correction"
    __table_args__ = (Index(None, "campaign_id"),)

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    old_test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    new_test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    reason: Mapped[str] = mapped_column(LongString)
    made_at: Mapped[Seconds] = mapped_column(default=now())


PRIMARY = text("kind = 'primary' AND withdrawn_at IS NULL")


class Declaration(Base):
    """A team's declaration about a submission. Submissions made by organisers' commands have none."""

    __tablename__ = "declaration"
    __table_args__ = (
        CheckConstraint(one_of("kind", DeclaredKind), name="kind"),
        # The columns beside `kind` are copies, with which the database enforces a single primary submission.
        PartialIndex(
            "uq_declaration_primary",
            *("campaign_id", "test_set_id", "team"),
            unique=True,
            where=PRIMARY,
        ),
        Index(None, "account_id"),
    )

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    team: Mapped[str] = mapped_column(String(100))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    """Who submitted it; None for the command line."""
    kind: Mapped[DeclaredKind] = mapped_column(
        EnumText(DeclaredKind), server_default="", default=DeclaredKind.UNDECLARED
    )
    constrained: Mapped[bool | None]
    """Whether only permitted training data was used; None if the team has not said."""
    description: Mapped[str] = mapped_column(LongString, server_default="", default="")
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The phase in which it was submitted."""
    late_seconds: Mapped[float] = mapped_column(Double, server_default="0", default=0.0)
    """Seconds after the deadline; 0 if it was in time."""
    withdrawn_at: Mapped[Seconds | None]


class SubmissionFindings(Base):
    """The findings of the checks on a submission."""

    __tablename__ = "submission_findings"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    findings: Mapped[list[dict[str, Any]]] = mapped_column(JsonOf(list[dict[str, Any]], "The findings on a submission"))
    """In the form of `campaigns.checks`; empty without findings."""


class LadderStep(Base):
    """The feedback on a submission under the Ladder rule: written once, when it is done."""

    __tablename__ = "ladder_step"
    __table_args__ = (Index(None, "protocol_id", "team"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"), primary_key=True)
    metric: Mapped[int] = mapped_column(Integer, primary_key=True)
    team: Mapped[str] = mapped_column(String(100))
    disclosed: Mapped[float | None] = mapped_column(Double)
    """On the metric's own scale; None where the score is undefined."""
    improved: Mapped[bool]


class Quota(Base):
    """A limit for a team in a campaign, for every team in a campaign, or for everything; optionally for one phase."""

    __tablename__ = "quota"
    __table_args__ = (
        CheckConstraint(one_of("kind", QuotaKind), name="kind"),
        CheckConstraint("amount >= 0", name="amount"),
        # Two indexes, since a unique index treats rows without a campaign as distinct.
        PartialIndex(
            "uq_quota_of_campaign",
            *("campaign_id", "team", "phase", "kind"),
            unique=True,
            where=text("campaign_id IS NOT NULL"),
        ),
        PartialIndex(
            "uq_quota_of_all",
            *("team", "phase", "kind"),
            unique=True,
            where=text("campaign_id IS NULL"),
        ),
    )

    id: Mapped[Key]
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    """None for every campaign."""
    team: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """"" for every team."""
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The phase of the campaign in which it applies; "" for always."""
    kind: Mapped[QuotaKind] = mapped_column(EnumText(QuotaKind))
    amount: Mapped[int | None] = mapped_column(Integer)
    """The limit for a team in a campaign; None for no limit, overriding less specific rows."""
    time_zone: Mapped[str] = mapped_column(String(100), server_default="UTC", default="UTC")
    """For a limit per day: the time zone that defines days, a name of the IANA database."""


class QuotaAccount(Base):
    """A team's quotas in a campaign. Submitting locks this row, so that submissions are processed one at a time."""

    __tablename__ = "quota_account"
    __table_args__ = (UniqueConstraint("campaign_id", "team"),)

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    team: Mapped[str] = mapped_column(String(100))


class UsageLogEntry(Base):
    """A submission that a team made itself, as quotas count them."""

    __tablename__ = "usage_log_entry"
    __table_args__ = (Index(None, "account_id", "created_at"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("quota_account.id", ondelete="CASCADE"))
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The campaign's phase when it was made."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    """When it was made: it counts for this day."""
    queued_at: Mapped[Seconds] = mapped_column(default=now())
    """When its team last had it queued. Later evaluations are the organisers' and do not count."""


class SubmissionRequest(Base):
    """An accepted request by the idempotency key of its sender: a repetition has no effect."""

    __tablename__ = "submission_request"
    __table_args__ = (Index(None, "submission_id"),)

    account_id: Mapped[int] = mapped_column(ForeignKey("quota_account.id", ondelete="CASCADE"), primary_key=True)
    request_key: Mapped[str] = mapped_column(String(200), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"))
