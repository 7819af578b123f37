"""The metrics of a campaign, ranked over all of its test sets by how well they agree with people."""

from __future__ import annotations

from steelyard_client.documents.document import Document


class MetricsTaskTestSet(Document):
    """A test set that was judged, and what it was judged by."""

    pair: str
    """Name of the test set."""
    references: list[str]
    """Labels of the references of its leaderboard."""
    human: str
    """NAME@VERSION of the judgments."""


class MetricsTaskColumn(Document):
    """A task: a test set by one statistic."""

    pair: str
    """Name of the test set."""
    statistic: str
    """soft-pairwise, of systems, or acc-eq, of segments."""
    systems: int
    """Systems that were judged and have scores."""
    segments: int
    """Segments of which at least two systems were judged."""


class MetricsTaskScore(Document):
    """A metric in a task."""

    value: float
    """The statistic, from 0 to 1."""
    rank: int | None
    """The number of its group there; null without tests."""


class MetricsTaskMetric(Document):
    """A row: a metric over all tasks."""

    metric: str
    """Its title, as leaderboards entitle it."""
    average: float | None
    """The mean over all tasks; null where one of them has no value."""
    rank: int | None
    """The number of its group by the average, from 1; null without one."""
    scores: list[MetricsTaskScore | None]
    """For each task; null where the metric has no value."""
    p: list[float | None]
    """For each metric before it, the p-value of the test that that one has the better average; null without a test."""


class MetricsTaskResponse(Document):
    """The metrics of a campaign over all of its test sets, as a metrics task ranks them."""

    campaign: str
    """Name of the campaign."""
    computing: bool
    """Whether it is still being computed, so that tasks and metrics are empty. Ask again later."""
    columns: int
    """Columns to compute: two for each judged test set."""
    columns_done: int
    """Those that are computed."""
    evaluations_waiting: int
    """Evaluations of the judged test sets that are queued or running: their scores are not in the table yet."""
    failures: list[str]
    """Columns that could not be computed, and why."""
    test_sets: list[MetricsTaskTestSet]
    """What is compared."""
    tasks: list[MetricsTaskColumn]
    """The columns: two for each test set."""
    metrics: list[MetricsTaskMetric]
    """The rows, the best first; those without an average last."""
    left_out: list[str]
    """Test sets without judgments, or without scores of the same segments by metrics and people."""
    trials: int
    """Of the permutation tests."""
    alpha: float
    """The level of the tests."""
    seed: int
    """Of all draws."""
