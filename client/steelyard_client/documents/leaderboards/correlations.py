"""Correlations of metrics with human judgments."""

from __future__ import annotations

from typing import Any

from steelyard_client.documents.document import Document


class CorrelationInterval(Document):
    """The confidence interval of a statistic."""

    level: float
    """Confidence level."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""
    n: int
    """Number of bootstrap replicates."""
    resampled: str
    """What replicates draw: segments, documents or systems."""


class CorrelationStatistic(Document):
    """One statistic of one metric."""

    statistic: str
    """Its name, such as pearson."""
    value: float | None
    """null where it is undefined."""
    n: int
    """How many systems, pairs, cells or segments it counts."""
    unit: str
    """What it counts."""
    interval: CorrelationInterval | None
    """Its confidence interval; null where there is none."""


class CorrelationDifferenceInterval(Document):
    """The confidence interval of a difference."""

    level: float
    """Confidence level."""
    low: float
    """Lower bound."""
    high: float
    """Upper bound."""


class CorrelationTest(Document):
    """A metric against the baseline, by the first statistic."""

    against: str
    """Specification of the baseline."""
    statistic: str
    """The tested statistic."""
    difference: float | None
    """The value of the metric minus that of the baseline; null where it is undefined."""
    interval: CorrelationDifferenceInterval | None
    """The interval of the difference; null where there is none."""
    trials: int
    """Trials of the permutation test."""
    p: float | None
    """By permutation, two-sided; null where it is undefined."""
    p_corrected: float | None
    """Corrected for the number of tests."""
    correction: str
    """none, holm or bh."""
    williams_p: float | None
    """Of Williams' test, two-sided; null where it does not apply."""
    williams_p_corrected: float | None
    """Corrected for the number of tests."""


class CorrelatedMetric(Document):
    """A metric beside human judgments."""

    metric: str
    """Specification."""
    title: str
    """Its title, as pages show it."""
    higher_is_better: bool
    """Whether a higher score is better; otherwise scores were negated."""
    rank: int | None
    """By the first statistic; null where that is undefined."""
    statistics: list[CorrelationStatistic]
    """The statistics that are defined for at least one metric, in their order."""
    test: CorrelationTest | None
    """null for the baseline, and without tests."""


class CorrelatedJudgments(Document):
    """The human judgments of a correlation."""

    name: str
    """Their name."""
    version: int
    """Their version, from 1."""
    kind: str
    """scores, ratings, errors or rankings."""
    method: dict[str, Any]
    """How the judgments were aggregated to scores."""


class SystemsLeftOut(Document):
    """Systems that a correlation leaves out, by the reason."""

    human_translations: list[str]
    """Human translations among the judged systems."""
    unknown: list[str]
    """Judged, but not on the leaderboard."""
    not_judged: list[str]
    """On the leaderboard, but not judged."""
    as_asked: list[str]
    """Left out on request."""
    not_scored: list[str]
    """Judged, but not scored (yet)."""


class ReferenceOutput(Document):
    """A judged system whose output is a reference, which makes correlations too high."""

    system: str
    """Name of the system."""
    reference: str
    """Labels of the references with the same text."""


class CorrelationResponse(Document):
    """Correlations of the metrics of a leaderboard with human judgments, by system or by segment."""

    campaign: str
    """Name of the campaign."""
    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    references: list[str]
    """Labels of the references."""
    human: CorrelatedJudgments
    """The judgments used."""
    level: str
    """system or segment."""
    seed: int
    """Seed of all draws."""
    systems: list[str] | None
    """The systems that are judged and scored; null where their names would identify anonymous teams."""
    left_out: SystemsLeftOut | None
    """Systems that are left out; null where their names would identify anonymous teams."""
    undefined: list[str]
    """Requested statistics that are undefined for all metrics."""
    baseline: str | None
    """Specification of the metric that the others are tested against; null without tests."""
    metrics: list[CorrelatedMetric]
    """The metrics, the best by the first statistic first."""
    notes: list[str]
    """The data and the method behind the numbers, a sentence each."""
    reference_outputs: list[ReferenceOutput]
    """Systems whose output is a reference; for organisers, empty for others."""


class CorrelationsResponse(Document):
    """Correlations of metrics with human judgments."""

    test_set: str | None
    """null while the campaign has none."""
    references: list[str]
    """Labels of the references."""
    human: str | None
    """The judgments used; null where no system with scores was judged."""
    tables: list[CorrelationResponse]
    """One for each level (system, segment) that was judged."""
