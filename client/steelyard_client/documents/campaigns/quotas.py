"""Quotas of a campaign, and their use."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.vocabulary import QuotaKind


class QuotaResponse(Document):
    """A limit on submissions."""

    campaign: str | None
    """The campaign that it is for; null for a limit that holds in each campaign."""
    team: str
    """"" for every team."""
    phase: str
    """"" for every phase."""
    kind: QuotaKind
    """What is limited."""
    amount: int | None
    """null for no limit; it overrides less specific quotas."""
    time_zone: str
    """For a daily limit: the time zone of its days."""


class GeneralQuotaUpdate(Document):
    """A limit to set for all campaigns."""

    model_config = ConfigDict(extra="forbid")

    kind: QuotaKind
    """What is limited."""
    amount: int | None = Field(ge=0, le=2**31 - 1)
    """The limit; null for no limit."""
    time_zone: str | None = Field(default=None, max_length=100)
    """Time zone in which days begin; null for that of the campaign, or of the limit so far."""


class QuotaUpdate(GeneralQuotaUpdate):
    """A limit to set, for a team, a phase, or all of them."""

    team: str = Field(default="", max_length=100)
    """Name of the team; "" for every team."""
    phase: str = Field(default="", max_length=100)
    """Name of the phase; "" for all phases."""


class QuotaUsageResponse(Document):
    """A team's use of one quota."""

    kind: QuotaKind
    """What is limited."""
    of_what: str
    """What is counted, in words."""
    used: int
    """How much is used."""
    amount: int | None
    """The limit; null for no limit."""
    full: bool
    """Whether it is used up."""
    free_at: Timestamp | None
    """When the quota frees up; null where that depends on running evaluations."""
    time_zone: str
    """Time zone in which its days begin."""


class RefundResponse(Document):
    """A submission that does not count against the quotas."""

    submission: int
    """Its number."""
    reason: str | None
    """Why; null where nothing was said."""


class TeamQuotasResponse(Document):
    """A team's use of its quotas in a campaign."""

    campaign: str
    """The campaign."""
    phase: str
    """The phase that counts now; "" where there is none."""
    usage: list[QuotaUsageResponse]
    """One for each kind of quota."""
    given_back: list[RefundResponse]
    """Submissions that do not count, because they failed through no fault of the team, or were cancelled."""
