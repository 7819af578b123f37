"""Pairwise comparisons of systems."""

from __future__ import annotations

from pydantic import Field

from steelyard_client.documents.document import Document
from steelyard_client.documents.leaderboards.leaderboards import ScoreInterval
from steelyard_client.vocabulary import DeclaredKind, IntervalKind, PValueCorrection, ResamplingUnit, SignificanceTest


class ComparedScore(Document):
    """The score of a compared system by one metric."""

    metric: str
    """Specification of the metric."""
    title: str
    """Its title."""
    signature: str
    """The signature: everything that the score depends on."""
    higher_is_better: bool
    """Whether a higher score is better."""
    scale: float | None
    """The perfect score; null for an open-ended scale."""
    score: float | None
    """The score, the mean of several runs; null where it is undefined."""
    interval: ScoreInterval | None
    """Confidence interval of the score; null where there is none."""
    runs: list[float | None]
    """The score of each run; empty for a single run."""


class ComparedSystem(Document):
    """A system that is compared."""

    submission: int
    """Number of its last submission."""
    submissions: list[int]
    """Numbers of the submissions of its runs."""
    name: str
    """Displayed name."""
    team: str
    """Displayed name of the team; "" for the organisers' own systems."""
    system: str | None
    """Name of the system; null where it would reveal an anonymous team."""
    runs: list[str]
    """Labels of its runs; empty for a single run."""
    kind: DeclaredKind
    """primary, contrastive or ""."""
    ranked: bool
    """Whether it is ranked on the leaderboard."""
    scores: list[ComparedScore]
    """By each metric of the comparison; empty while replicates are being computed."""


class DifferenceInterval(Document):
    """Confidence interval of a difference."""

    level: float
    """The confidence level, such as 0.95."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    kind: str
    """How the interval was computed."""
    n: int
    """Number of bootstrap replicates."""


class PairTest(Document):
    """A test of system b against system a by one metric."""

    a: str
    """Name of the first system."""
    b: str
    """Name of the second system."""
    a_submission: int
    """Number of the first system's submission."""
    b_submission: int
    """Number of the second system's submission."""
    metric: str
    """Specification of the metric."""
    test: SignificanceTest
    """The significance test."""
    n: int
    """Replicates or trials."""
    seed: int
    """Seed of the resampling."""
    difference: float | None
    """Score of b minus score of a."""
    interval: DifferenceInterval | None
    """Confidence interval of the difference; null where there is none."""
    p: float | None
    """Two-sided; 1 for identical outputs."""
    p_corrected: float | None
    """The p-value after the correction; null where the test is undefined."""
    correction: PValueCorrection
    """The correction for multiple tests."""
    direction: str | None
    """Whether b is better, worse or equal; null where a score is undefined. It says nothing about significance."""
    significant: bool
    """Whether the corrected p-value is below the significance level."""
    same_output: bool
    """Whether both outputs are identical."""


class RunSpreadResponse(Document):
    """How far the score of a system spreads over test sets of this size, and over its runs."""

    submission: int
    """Number of the system's last submission."""
    metric: str
    """Specification of the metric."""
    selection: float | None
    """Standard deviation of the score of one run over test sets (s_sel); null where it is unknown."""
    optimization: float | None
    """Standard deviation of the score over runs (s_opt); null with one run."""


class TrialsProgressResponse(Document):
    """Progress of randomization tests."""

    comparison: int
    """Number of the comparison."""
    running: bool
    """Whether tests are still running."""
    trials: int
    """Number of random assignments to draw."""
    trials_done: int
    """How many are drawn."""
    failure: str
    """Why the tests failed; "" if they did not."""


class ComparisonsResponse(Document):
    """Tests of some systems: of all pairs, or of all against a baseline."""

    campaign: str
    """Name of the campaign."""
    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    references: list[str]
    """Labels of the references."""
    test: SignificanceTest
    """The significance test."""
    correction: PValueCorrection
    """The correction for multiple tests."""
    trials: int
    """Replicates or trials of each test."""
    alpha: float
    """The significance level."""
    level: float
    """The confidence level of the intervals."""
    interval: IntervalKind
    """How the intervals are computed."""
    baseline: int | None
    """The submission that all others are tested against; null where all pairs are tested."""
    resample: ResamplingUnit
    """What the tests draw or exchange: segments, or whole documents."""
    systems: list[ComparedSystem]
    """The compared systems, in the order of the leaderboard."""
    pairs: list[PairTest]
    """One test for each pair and metric."""
    runs: list[RunSpreadResponse]
    """The spread of the scores of each system by each metric, where any of the systems has named runs."""
    missing: int
    """Tests that are not computed yet; POST requests them. The correction ignores them until then."""
    drawing: int
    """Replicates that are being computed for tests or intervals; `pairs` is empty until they are done. 0 for none."""
    progress: TrialsProgressResponse | None
    """Progress of requested randomization tests; null where none were requested."""


class ComparisonCancel(Document):
    """Why a comparison is cancelled."""

    reason: str = Field(default="", max_length=1000)
    """Why, for the audit log."""
