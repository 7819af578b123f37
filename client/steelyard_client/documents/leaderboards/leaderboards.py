"""Leaderboards."""

from __future__ import annotations

from steelyard_client.documents.document import Document
from steelyard_client.documents.leaderboards.human_rankings import HumanPlace, HumanRule
from steelyard_client.vocabulary import Constrained, ResamplingUnit, SystemFilter, SystemOrigin


class LeaderboardSummary(Document):
    """A leaderboard of a campaign."""

    board: int
    """Its number, for the parameter `board`."""
    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    references: list[str]
    """Labels of the references."""
    metrics: list[str]
    """Specifications of the metrics."""
    replicates: int
    """Number of bootstrap replicates."""
    resample: ResamplingUnit
    """What they draw: segments, or whole documents."""
    replaced: bool
    """Whether its test set was replaced by a version with corrected references."""
    superseded: bool
    """Whether a newer leaderboard supersedes it."""


class ScoreInterval(Document):
    """Confidence interval of a score."""

    level: float
    """The confidence level, such as 0.95."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    kind: str
    """How the interval was computed."""
    n: int
    """Bootstrap replicates."""


class BoardScore(Document):
    """A system's score by one metric."""

    metric: str
    """Its specification."""
    title: str
    """Its title, as pages show it."""
    signature: str
    """The signature: everything that the score depends on."""
    higher_is_better: bool
    """Whether a higher score is better."""
    scale: float | None
    """The perfect score; null for an open-ended scale."""
    score: float | None
    """null where it is undefined; the mean where there are several runs."""
    interval: ScoreInterval | None
    """Its confidence interval; null where there is none."""
    runs: list[float | None]
    """The score of each run, where there are several."""
    details: dict[str, float]
    """Further figures of the metric, by name."""
    rank: int | None
    """This and the next four fields: by the ranking metric alone, unless all ranks are asked for; null where the system
    is not ranked."""
    rank_low: int | None
    """The best rank that the tests allow."""
    rank_high: int | None
    """The worst rank that the tests allow."""
    cluster: int | None
    """The number of its cluster, from 1."""
    wins: int | None
    """How many systems it beats significantly."""


class BoardSystem(Document):
    """A system on a leaderboard."""

    submission: int
    """The number that identifies it in comparisons."""
    submissions: list[int]
    """One for each run."""
    name: str
    """As pages show it."""
    team: str
    """"Team 7" where it is anonymous; "" for the organisers' own systems."""
    system: str | None
    """null where it would identify an anonymous team."""
    system_id: int | None = None
    """The number in its permanent address, /campaigns/NAME/systems/ID; null where you may not see that."""
    own: bool
    """Whether it belongs to a team of the account."""
    runs: list[str]
    """Labels of its runs."""
    runs_done: int
    """How many of its runs are evaluated."""
    state: str
    """State of its evaluation."""
    reason: str | None
    """Why it failed or was cancelled; null otherwise."""
    kind: str
    """primary, contrastive or ""."""
    ranked: bool
    """Whether it is ranked."""
    origin: SystemOrigin = SystemOrigin.TEAM
    """Whose it is: a team's, a baseline of the organisers, or an online system."""
    constrained: bool | None
    """Whether it used only the permitted data; null if not specified."""
    late_seconds: float
    """By how much it missed the deadline, in seconds; 0 if it was in time."""
    same_output_as: str | None
    """Name of a system with an identical output; null if there is none."""
    same_as_reference: str | None
    """Labels of references with the same text; null if there is none, and for all but organisers."""
    scores: list[BoardScore]
    """Empty until the evaluation is done."""
    human: HumanPlace | None
    """By human judgments, where they rank the campaign officially; null where it was not judged."""


class BoardRanking(Document):
    """How rank ranges and clusters were computed."""

    test: str
    """The significance test of the ranking."""
    draws: int
    """Replicates of each test."""
    alpha: float
    """The significance level."""
    correction: str
    """The correction for multiple tests."""
    fault: str | None
    """Why no test was possible, or what limits the tests."""
    testing: int
    """Pairs still being tested; ranges and clusters appear when it reaches 0. Ask again later."""


class SmallestDifference(Document):
    """The smallest true difference that the tests find in most such test sets, of the pairs of systems."""

    least: float
    """Of the pair that is easiest to tell apart."""
    median: float
    """The median over pairs."""
    largest: float
    """Of the pair that is hardest to tell apart."""


class NeighbourPower(Document):
    """Two systems next to each other, and whether the test set is large enough for their difference."""

    a: str
    """Name of the better one."""
    b: str
    """Name of the other."""
    difference: float
    """Score of b minus score of a."""
    smallest_difference: float | None
    """The smallest true difference that is found; null where nothing is known."""
    power: float | None
    """The probability of finding a true difference as large as this one; null where nothing is known."""
    segments_needed: int | None
    """How many segments find it; null where no number does."""
    enough: bool
    """Whether the test set is large enough for a difference as large as this one."""


class MetricPowerResponse(Document):
    """The statistical power of a test set by one metric."""

    metric: str
    """Specification of the metric."""
    smallest_difference: SmallestDifference | None
    """null where the replicates show no chance."""
    neighbours: list[NeighbourPower]
    """Systems next to each other by this metric."""


class PowerResponse(Document):
    """Which differences a test set is large enough to detect."""

    segments: int
    """Number of segments of the test set."""
    alpha: float | None
    """The level of the tests; null without metrics."""
    power: float | None
    """The probability with which a difference is to be found."""
    metrics: list[MetricPowerResponse]
    """By metric."""


class LeaderboardResponse(Document):
    """The systems of a campaign on one test set and list of references, best first."""

    campaign: str
    """Name of the campaign."""
    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    replaced: bool
    """Whether the test set was replaced by a version with corrected references."""
    references: list[str]
    """Labels of the references."""
    metrics: list[str]
    """Specifications of the metrics."""
    board: int
    """Number of the leaderboard."""
    replicates: int
    """Number of bootstrap replicates."""
    seed: int
    """Seed of the resampling."""
    resample: ResamplingUnit
    """What replicates draw: segments, or whole documents."""
    level: float
    """The confidence level of the intervals."""
    interval: str
    """How the intervals were computed: percentile or bca."""
    segments: int
    """Number of segments of the test set."""
    sorted_by: str
    """The metric that ranks."""
    shown: SystemFilter
    """Which systems are shown."""
    constrained: Constrained
    """Which systems are shown, by their training data."""
    ranking: BoardRanking
    """How rank ranges and clusters were computed."""
    human: HumanRule | None
    """How human judgments rank the campaign officially; null where they do not."""
    power: PowerResponse | None
    """Which differences the test set can detect; null unless asked for."""
    not_ranked: int
    """Number of unranked systems, shown or not; shown=all shows them."""
    notices: list[str]
    """Warnings about the scores, such as a tokenizer that does not fit the language."""
    total: int
    """Number of systems shown, on all pages together."""
    items: list[BoardSystem]
    """The systems of this page, best first."""
    next: str | None
    """Value of `after` for the next page; null on the last page."""
