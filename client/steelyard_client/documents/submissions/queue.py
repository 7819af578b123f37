"""The state of the queue: waiting work, workers, progress of campaigns, failures."""

from __future__ import annotations

from steelyard_client.documents.document import Document, Timestamp
from steelyard_client.documents.submissions.evaluations import SelectedEvaluation
from steelyard_client.vocabulary import EvaluationState, PriorityClass


class ClassOfWork(Document):
    """The work of one priority class that workers run."""

    queue_class: PriorityClass
    """Name of the class."""
    waiting: int
    """Tasks that wait."""
    in_flight: int
    """Tasks that were sent to workers, or run."""
    oldest_seconds: float | None
    """Age of the oldest waiting task; null if nothing waits."""


class KindOfWork(Document):
    """The work of one kind."""

    kind: str
    """Name of the kind, such as shards."""
    waiting: int
    """Tasks that wait."""
    sent: int
    """Tasks of which a message was sent to a worker."""
    running: int
    """Tasks that run."""


class TeamWorkResponse(Document):
    """The work of one team, of all classes and kinds."""

    team: str
    """Name of the team; "" for work of no team."""
    waiting: int
    """Tasks that wait."""
    in_flight: int
    """Tasks that were sent to workers, or run."""


class RunningTaskResponse(Document):
    """A running task."""

    kind: str
    """Name of its kind."""
    title: str
    """What one task of the kind is called."""
    id: int
    """Its number."""
    attempt: int
    """How often it was tried, with this time."""
    seconds: float | None
    """Since it was claimed; null for workers of an earlier release."""


class WorkerResponse(Document):
    """A worker and the tasks that it runs."""

    id: str
    """Its identifier; "" where it is not shown."""
    host: str
    """Name of its machine; "" where it is not shown."""
    pid: int
    """Number of its process; 0 where it is not shown."""
    version: str
    """Its release."""
    edition: int
    """The edition of the metrics that it computes."""
    processes: int
    """Its pool processes."""
    beating: bool
    """False if its last heartbeat is so old that it counts as dead."""
    beat_seconds: float
    """Since its last heartbeat."""
    up_seconds: float | None
    """Since it started."""
    holds: list[RunningTaskResponse]
    """The tasks that it runs."""
    queue: str
    """The queue of its own that it works on, such as "learned"; "" for what the scheduler sends."""
    device: str | None
    """What its models run on."""


class RunningComparisonResponse(Document):
    """Randomization tests that run as one comparison."""

    id: int
    """Its number."""
    test_set: str
    """Name of the test set."""
    tests: int
    """Pairs of systems, counted for each metric."""
    trials: int
    """Trials of each test."""
    tasks_left: int
    """Tasks that are not done yet."""


class ThroughputResponse(Document):
    """What was done in the last minute."""

    shards: int
    """Shards."""
    hypotheses: int
    """Segments × systems of these shards."""


class LearnedWorkResponse(Document):
    """The open work of one learned metric."""

    metric: str
    """Its specification, which names the model or program."""
    waiting: int
    """Shards that wait."""
    running: int
    """Shards that run."""
    contents: int
    """Different texts to be scored in these shards; an upper bound until a shard begins."""
    scored: int
    """How many of them have scores."""
    workers: int
    """Learned workers that have the model or program."""


class CampaignProgressResponse(Document):
    """The evaluations of a campaign on one test set, and their shards."""

    campaign: str
    """Name of the campaign."""
    test_set: str
    """Name of the test set."""
    version: str
    """Its version."""
    title: str
    """Campaign and test set; each is named only if it adds information."""
    evaluations: dict[EvaluationState, int]
    """How many are in each state."""
    shards: int
    """Shards that count: all but split and cancelled ones; 0 where they are not shown."""
    shards_done: int
    """How many of them are done."""


class QueueResponse(Document):
    """The queue, the workers, and the progress of the selected evaluations."""

    at: Timestamp
    """The time, by the clock of the database."""
    scheduler: bool
    """Whether a scheduler, or a command with its own workers, dispatches work."""
    embedded: bool
    """Whether commands bring their own workers, because there is no broker."""
    queues: list[ClassOfWork]
    """The work of each priority class."""
    work: list[KindOfWork]
    """The work of each kind."""
    teams: list[TeamWorkResponse]
    """Teams with work; for administrators."""
    workers: list[WorkerResponse]
    """The workers; where they run is for administrators."""
    astray: list[RunningTaskResponse]
    """Tasks of workers that are gone, to be released soon; for administrators."""
    comparisons: list[RunningComparisonResponse]
    """Running comparisons; for administrators."""
    last_minute: ThroughputResponse
    """What was done in the last minute."""
    seconds_left: float | None
    """An estimate of the time until all waiting shards are done; null without workers or estimates."""
    evaluations: dict[EvaluationState, int]
    """How many of the selected evaluations are in each state; without a selection, of open and recent ones."""
    unserved: dict[int, int]
    """Open evaluations, in the whole database, by editions that no worker produces."""
    learned: list[LearnedWorkResponse]
    """Open work of learned metrics; for administrators."""
    campaigns: list[CampaignProgressResponse]
    """The progress of the campaigns that you organise."""
    asked: list[SelectedEvaluation]
    """The evaluations that were selected by number."""
    failures: list[SelectedEvaluation]
    """Failed evaluations, the newest first, then finished ones with a learned metric that failed."""
