"""The states of the queue's rows, and its classes."""

from __future__ import annotations

from enum import IntEnum, StrEnum

from steelyard_client.vocabulary import OPEN as OPEN
from steelyard_client.vocabulary import EvaluationState as EvaluationState
from steelyard_client.vocabulary import QuotaKind as QuotaKind
from steelyard_client.vocabulary import ResamplingUnit as ResamplingUnit


class LeaseState(StrEnum):
    """The state of a leased task.

    `pending -> enqueued -> running -> done`; back to `pending` if a message or a worker is lost; `failed` without
    attempts left; `cancelled` once it is not needed.
    """

    PENDING = "pending"
    ENQUEUED = "enqueued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class ComparisonState(StrEnum):
    """`running -> done`, or `failed` with a reason."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class ColumnState(StrEnum):
    """The state of a learned column: `waiting -> done`, or `failed` with a reason."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class Fault(StrEnum):
    """The cause of an evaluation's failure or cancellation."""

    INPUT = "input"
    """The texts or the requested metrics: retrying does not help. It counts against the quota."""
    PLATFORM = "platform"
    """The platform: a worker died, a disk was full. It does not count against a team's quota."""


class NightlyRunState(StrEnum):
    """`due -> fetching -> scoring -> judging -> done`, or `failed` or `missed` with a reason."""

    DUE = "due"
    FETCHING = "fetching"
    SCORING = "scoring"
    JUDGING = "judging"
    DONE = "done"
    FAILED = "failed"
    MISSED = "missed"


class BaselineKind(StrEnum):
    """The kind of baseline of a nightly run."""

    NAMED = "named"
    """A system, by name."""
    PREVIOUS = "previous"
    """The same system in the previous run."""
    BEST = "best"
    """The same system in its best run so far, by the metric in question."""


class PairedTest(StrEnum):
    """Paired significance tests."""

    BOOTSTRAP = "bootstrap"
    RANDOMIZATION = "randomization"


class JudgmentKind(StrEnum):
    """The kind of task that annotators had."""

    SCORES = "scores"
    """Scores computed elsewhere from judgments."""
    RATINGS = "ratings"
    """Direct assessment (0 to 100) or another scale."""
    ERRORS = "errors"
    """Errors with categories and severities, as in MQM."""
    RANKINGS = "rankings"
    """Several outputs of one segment ranked, ties allowed."""


class QueueClass(IntEnum):
    """The urgency of work; lower classes go first. The names are those of the broker's queues."""

    INTERACTIVE = 0
    CAMPAIGN = 1
    NIGHTLY = 2

    @property
    def queue(self) -> str:
        """The name of the broker's queue for work of the first edition."""
        return self.name.lower()

    def queue_of(self, edition: int) -> str:
        """The name of the broker's queue for work of an edition, so that workers of other editions never receive it."""
        return self.queue if edition == 1 else f"{self.queue}-{edition}"


NOT_YET = 1e15
"""A `not_before` in the distant future, for work that waits for other work; the end of the wait changes it."""

OPEN_RUN_STATES = (NightlyRunState.DUE, NightlyRunState.FETCHING, NightlyRunState.SCORING, NightlyRunState.JUDGING)
"""States of a run that has not ended."""

UNSCORED = (EvaluationState.QUEUED, EvaluationState.RUNNING)
"""States of an evaluation that still waits for shards."""

UNFINISHED = (EvaluationState.FAILED, EvaluationState.CANCELLED)
"""Final states of an evaluation without scores."""

ENDED = (*UNFINISHED, EvaluationState.DONE)
"""Final states of an evaluation, the worst first."""

CLOSED = (LeaseState.DONE, LeaseState.FAILED, LeaseState.CANCELLED)
"""Final states of a task."""

IN_FLIGHT = (LeaseState.ENQUEUED, LeaseState.RUNNING)
"""States of work that takes a place in the window."""


def one_of(column: str, states: type[StrEnum]) -> str:
    """The SQL condition that a column has one of these states."""
    return f"{column} IN ({', '.join(repr(str(state)) for state in states)})"
