"""Roles of accounts, and properties of phases."""

from __future__ import annotations

from enum import StrEnum


class SiteRole(StrEnum):
    """The role of an account on the whole server; each includes those below it."""

    ADMINISTRATOR = "administrator"
    """Sees and does everything, and appoints organisers."""
    ORGANISER = "organiser"
    """Creates campaigns, and manages those in which it is an organiser."""
    PARTICIPANT = "participant"
    """Creates teams and submits for them."""
    VIEWER = "viewer"
    """Views what it was invited to."""


class CampaignRole(StrEnum):
    """The role of an account in one campaign, besides team membership."""

    ORGANISER = "organiser"
    VIEWER = "viewer"


class TeamRole(StrEnum):
    """The role of an account in a team."""

    LEAD = "lead"
    """Also invites and removes members."""
    MEMBER = "member"


class Scope(StrEnum):
    """What an API token may do, never more than its account."""

    READ = "read"
    SUBMIT = "submit"
    """Submit, declare and withdraw."""
    ORGANISE = "organise"
    """All other changes."""


class PhaseKind(StrEnum):
    """What a phase allows."""

    OPEN = "open"
    """Teams submit; everyone who sees the campaign sees the leaderboard."""
    BLIND = "blind"
    """Teams submit; feedback on their own scores follows the phase's rule, other teams' scores are hidden."""
    CLOSED = "closed"
    """No submissions; visibility is that of the preceding phase."""
    PUBLISHED = "published"
    """Results are public: scores, names and outputs, and references once the organisers release them."""


class Feedback(StrEnum):
    """The feedback that a team gets on its own scores in a phase."""

    FULL = "full"
    ROUNDED = "rounded"
    """Rounded to whole points (0 to 100), or to the phase's `feedback_step`."""
    INTERVAL = "interval"
    """Only the ends of the interval, rounded outwards to the step."""
    LADDER = "ladder"
    """The score only if it beats the team's best by the step; otherwise that best again (Blum & Hardt 2015)."""
    NONE = "none"


class LateRule(StrEnum):
    """What happens to submissions after the deadline of a phase, within its grace period."""

    REFUSE = "refuse"
    FLAG = "flag"
    """Accepted and marked as late."""


class Visibility(StrEnum):
    """Who may see that a campaign exists, and its pages."""

    PUBLIC = "public"
    """Everyone, even without an account."""
    PRIVATE = "private"
    """Its organisers, viewers and teams."""


class Joining(StrEnum):
    """How teams join a campaign."""

    OPEN = "open"
    """Any team can join."""
    INVITED = "invited"
    """By invitation from its organisers."""


class DeclaredKind(StrEnum):
    """A team's declared kind of a submission."""

    PRIMARY = "primary"
    """The one submission of this team on this test set that is ranked."""
    CONTRASTIVE = "contrastive"
    UNDECLARED = ""
