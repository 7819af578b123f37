"""What people may be and do, and what phases of a campaign are like."""

from __future__ import annotations

from enum import StrEnum


class SiteRole(StrEnum):
    """What an account may do on the whole server; each may do what those below it may."""

    ADMINISTRATOR = "administrator"
    """Sees and does everything, and says who is an organiser."""
    ORGANISER = "organiser"
    """Sets up campaigns, and runs those in which it is an organiser; no others."""
    PARTICIPANT = "participant"
    """Founds teams and hands in for them."""
    VIEWER = "viewer"
    """Looks at what it was invited to."""


class CampaignRole(StrEnum):
    """What an account is in one campaign, beside being in a team of it."""

    ORGANISER = "organiser"
    VIEWER = "viewer"


class TeamRole(StrEnum):
    """What an account is in a team."""

    LEAD = "lead"
    """Also invites and removes members."""
    MEMBER = "member"


class Scope(StrEnum):
    """What an API token may be used for, never more than its account may do."""

    READ = "read"
    SUBMIT = "submit"
    """Hand in, declare and withdraw."""
    ORGANISE = "organise"
    """Everything else that changes something."""


class PhaseKind(StrEnum):
    """What happens in a phase."""

    OPEN = "open"
    """Teams hand in; everybody who sees the campaign sees the leaderboard."""
    BLIND = "blind"
    """Teams hand in; of their own scores they are told what the feedback of the phase allows, of others nothing."""
    CLOSED = "closed"
    """Nobody hands in any more; what is seen is as in the phase before it."""
    PUBLISHED = "published"
    """The results are out: scores, names and outputs, and references where the organisers have released them."""


class Feedback(StrEnum):
    """What a team is told of the scores of its own submissions in a phase."""

    FULL = "full"
    ROUNDED = "rounded"
    """To whole points (0 to 100), or to the phase's `feedback_step`."""
    INTERVAL = "interval"
    """Only the ends of the interval, rounded outwards to the step."""
    LADDER = "ladder"
    """The score only where it beats the team's best by the step; else that best again (Blum & Hardt 2015)."""
    NONE = "none"


class LateRule(StrEnum):
    """What becomes of a submission that comes after the deadline of a phase, within its grace."""

    REFUSE = "refuse"
    FLAG = "flag"
    """It is taken in and marked as late."""


class Visibility(StrEnum):
    """Who may see that a campaign exists, and its pages."""

    PUBLIC = "public"
    """Everybody, also without an account."""
    PRIVATE = "private"
    """Its organisers, viewers and teams."""


class Joining(StrEnum):
    """How teams come into a campaign."""

    OPEN = "open"
    """Any team joins by itself."""
    INVITED = "invited"
    """Organisers invite them."""


class DeclaredKind(StrEnum):
    """What a team says a submission is to it."""

    PRIMARY = "primary"
    """The one of this team on this test set that is ranked; there is at most one."""
    CONTRASTIVE = "contrastive"
    UNDECLARED = ""
