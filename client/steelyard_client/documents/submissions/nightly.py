"""Schedules of recurring evaluations, and their history."""

from __future__ import annotations

from steelyard_client.documents.document import Document, Timestamp


class BaselineResponse(Document):
    """What the runs of a schedule are compared with."""

    kind: str
    """previous, best or named."""
    system: str | None
    """Name of a named system; null for the same system."""
    date: str | None
    """Date of the run whose output is used; null for the latest."""


class FailedDeliveryResponse(Document):
    """The last message of a schedule to its webhook, which did not arrive."""

    date: str
    """Date of the run that it reports."""
    attempts: int
    """How often it was tried."""
    given_up: bool
    """Whether it is not tried again."""
    reason: str
    """Why it did not arrive."""


class ScheduleResponse(Document):
    """A schedule of recurring evaluations."""

    name: str
    """Name of the schedule."""
    active: bool
    """false where it was deleted and its history kept."""
    cron: str
    """When it runs, as a cron expression."""
    time_zone: str
    """Time zone of the cron expression."""
    next_at: Timestamp | None
    """When its next run is due; null for never."""
    overdue: bool
    """Whether its next run is due and no scheduler has started it."""
    metrics: list[str]
    """Specifications of the metrics."""
    baseline: BaselineResponse
    """What its runs are compared with."""
    source: str | None
    """Where its outputs come from, a pattern of files or a command; null for all but administrators."""
    webhook: str | None
    """Host of the webhook that is told of its runs; null for none, and for all but administrators."""
    failed_delivery: FailedDeliveryResponse | None
    """The last message to the webhook, if it did not arrive; null for all but administrators."""
    runs: int
    """Number of its runs."""
    last_date: str | None
    """Date of the last run; null before the first one."""
    last_state: str | None
    """State of the last run; null before the first one."""
    last_regressed: bool | None
    """Whether the last run found a regression; null where unknown."""


class ScheduledRunResponse(Document):
    """A run of a schedule."""

    run: int
    """Its number."""
    date: str
    """Its date, in the time zone of the schedule."""
    due_at: Timestamp
    """When it was due."""
    state: str
    """State of the run."""
    reason: str | None
    """Why it failed or was missed; null otherwise, and for all but administrators."""
    regressed: bool | None
    """Whether it found a regression; null where it was not judged."""


class RunScore(Document):
    """The score of one run."""

    date: str
    """Date of the run."""
    score: float | None
    """null where the run has none."""
    interval: tuple[float, float] | None
    """Its 95 % interval over segments, which does not apply to differences between runs."""


class LevelChange(Document):
    """A change of the level of scores that has lasted."""

    system: str
    """Name of the system."""
    test_set: str
    """Name of the test set."""
    references: list[str]
    """Labels of the references."""
    metric: str
    """Specification of the metric."""
    title: str
    """Title of the metric."""
    since: str
    """Date of the first run on the new level."""
    until: str
    """Date of the last run on the new level so far."""
    runs_before: int
    """Runs with a score on the level before."""
    runs_after: int
    """Runs with a score on the new level."""
    before: float
    """Mean score of the runs before."""
    after: float
    """Mean score of the runs since."""
    difference: float
    """After minus before."""
    interval: tuple[float, float] | None
    """Interval of the difference, over other segments like these."""
    p: float
    """Of the permutation test against the noise of single runs."""
    p_segments: float | None
    """Of the paired test of the means: whether other segments would show a difference, too."""
    worse: bool
    """Whether the new level is worse."""
    counts: bool
    """Whether it is significant and large enough to count."""
    new: bool
    """Whether no earlier run has reported it."""


class RegressionFindingResponse(Document):
    """A system of a run beside its baseline, by one metric."""

    system: str
    """Name of the system."""
    test_set: str
    """Name of the test set."""
    references: list[str]
    """Labels of the references."""
    metric: str
    """Specification of the metric."""
    title: str
    """Title of the metric."""
    signature: str
    """Signature of the metric."""
    higher_is_better: bool
    """Whether a higher score is better."""
    scale: float | None
    """Score of a perfect output; null where the metric has no upper end."""
    score: float | None
    """Score of the run; null where it is undefined."""
    outcome: str
    """The verdict in words, such as "worse", "better" or "no difference shown"."""
    baseline_system: str | None
    """Name of the baseline."""
    baseline_date: str | None
    """Date of the run that scored it; null without a baseline."""
    baseline_score: float | None
    """Score of the baseline."""
    difference: float | None
    """Score minus that of the baseline."""
    interval: tuple[float, float] | None
    """Interval of the difference, at the level 1 - alpha, not corrected."""
    candidates: int
    """Number of different outputs from which the best was chosen."""
    p: float | None
    """Two-sided p-value."""
    p_corrected: float | None
    """The p-value corrected for all tests of the run."""


class VerdictResponse(Document):
    """What a run found."""

    version: int
    """Version of this format; raised when a field changes its meaning."""
    regressed: bool
    """Whether a finding or a new change fails the run."""
    baseline: str
    """The baseline, in words."""
    test: str
    """bootstrap or randomization."""
    draws: int
    """Number of replicates or trials."""
    alpha: float
    """Level of significance."""
    correction: str
    """How p-values are corrected for the tests of the run."""
    minimum_difference: float
    """The least difference that counts."""
    tests: int
    """Number of tests that were corrected together."""
    findings: list[RegressionFindingResponse]
    """One for each system, test set and metric."""
    changes: list[LevelChange]
    """Changes of the level over the last runs, also those that earlier runs have reported."""
    notes: list[str]
    """Limits of the tests, and missing systems."""


class NightlyRunResponse(Document):
    """A run of a schedule with its verdict."""

    schedule: str
    """Name of the schedule."""
    run: int
    """Its number."""
    date: str
    """Its date, in the time zone of the schedule."""
    due_at: Timestamp
    """When it was due."""
    state: str
    """done, failed, missed, or a step on the way."""
    reason: str | None
    """Why it failed or was missed; null otherwise, and for all but administrators."""
    caught_up: bool
    """Whether it began late, because no scheduler ran."""
    manual: bool
    """Whether it was asked for by hand."""
    wrong: bool
    """Whether it regressed, failed or was missed."""
    verdict: VerdictResponse | None
    """null until it is judged."""


class ScoreSeriesResponse(Document):
    """The scores of one system on one test set by one metric, over the runs."""

    system: str
    """Name of the system."""
    test_set: str
    """Name of the test set."""
    references: list[str]
    """Labels of the references."""
    metric: str
    """Specification of the metric."""
    title: str
    """Title of the metric."""
    signature: str
    """Signature of the metric."""
    higher_is_better: bool
    """Whether a higher score is better."""
    points: list[RunScore]
    """One for each judged run, earliest first."""
    too_few_runs: bool
    """Whether there are too few runs to look for changes."""
    changes: list[LevelChange]
    """Changes of the level that have lasted."""


class ScheduleHistoryResponse(Document):
    """All runs of a schedule, and how its scores changed."""

    version: int
    """Version of this format."""
    schedule: str
    """Name of the schedule."""
    time_zone: str
    """Its time zone."""
    runs: list[ScheduledRunResponse]
    """All runs, earliest first."""
    series: list[ScoreSeriesResponse]
    """The scores of every system, test set and metric."""
