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
from sqlalchemy.orm import Mapped, mapped_column

from models.schema.base import Base, Key, Seconds, now
from models.schema.column_types import OneOf, Shaped
from models.schema.roles import CampaignRole, DeclaredKind, Feedback, Joining, LateRule, PhaseKind, Visibility
from models.schema.states import QuotaKind, one_of


class Campaign(Base):
    """Many submissions under one set of rules, known by a name."""

    __tablename__ = "campaign"
    __table_args__ = (
        CheckConstraint(one_of("visibility", Visibility), name="visibility"),
        CheckConstraint(one_of("joining", Joining), name="joining"),
        Index(None, "folded_name", unique=True),
    )

    id: Mapped[Key]
    name: Mapped[str] = mapped_column(String(200), unique=True)
    folded_name: Mapped[str | None] = mapped_column(String(800))
    """`metrics.text.names.folded`: no two campaigns have names that people would take for the same; None where two had
    before that was so."""
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """What its organisers call the time it is in now, where it has no rows of Phase; "" where it has no phases."""
    title: Mapped[str] = mapped_column(String(200), server_default="", default="")
    """What pages call it; "" for its name."""
    description: Mapped[str] = mapped_column(LongString, server_default="", default="")
    """Plain text; an empty line parts paragraphs."""
    time_zone: Mapped[str] = mapped_column(String(100), server_default="UTC", default="UTC")
    """In which its times are shown, and read where they name none."""
    visibility: Mapped[Visibility] = mapped_column(
        OneOf(Visibility), server_default=Visibility.PRIVATE, default=Visibility.PRIVATE
    )
    joining: Mapped[Joining] = mapped_column(OneOf(Joining), server_default=Joining.INVITED, default=Joining.INVITED)
    anonymous: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether other teams stand as "Team 7" until the results are published."""
    verified_only: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    """Whether only accounts with a confirmed address hand in."""
    ranked_by: Mapped[str] = mapped_column(String(500), server_default="", default="")
    """The specification of the metric that ranks; "" for the first one."""
    frozen_at: Mapped[Seconds | None]
    """Since when nothing is handed in, declared or withdrawn, whatever the phases say."""
    created_at: Mapped[Seconds] = mapped_column(default=now())


class Phase(Base):
    """A time of a campaign with its own rules. The one that began last holds; phases do not overlap."""

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
    kind: Mapped[PhaseKind] = mapped_column(OneOf(PhaseKind))
    starts_at: Mapped[Seconds]
    ends_at: Mapped[Seconds | None]
    """The deadline: the first moment at which it is too late. None for no deadline."""
    late: Mapped[LateRule] = mapped_column(OneOf(LateRule), server_default=LateRule.REFUSE, default=LateRule.REFUSE)
    grace_seconds: Mapped[float] = mapped_column(Double, server_default="0", default=0.0)
    """How long after the deadline late submissions are still taken in, where they are only flagged."""
    feedback: Mapped[Feedback] = mapped_column(OneOf(Feedback), server_default=Feedback.FULL, default=Feedback.FULL)
    """Looked at in blind phases only."""
    feedback_step: Mapped[float] = mapped_column(Double, server_default="1", default=1.0)
    """Points on the scale of 0 to 100 (NIST: a hundredth of that)."""


class CampaignTestSet(Base):
    """A test set of a campaign: what it is called there, when its outputs are wanted, and who may see what is in it.

    There is one for every test set on which the campaign measures anything, or for which it has a submission.
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
    """Counted in the campaign: other content under the same name is another version."""
    position: Mapped[int] = mapped_column(Integer, server_default="0", default=0)
    phase_id: Mapped[int | None] = mapped_column(ForeignKey("phase.id", ondelete="SET NULL"))
    """The only phase in which outputs for it are taken, and teams get its source; None for all."""
    references_released_at: Mapped[Seconds | None]
    """Since when its references may be seen by all who see the campaign; None while they are blind."""
    replaced_by: Mapped[int | None] = mapped_column(ForeignKey("test_set.id"))
    """The test set with corrected references that stands for it now."""


def called_there(campaign_id: Any, test_set_id: Any) -> ColumnElement[bool]:
    """What joins a campaign's test set by these columns."""
    return and_(CampaignTestSet.campaign_id == campaign_id, CampaignTestSet.test_set_id == test_set_id)


class CampaignProtocol(Base):
    """A way in which a campaign measures, also before its first submission."""

    __tablename__ = "campaign_protocol"
    __table_args__ = (Index(None, "protocol_id"),)

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"), primary_key=True)


class CampaignMember(Base):
    """An account that organises a campaign, or may look at it."""

    __tablename__ = "campaign_member"
    __table_args__ = (CheckConstraint(one_of("role", CampaignRole), name="role"), Index(None, "account_id"))

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[CampaignRole] = mapped_column(OneOf(CampaignRole), default=CampaignRole.ORGANISER)


class Participation(Base):
    """A team in a campaign."""

    __tablename__ = "participation"
    __table_args__ = (UniqueConstraint("campaign_id", "number"), Index(None, "team_id"))

    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"), primary_key=True)
    team_id: Mapped[int] = mapped_column(ForeignKey("team.id"), primary_key=True)
    number: Mapped[int] = mapped_column(Integer)
    """Drawn by lot, so that the order of joining tells nobody who "Team 7" is."""
    joined_at: Mapped[Seconds] = mapped_column(default=now())


