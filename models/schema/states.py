"""The states that rows of the queue go through, and the classes they wait in."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class EvaluationState(StrEnum):
    """`queued -> running -> reducing -> done`, or `failed` with a reason, or `cancelled`."""

    QUEUED = "queued"
    RUNNING = "running"
    REDUCING = "reducing"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class LeaseState(StrEnum):
    """The state of a shard, a reduction, a preparation or a run of trials.

    `pending -> enqueued -> running -> done`; back to `pending` when a hint or a worker is lost;
    `failed` when all attempts are used; `cancelled` when nobody waits for it any more.
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


class Fault(StrEnum):
    """Why an evaluation failed, or was cancelled."""

    INPUT = "input"
    """Something in the texts or the metrics that were asked for: trying again does not help. The attempt counts."""
    PLATFORM = "platform"
    """Something here: a worker died, a disk was full. It does not count against a team's quota."""


class QuotaKind(StrEnum):
    """What a quota limits: the submissions of a team in a campaign."""

    IN_FLIGHT = "in_flight"
    """Those with evaluations that are open."""
    PER_DAY = "per_day"
    """Those of one calendar day."""
    PER_PHASE = "per_phase"
    """Those of the campaign's phase."""


class NightState(StrEnum):
    """`due -> fetching -> scoring -> judging -> done`, or `failed` or `missed` with a reason."""

    DUE = "due"
    FETCHING = "fetching"
    SCORING = "scoring"
    JUDGING = "judging"
    DONE = "done"
    FAILED = "failed"
    MISSED = "missed"


class BaselineKind(StrEnum):
    """What a night is compared with."""

    NAMED = "named"
    """A system, by name."""
    PREVIOUS = "previous"
    """The same system in the night before."""
    BEST = "best"
    """The same system in its best night so far, by the metric in question."""


class PairedTest(StrEnum):
    """How two systems are told apart."""

    BOOTSTRAP = "bootstrap"
    RANDOMIZATION = "randomization"


class JudgmentKind(StrEnum):
    """What people were asked for."""

    SCORES = "scores"
    """Scores that others have made of judgments."""
    RATINGS = "ratings"
    """Direct assessment (0 to 100) or another scale."""
    ERRORS = "errors"
    """Errors with categories and severities, as in MQM."""
    RANKINGS = "rankings"
    """Several systems' outputs of one segment put in order, ties allowed."""


class QueueClass(IntEnum):
    """How urgent work is; the lower class goes first. The names are those of the broker's queues."""

    INTERACTIVE = 0
    CAMPAIGN = 1
    NIGHTLY = 2

    @property
    def queue(self) -> str:
        """The name of the broker's queue, for work of the first edition."""
        return self.name.lower()

    def queue_of(self, edition: int) -> str:
        """The name of the broker's queue for work of an edition: who makes another never hears of it."""
        return self.queue if edition == 1 else f"{self.queue}-{edition}"


NOT_YET = 1e15
"""The time before which work is not sent that waits for something else; when that is there, the time is changed."""

OPEN_NIGHT_STATES = (NightState.DUE, NightState.FETCHING, NightState.SCORING, NightState.JUDGING)
"""States of a night that has not ended."""

UNSCORED = (EvaluationState.QUEUED, EvaluationState.RUNNING)
"""States of an evaluation that still waits for shards."""

OPEN = (*UNSCORED, EvaluationState.REDUCING)
"""States of an evaluation that will still change by itself."""

IN_FLIGHT = (LeaseState.ENQUEUED, LeaseState.RUNNING)
"""States of work that holds a place in the window."""


def one_of(column: str, states: type[StrEnum]) -> str:
    """The SQL condition that a column holds one of these states."""
    return f"{column} IN ({', '.join(repr(str(state)) for state in states)})"
