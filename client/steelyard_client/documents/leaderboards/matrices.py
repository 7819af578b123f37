"""The systems of a campaign over all of its test sets."""

from __future__ import annotations

from steelyard_client.documents.document import Document
from steelyard_client.vocabulary import Constrained, ResamplingUnit, SystemFilter, SystemOrigin


class MatrixTestSet(Document):
    """A column: a test set with the leaderboard that it is taken from."""

    board: int
    """Number of the leaderboard."""
    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    target_language: str
    """Code of the target language; "" where it is not known."""
    references: list[str]
    """Labels of the references."""
    metric: str
    """The metric that ranks here: its tokenizer may follow the language."""
    resample: ResamplingUnit
    """What replicates draw: segments, or whole documents."""
    segments: int
    """Number of segments of the test set."""
    systems: int
    """How many systems are ranked on it."""
    best: list[str]
    """The systems that no system is ranked before."""
    testing: int
    """Pairs still being tested; ranges and clusters appear when it reaches 0. Ask again later."""


class MatrixCell(Document):
    """A system on one test set."""

    score: float
    """Its score by the metric that ranks."""
    rank: int | None
    """Its rank there; null where it is not ranked."""
    rank_low: int | None
    """The best rank that the tests allow."""
    rank_high: int | None
    """The worst rank that the tests allow."""
    cluster: int | None
    """The number of its cluster, from 1."""


class MatrixSystem(Document):
    """A row: a system, under the name that leaderboards show."""

    name: str
    """As pages show it."""
    system_id: int | None = None
    """The number in its permanent address, /campaigns/NAME/systems/ID; null where you may not see that."""
    own: bool
    """Whether it belongs to a team of the account."""
    origin: SystemOrigin = SystemOrigin.TEAM
    """Whose it is: a team's, a baseline of the organisers, or an online system."""
    mean_rank: float | None
    """Over the test sets where it is ranked; null where it is nowhere."""
    autorank: float | None
    """The mean of its AutoRanks over the test sets that have one; null without any."""
    gaps: int
    """On how many of the test sets it has no rank."""
    cells: list[MatrixCell | None]
    """For each test set; null where the system has no score, which is never a score of 0."""


class MatrixResponse(Document):
    """The systems of a campaign by one metric over its test sets."""

    campaign: str
    """Name of the campaign."""
    metric: str
    """The metric that ranks, as leaderboards entitle it."""
    higher_is_better: bool
    """Whether a higher score is better."""
    scale: float | None
    """The perfect score; null for an open-ended scale."""
    shown: SystemFilter
    """Which systems are shown."""
    constrained: Constrained
    """Which systems are shown, by their training data."""
    sort: str
    """What rows are sorted by."""
    test_sets: list[MatrixTestSet]
    """The columns."""
    systems: list[MatrixSystem]
    """The rows."""
    left_out: list[str]
    """Test sets without a leaderboard by this metric."""
