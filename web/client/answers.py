"""What a server tells, as dataclasses. Moments are seconds since 1970."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Me:
    """Who asks."""

    signed_in: bool
    email: str = ""
    name: str = ""
    role: str | None = None
    scopes: tuple[str, ...] = ()
    teams: Mapping[str, str] = field(default_factory=dict)
    """Name of the team -> what the account is in it."""
    verified: bool = False
    """Whether its address is confirmed."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was noticed about an output."""

    code: str
    severity: str
    """fatal, warning or note."""
    message: str
    segments: tuple[int, ...] = ()
    """The first segments that it is about, from 1."""
    count: int = 0
    """How many it is about; 0 for the whole."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One way in which a submission is measured."""

    id: int
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    state: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """What a team is told of a score."""

    metric: str
    title: str
    signature: str
    higher_is_better: bool
    told: bool
    """Whether anything is told; then None is undefined."""
    score: float | None = None
    low: float | None = None
    high: float | None = None
    improved: bool | None = None
    """By the Ladder rule: whether it beat the team's best."""
    scale: float | None = 100.0
    """What a perfect score is; None where the scale has no end."""


@dataclass(frozen=True, slots=True)
class ToldEvaluation:
    """The scores of an evaluation, as the phase of the campaign lets them be told."""

    evaluation: int
    references: tuple[str, ...]
    feedback: str
    words: str
    """How the numbers were made coarse; "" where they were not."""
    scores: tuple[Score, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a submission is."""

    state: str
    segments: int
    """Of the test set, once for each list of references that it is measured against."""
    segments_done: int
    ended: bool
    ahead: int | None = None
    """Other submissions that were queued before; teams take turns, so it is not strictly waited for them."""
    seconds_left: float | None = None
    """Roughly; None where it is not known."""


@dataclass(frozen=True, slots=True)
class Quota:
    """How a team stands against a limit."""

    kind: str
    used: int
    of_what: str
    amount: int | None = None
    """None for no limit."""
    free_at: float | None = None
    """When there is room again, where the calendar says it."""


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
    created_at: float
    progress: Progress
    evaluations: tuple[Evaluation, ...]
    kind: str = ""
    """primary, contrastive, or "" for neither."""
    constrained: bool | None = None
    description: str = ""
    phase: str = ""
    late_seconds: float = 0.0
    withdrawn_at: float | None = None
    findings: tuple[Finding, ...] = ()
    told: tuple[ToldEvaluation, ...] = ()
    """Scores, where a single submission was asked for."""
    stored: bool = True
    """False where the very same one was there already; of one that was just handed in, as the next two."""
    queued: bool = False
    quotas: tuple[Quota, ...] = ()


@dataclass(frozen=True, slots=True)
class Campaign:
    """A campaign that one may know of."""

    name: str
    title: str
    phase: str | None = None
    """The phase that it is in; None before the first one, and where it has none."""
    takes_submissions: bool = False
    deadline: float | None = None
    description: str = ""
    """This and what follows only where it was asked for alone."""
    time_zone: str = ""
    ranked_by: str = ""
    published: bool = False
    organises: bool = False
    teams: tuple[str, ...] = ()
    """One's own teams that take part."""
    visibility: str = ""
    joining: str = ""
    anonymous: bool = False
    verified_only: bool = False
    frozen_at: float | None = None
    at: float | None = None
    """The moment of the answer by the server's clock."""


@dataclass(frozen=True, slots=True)
class BoardListed:
    """A leaderboard of a campaign."""

    board: int
    """Its number."""
    test_set: str
    version: str
    references: tuple[str, ...]
    metrics: tuple[str, ...]
    replicates: int = 0
    replaced: bool = False
    """Whether its test set has been replaced by a corrected one."""
    outgrown: bool = False
    """Whether a newer one says everything of it."""


@dataclass(frozen=True, slots=True)
class Interval:
    """Where a score may lie."""

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
    """By the metric that ranks alone, as what follows; None where the system is not ranked."""
    rank_low: int | None = None
    rank_high: int | None = None
    cluster: int | None = None
    wins: int | None = None
    scale: float | None = 100.0
    """What a perfect score is; None where the scale has no end."""
    runs: tuple[float | None, ...] = ()
    """Of each run, where there are several."""
    details: Mapping[str, float] = field(default_factory=dict)
    """Further figures that the metric tells."""


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
    """Empty until it is done."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """How rank ranges and clusters were found."""

    test: str
    alpha: float
    correction: str
    fault: str | None = None
    draws: int = 0
    """Replicates of each test."""
    testing: int = 0
    """Pairs that are still being tested: until all are, there are no ranges and clusters."""


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The systems of a campaign on a test set against some references, best first."""

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
    """The metric that ranks."""
    ranking: Ranking
    items: tuple[BoardSystem, ...]
    not_ranked: int = 0
    """Systems that stand here without a rank, whether they are shown or not."""
    replaced: bool = False
    notices: tuple[str, ...] = ()
    """What whoever reads the scores must know."""
    shown: str = "ranked"
    """ranked, or all."""
    constrained: str = ""
    """yes, no, or "" for all."""
    total: int = 0
    """Systems on all pages."""
    next: str | None = None
    """Where the next page begins; None on the last one."""


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """A system that is compared."""

    submission: int
    name: str


@dataclass(frozen=True, slots=True)
class PairTest:
    """System b against system a by one metric."""

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
    """b is better, worse or equal; None where a score is undefined. Whether that is more than chance, p says."""
    significant: bool
    same_output: bool


@dataclass(frozen=True, slots=True)
class Trying:
    """How far workers have come with randomization tests."""

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
    """Tests that are not made yet."""
    drawing: int = 0
    """More replicates that are being drawn, since the correction needs them: until they are, there are no pairs."""
    progress: Trying | None = None
