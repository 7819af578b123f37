"""Documents of the API as dataclasses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Me:
    """The account of the client's token."""

    signed_in: bool
    email: str = ""
    name: str = ""
    role: str | None = None
    scopes: tuple[str, ...] = ()
    teams: Mapping[str, str] = field(default_factory=dict)
    """Name of the team -> role of the account in it."""
    verified: bool = False
    """Whether its address is confirmed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of the checks on an output."""

    code: str
    severity: str
    """fatal, warning or note."""
    message: str
    segments: tuple[int, ...] = ()
    """The first segments that it concerns, numbered from 1."""
    count: int = 0
    """How many segments it concerns; 0 for the whole output."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation of a submission: its references and metrics, and its state."""

    id: int
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    state: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """A score as the phase discloses it to the team."""

    metric: str
    title: str
    signature: str
    higher_is_better: bool
    told: bool
    """Whether the score is disclosed; if so, None means undefined."""
    score: float | None = None
    low: float | None = None
    high: float | None = None
    improved: bool | None = None
    """Under the Ladder rule: whether it beat the team's best score."""
    scale: float | None = 100.0
    """The perfect score; None for an open-ended scale."""


@dataclass(frozen=True, slots=True)
class EvaluationFeedback:
    """The scores of one evaluation, as the phase discloses them to the team."""

    evaluation: int
    references: tuple[str, ...]
    feedback: str
    words: str
    """How the numbers were rounded or withheld; "" where they are exact."""
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a submission."""

    state: str
    segments: int
    """Segments of the test set, counted once for each list of references."""
    segments_done: int
    ended: bool
    ahead: int | None = None
    """Other submissions queued earlier. Teams share the workers, so the order is not strict."""
    seconds_left: float | None = None
    """An estimate; None where none is known."""


@dataclass(frozen=True, slots=True)
class Quota:
    """A team's use of one quota."""

    kind: str
    used: int
    of_what: str
    amount: int | None = None
    """None for no limit."""
    free_at: datetime | None = None
    """When the quota frees up; None where that depends on running evaluations."""


@dataclass(frozen=True, slots=True)
class Submission:
    """An output of a system for a test set."""

    id: int
    campaign: str
    team: str
    system: str
    run: str
    test_set: str
    """NAME@VERSION."""
    segments: int
    created_at: datetime
    progress: Progress
    evaluations: tuple[Evaluation, ...]
    kind: str = ""
    """primary, contrastive, or "" for neither."""
    constrained: bool | None = None
    description: str = ""
    phase: str = ""
    late_seconds: float = 0.0
    withdrawn_at: datetime | None = None
    findings: tuple[Finding, ...] = ()
    told: tuple[EvaluationFeedback, ...] = ()
    """Disclosed scores; only in the response for a single submission."""
    stored: bool = True
    """False where an identical submission existed already. This and the next two: only after `submit`."""
    queued: bool = False
    quotas: tuple[Quota, ...] = ()


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign."""

    name: str
    title: str
    phase: str | None = None
    """The current phase; None before the first one, and without phases."""
    takes_submissions: bool = False
    deadline: datetime | None = None
    description: str = ""
    """This and the following fields: only in the response for a single campaign."""
    time_zone: str = ""
    ranked_by: str = ""
    published: bool = False
    organises: bool = False
    teams: tuple[str, ...] = ()
    """The account's teams that take part."""
    visibility: str = ""
    joining: str = ""
    anonymous: bool = False
    verified_only: bool = False
    frozen_at: datetime | None = None
    at: datetime | None = None
    """The server's time of the response."""


@dataclass(frozen=True, slots=True)
class LeaderboardSummary:
    """A leaderboard of a campaign."""

    board: int
    """Its number."""
    test_set: str
    version: str
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    replicates: int = 0
    replaced: bool = False
    """Whether its test set was replaced by a version with corrected references."""
    superseded: bool = False
    """Whether a newer leaderboard supersedes it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Confidence interval of a score or difference."""

    level: float
    low: float
    high: float
    kind: str = "percentile"
    n: int = 0


@dataclass(frozen=True, slots=True)
class BoardScore:
    """A system's score by one metric."""

    metric: str
    title: str
    signature: str
    higher_is_better: bool
    score: float | None
    interval: Interval | None = None
    rank: int | None = None
    """This and the next four fields: only for the ranking metric; None where the system is not ranked."""
    rank_low: int | None = None
    rank_high: int | None = None
    cluster: int | None = None
    wins: int | None = None
    scale: float | None = 100.0
    """The perfect score; None for an open-ended scale."""
    runs: tuple[float | None, ...] = ()
    """The score of each run, where there are several."""
    details: Mapping[str, float] = field(default_factory=dict)
    """Additional values from the metric."""


@dataclass(frozen=True, slots=True)
class BoardSystem:
    """A system on a leaderboard."""

    submission: int
    name: str
    """As pages show it."""
    team: str = ""
    system: str | None = None
    submissions: tuple[int, ...] = ()
    """One for each run."""
    runs: tuple[str, ...] = ()
    own: bool = False
    state: str = "done"
    reason: str | None = None
    kind: str = ""
    ranked: bool = True
    constrained: bool | None = None
    late_seconds: float = 0.0
    same_output_as: str | None = None
    scores: tuple[BoardScore, ...] = ()
    """Empty until the evaluation is done."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """How rank ranges and clusters were computed."""

    test: str
    alpha: float
    correction: str
    fault: str | None = None
    draws: int = 0
    """Replicates of each test."""
    testing: int = 0
    """Pairs still being tested; ranges and clusters appear when it reaches 0."""


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The systems of a campaign on one test set and list of references, best first."""

    campaign: str
    test_set: str
    version: str
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    board: int
    replicates: int
    seed: int
    segments: int
    sorted_by: str
    """The ranking metric."""
    ranking: Ranking
    items: tuple[BoardSystem, ...]
    not_ranked: int = 0
    """Number of unranked systems, shown or not."""
    replaced: bool = False
    notices: tuple[str, ...] = ()
    """Warnings about the scores."""
    shown: str = "ranked"
    """ranked, or all."""
    constrained: str = ""
    """yes, no, or "" for all."""
    total: int = 0
    """Number of systems on all pages."""
    next: str | None = None
    """Value of `after` for the next page; None on the last page."""


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """A system that is compared."""

    submission: int
    name: str


@dataclass(frozen=True, slots=True)
class PairTest:
    """A test of system b against system a by one metric."""

    a: str
    b: str
    a_submission: int
    b_submission: int
    metric: str
    test: str
    n: int
    """Replicates or trials."""
    seed: int
    difference: float | None
    """Score of b minus score of a."""
    interval: Interval | None
    p: float | None
    p_corrected: float | None
    correction: str
    direction: str | None
    """Whether b is better, worse or equal; None where a score is undefined. It says nothing about significance."""
    significant: bool
    same_output: bool


@dataclass(frozen=True, slots=True)
class TrialsProgress:
    """Progress of randomization tests."""

    comparison: int
    running: bool
    trials: int
    trials_done: int
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Comparisons:
    """All pairs of some systems."""

    campaign: str
    test_set: str
    version: str
    references: tuple[str, ...]
    test: str
    correction: str
    alpha: float
    systems: tuple[ComparedSystem, ...]
    pairs: tuple[PairTest, ...]
    lacking: int = 0
    """Tests that are not computed yet."""
    drawing: int = 0
    """Replicates being drawn, where the correction needs more than are stored; `pairs` is empty until then."""
    progress: TrialsProgress | None = None
