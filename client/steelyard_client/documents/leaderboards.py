"""Leaderboards."""

from __future__ import annotations

from steelyard_client.documents.document import Document
from steelyard_client.vocabulary import Constrained, SystemFilter


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
    """This and the next four fields: only for the ranking metric; null where the system is not ranked."""
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
    own: bool
    """Whether it belongs to a team of the account."""
    runs: list[str]
    """Labels of its runs."""
    state: str
    """State of its evaluation."""
    reason: str | None
    """Why it failed or was cancelled; null otherwise."""
    kind: str
    """primary, contrastive or ""."""
    ranked: bool
    """Whether it is ranked."""
    constrained: bool | None
    """Whether it used only the permitted data; null if not specified."""
    late_seconds: float
    """By how much it missed the deadline, in seconds; 0 if it was in time."""
    same_output_as: str | None
    """Name of a system with an identical output; null if there is none."""
    scores: list[BoardScore]
    """Empty until the evaluation is done."""


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
