"""The words of the API: roles, states, and choices of parameters."""

from __future__ import annotations

from enum import StrEnum

RANKED = (
    "Each team's primary submission is ranked or, without one, its last submission that is not declared contrastive."
)
"""The rule of leaderboards, for people."""


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


class EvaluationState(StrEnum):
    """`queued -> running -> reducing -> done`, or `failed` with a reason, or `cancelled`."""

    QUEUED = "queued"
    RUNNING = "running"
    REDUCING = "reducing"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OPEN = (EvaluationState.QUEUED, EvaluationState.RUNNING, EvaluationState.REDUCING)
"""States of an evaluation that can still change."""


class PriorityClass(StrEnum):
    """Priority class of work in the queue; earlier ones go first."""

    INTERACTIVE = "interactive"
    """Somebody waits for it."""
    CAMPAIGN = "campaign"
    """Whole campaigns."""
    NIGHTLY = "nightly"
    """Nobody waits for it."""


class QuotaKind(StrEnum):
    """What a quota limits: a team's submissions in a campaign."""

    IN_FLIGHT = "in_flight"
    """With open evaluations."""
    PER_DAY = "per_day"
    """In a calendar day."""
    PER_PHASE = "per_phase"
    """In the campaign's current phase."""


class SystemFilter(StrEnum):
    """Which systems are shown."""

    RANKED = "ranked"
    """The ranked one of each team, and the organisers' own."""
    ALL = "all"
    """Also contrastive ones and those that a later one has replaced; they have no rank."""


class Grouping(StrEnum):
    """What segments are grouped by, for scores of parts of a test set."""

    DOCUMENT = "document"
    DOMAIN = "domain"
    LENGTH = "length"
    """The mean length of a segment's references: in words, or in characters where words are not separated."""


class Granularity(StrEnum):
    """What human judgments are compared with."""

    SYSTEM = "system"
    """Scores of systems."""
    SEGMENT = "segment"
    """Scores of segments."""
    BOTH = "both"


class Average(StrEnum):
    """The average that ranks systems whose scores are shown by group."""

    MICRO = "micro"
    """The score on the whole test set: long groups count more."""
    MACRO = "macro"
    """The plain mean of the scores of all groups: each counts alike, as WMT24 averages domains."""


class Constrained(StrEnum):
    """Which systems are shown, by their training data."""

    ANY = ""
    YES = "yes"
    NO = "no"
    """Also those whose teams have not specified it."""


class SignificanceTest(StrEnum):
    """The kind of significance test."""

    __test__ = False

    BOOTSTRAP = "bootstrap"
    """From the stored replicates."""
    RANDOMIZATION = "randomization"
    """From trials that workers compute on demand."""


class ResamplingUnit(StrEnum):
    """What replicates draw and tests exchange."""

    SEGMENT = "segment"
    """Single segments."""
    DOCUMENT = "document"
    """Whole documents, whose segments are alike."""


class IntervalKind(StrEnum):
    """How intervals are computed from bootstrap replicates."""

    PERCENTILE = "percentile"
    BCA = "bca"
    """Bias-corrected and accelerated."""


class PValueCorrection(StrEnum):
    """The correction of p-values for the number of pairs. The default is that of the leaderboard."""

    NONE = "none"
    HOLM = "holm"
    BH = "bh"


class Order(StrEnum):
    """The order of segments."""

    NUMBER = "number"
    """As in the test set."""
    DIFFERENCE = "difference"
    """The largest difference between the first two chosen systems first, in either direction."""
    FIRST_BETTER = "first-better"
    """The largest advantage of the first over the second."""
    SECOND_BETTER = "second-better"
    WORST = "worst"
    """The lowest average of the chosen systems."""
    BEST = "best"


class SystemOrigin(StrEnum):
    """Whose a system of a campaign is."""

    TEAM = "team"
    """A participant's."""
    BASELINE = "baseline"
    """The organisers' baseline."""
    ONLINE = "online"
    """An online system, whose output the organisers fetched."""