class Correction(Base):
    """A test set of a campaign was replaced by one with corrected references, and everything measured anew."""

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
    """What a team says about a submission. A submission without one was stored by organisers' commands."""

    __tablename__ = "declaration"
    __table_args__ = (
        CheckConstraint(one_of("kind", DeclaredKind), name="kind"),
        # The columns beside `kind` are copies, so that the database itself sees to it that there is one primary.
        Index(
            "uq_declaration_primary",
            *("campaign_id", "test_set_id", "team"),
            unique=True,
            postgresql_where=PRIMARY,
            sqlite_where=PRIMARY,
        ),
        Index(None, "account_id"),
    )

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    test_set_id: Mapped[int] = mapped_column(ForeignKey("test_set.id"))
    team: Mapped[str] = mapped_column(String(100))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("account.id", ondelete="SET NULL"))
    """Who handed it in; None for the command line."""
    kind: Mapped[DeclaredKind] = mapped_column(OneOf(DeclaredKind), server_default="", default=DeclaredKind.UNDECLARED)
    constrained: Mapped[bool | None]
    """Whether only the data that the campaign allows were used; None where the team has not said."""
    description: Mapped[str] = mapped_column(LongString, server_default="", default="")
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The phase in which it was handed in."""
    late_seconds: Mapped[float] = mapped_column(Double, server_default="0", default=0.0)
    """How long after the deadline it came; 0 where it was in time."""
    withdrawn_at: Mapped[Seconds | None]


class Diagnosis(Base):
    """What was noticed about a submission when it came."""

    __tablename__ = "diagnosis"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    findings: Mapped[list[dict[str, Any]]] = mapped_column(
        Shaped(list[dict[str, Any]], "What was noticed about a submission")
    )
    """As `campaigns.checks` writes them; empty where there is nothing to say."""


class LadderStep(Base):
    """What a team was told of a submission by the Ladder rule: written once, when it is done."""

    __tablename__ = "ladder_step"
    __table_args__ = (Index(None, "protocol_id", "team"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    protocol_id: Mapped[int] = mapped_column(ForeignKey("protocol.id"), primary_key=True)
    metric: Mapped[int] = mapped_column(Integer, primary_key=True)
    team: Mapped[str] = mapped_column(String(100))
    told: Mapped[float | None] = mapped_column(Double)
    """On the metric's own scale; None where its score is undefined."""
    improved: Mapped[bool]


class Quota(Base):
    """One limit: for a campaign and a team, for a campaign and every team, or for everything; perhaps in one phase."""

    __tablename__ = "quota"
    __table_args__ = (
        CheckConstraint(one_of("kind", QuotaKind), name="kind"),
        CheckConstraint("amount >= 0", name="amount"),
        # Two, since no two rows without a campaign would be the same to a database.
        Index(
            "uq_quota_of_campaign",
            *("campaign_id", "team", "phase", "kind"),
            unique=True,
            postgresql_where=text("campaign_id IS NOT NULL"),
            sqlite_where=text("campaign_id IS NOT NULL"),
        ),
        Index(
            "uq_quota_of_all",
            *("team", "phase", "kind"),
            unique=True,
            postgresql_where=text("campaign_id IS NULL"),
            sqlite_where=text("campaign_id IS NULL"),
        ),
    )

    id: Mapped[Key]
    campaign_id: Mapped[int | None] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    """None means every campaign."""
    team: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """"" means every team."""
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The phase of the campaign in which it holds; "" means always."""
    kind: Mapped[QuotaKind] = mapped_column(OneOf(QuotaKind))
    amount: Mapped[int | None] = mapped_column(Integer)
    """The most that a team may have in a campaign; None means no limit, whatever less specific rows say."""
    time_zone: Mapped[str] = mapped_column(String(100), server_default="UTC", default="UTC")
    """Of a limit per day: where days begin and end, a name of the IANA database."""


class QuotaAccount(Base):
    """A team in a campaign. Whoever submits for it locks this row: one after the other."""

    __tablename__ = "quota_account"
    __table_args__ = (UniqueConstraint("campaign_id", "team"),)

    id: Mapped[Key]
    campaign_id: Mapped[int] = mapped_column(ForeignKey("campaign.id", ondelete="CASCADE"))
    team: Mapped[str] = mapped_column(String(100))


class LedgerEntry(Base):
    """A submission that a team has made by itself."""

    __tablename__ = "ledger_entry"
    __table_args__ = (Index(None, "account_id", "created_at"),)

    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("quota_account.id", ondelete="CASCADE"))
    phase: Mapped[str] = mapped_column(String(100), server_default="", default="")
    """The phase of the campaign in which it was made."""
    created_at: Mapped[Seconds] = mapped_column(default=now())
    """When it was made: the day that it counts for."""
    queued_at: Mapped[Seconds] = mapped_column(default=now())
    """When its team had it queued last. Evaluations that were added later are the organisers' and change nothing."""


class SubmissionRequest(Base):
    """A request that was taken in, by the key that its sender gave it: sent again, it is not done again."""

    __tablename__ = "submission_request"
    __table_args__ = (Index(None, "submission_id"),)

    account_id: Mapped[int] = mapped_column(ForeignKey("quota_account.id", ondelete="CASCADE"), primary_key=True)
    request_key: Mapped[str] = mapped_column(String(200), primary_key=True)
    submission_id: Mapped[int] = mapped_column(ForeignKey("submission.id", ondelete="CASCADE"))