ORIGINS = {SystemOrigin.BASELINE: "baseline", SystemOrigin.ONLINE: "online system"}
"""Origin -> the mark beside names of systems that no participant has sent."""


class Weights(StrEnum):
    """Whether others can run a system."""

    UNKNOWN = ""
    OPEN = "open"
    """Its weights can be had."""
    CLOSED = "closed"


class NoticeKind(StrEnum):
    """What a notice is about."""

    SCORED = "scored"
    """Submissions of a team were scored."""
    FAILED = "failed"
    """Submissions of a team could not be scored."""
    DEADLINE = "deadline"
    """A deadline is less than 24 hours away."""
    PHASE = "phase"
    """A phase has begun."""
    RESULTS = "results"
    """The results are published."""
    CORRECTION = "correction"
    """References were corrected, and everything scored again."""
    ANNOUNCEMENT = "announcement"
    """The organisers write to all teams."""


class NoticeChannel(StrEnum):
    """How a notice reaches somebody."""

    MAIL = "mail"
    WEBHOOK = "webhook"
    FEED = "feed"


class WordMark(StrEnum):
    """What became of a run of words, as `steelyard.inspection.marks.Mark` says it."""

    SAME = "same"
    """In both, in the same order."""
    MOVED = "moved"
    """In both, elsewhere."""
    ALONE = "alone"
    """Only here."""
    UNMARKED = "unmarked"
    """Not compared."""


def remark(
    same_output_as: str, kind: str, *, ranked: bool, late: bool, origin: SystemOrigin = SystemOrigin.TEAM
) -> str:
    """Return a remark on a system with scores: same output, not ranked, late, whose it is; "" without any."""
    standing = "" if ranked else "contrastive" if kind == DeclaredKind.CONTRASTIVE else "not ranked"
    said = (
        f"same output as {same_output_as}" if same_output_as else "",
        standing,
        "late" if late else "",
        ORIGINS.get(origin, ""),
    )
    return ", ".join(filter(None, said))


class AnnotationTool(StrEnum):
    """A program in which people judge outputs."""

    APPRAISE = "appraise"
    PEARMUT = "pearmut"


class AnnotationProtocol(StrEnum):
    """How people judge outputs."""

    ESA = "esa"
    """Mark errors, and score each output."""
    CESA = "cesa"
    """The same, with outputs of several systems beside each other."""
    MQM = "mqm"
    """Mark errors with severities and categories."""
    DA = "da"
    """Score each output, and in Appraise each document."""


class TaskAssignment(StrEnum):
    """Who judges what, in Pearmut."""

    DYNAMIC = "dynamic"
    """All documents are for everybody, by systems that are chosen from the scores so far."""
    TASK_BASED = "task-based"
    """Everybody has documents of their own; together every document by every system."""


def level_words(*, worse: bool, counts: bool, new: bool) -> str:
    """Return the direction of a lasting change, and whether it is new or too small to count."""
    direction = "worse" if worse else "better"
    return direction + (", new" if new and counts else "" if counts else ", too little to count")


class ExportLayout(StrEnum):
    """How an exported campaign is laid out."""

    CAMPAIGN = "campaign"
    """Everything: tables, texts and settings."""
    MT_METRICS_EVAL = "mt-metrics-eval"
    """Texts, scores of metrics and human scores of many pairs, as the metrics tasks of WMT have them."""


def compared_to_leaderboard(test: str, correction: str) -> str:
    """A sentence that relates displayed tests to those of the leaderboard."""
    if correction != PValueCorrection.NONE:
        return "This is stricter than the leaderboard, whose tests are not corrected for their number."
    often = "about 5 of 100 pairs of equally good systems are marked by chance"
    if test != SignificanceTest.BOOTSTRAP:
        return f"The leaderboard uses the paired bootstrap. Neither corrects for the number of pairs: {often}."
    return f"This is the rule of the leaderboard, which does not correct for the number of pairs: {often}."
