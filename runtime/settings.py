"""The settings of the queue: every one has a default and can be set as STEELYARD_NAME in the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from steelyard.metrics.resources import DEFAULT_FOLDER

SHORTER_THAN = (
    ("task_seconds", "lease_seconds", "work that is still running would be given to another worker, again and again"),
    ("shard_seconds", "task_seconds", "shards would be cut so large that they are killed before they are done"),
    ("beat_seconds", "silent_seconds", "living workers would be taken for dead between two heartbeats"),
    ("tick_seconds", "silent_seconds", "a scheduler would lose the lead between two rounds"),
    ("beat_seconds", "stale_seconds", "living workers would not be ready between two heartbeats"),
    ("sweep_seconds", "stale_seconds", "a scheduler that stands by would not be ready between two looks"),
    ("tick_seconds", "stale_seconds", "a scheduler would not be ready between two rounds"),
)
"""Settings of which the first must be less than the second, and what would happen otherwise."""

PREFIX = "STEELYARD_"
"""Begins the names of variables, whose case does not count."""

BROKERS = ("memory", "redis", "rediss", "redis+socket", "sentinel", "amqp", "amqps", "pyamqp")
"""Kinds of brokers, as their addresses begin."""


def _checked_broker(url: str) -> str:
    """An address that Celery can take apart, or a message without any of it: a password may be anywhere in it."""
    # Celery goes from one address to the next.
    for each in url.split(";"):
        try:
            parts = urlsplit(each)
            _ = parts.port
        except ValueError:
            raise PydanticCustomError(
                "bad_broker", "The port in the broker's address is no number up to 65535"
            ) from None
        if parts.scheme not in BROKERS:
            raise PydanticCustomError("bad_broker", "The broker's address must begin with redis:// or amqp://")
        if parts.netloc.count("@") > 1:
            raise PydanticCustomError(
                "bad_broker", "There is more than one @ in the broker's address: write %40 for one in the password"
            )
        if parts.query and "password" in unquote(parts.query):
            raise PydanticCustomError(
                "bad_broker", "The broker's password stands before the host: redis://:PASSWORD@HOST:PORT/0"
            )
    return url


class Settings(BaseModel):
    """Settings shared by scheduler, workers and commands. Times are in seconds; an empty value counts as not set."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    database_url: str = Field(default="sqlite:///steelyard.db", repr=False)
    """Where everything is stored: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME."""
    listen_url: str | None = Field(default=None, repr=False)
    """Direct URL of PostgreSQL for notifications, if the database's URL leads to a pooler such as PgBouncer."""
    prepared_statements: bool | None = None
    """Whether PostgreSQL plans the statements of workers once for a connection, which halves what a task costs it; not
    through a pooler such as PgBouncer. If not set: unless STEELYARD_LISTEN_URL is."""
    broker_url: Annotated[str, AfterValidator(_checked_broker)] = Field(default="memory://localhost/", repr=False)
    """The broker of messages to workers: memory://localhost/ (this command alone), redis:// or amqp://."""

    resource_folder: Path = DEFAULT_FOLDER
    """The folder in which word vectors and other resources are registered; its content must be the same for every
    worker."""

    most_systems: int = Field(default=2000, ge=1)
    """Maximum number of systems and runs that `evaluate` and `score` accept."""
    most_bytes: int = Field(default=2**30, ge=1)
    """Maximum size in bytes of a text that `evaluate` accepts; of a packed one, unpacked."""
    import_seconds: float = Field(default=10.0, gt=0)
    """Time limit for importing a metric of another distribution."""
    concurrency: int | None = Field(default=None, ge=1)
    """Number of processes in a worker's pool; all cores of the machine if not set."""
    niceness: int = Field(default=0, ge=0, le=19)
    """Nice value of pool processes; at least 5 if `up` serves pages."""
    shard_seconds: float = Field(default=2.0, gt=0)
    """Target for the maximum duration of a task."""
    shortest_shard_seconds: float = Field(default=0.02, gt=0)
    """A small job is spread over all processes as long as each part takes at least this long."""
    at_once_seconds: float = Field(default=1.0, ge=0)
    """Randomization tests estimated to take less than this are computed by the command itself, without the queue."""
    learned_shard_tokens: int = Field(default=250_000, ge=1)
    """Target for the most tokens of a learned shard, as estimated from bytes; at least 256 segments of all systems."""
    learned_seconds: float = Field(default=86400.0, gt=0)
    """Time limit of a learned shard; beyond it, another worker takes it over."""
    largest_shard_bytes: int = Field(default=128 * 2**20, gt=0)
    """Maximum memory of a shard, estimated at 4 KiB for each of its segments and systems."""

    statistics_url: str | None = Field(default=None, repr=False)
    """A folder for statistics outside of the database: file:///FOLDER or s3://BUCKET/FOLDER; in SQL if not set."""
    statistics_bytes: int = Field(default=16 * 2**10, ge=0)
    """Minimum size of a shard's statistics of one system and metric for storage in that folder."""
    task_bytes: int | None = Field(default=None, ge=64 * 2**20)
    """Memory that a pool process may use beyond what it starts with; an equal share of the machine's memory if not
    set."""

    max_attempts: int = Field(default=3, ge=1)
    """Number of attempts at a task of the queue; attempts that kill their process count."""
    retry_seconds: float = Field(default=1.0, ge=0)
    """Delay before the second attempt; twice that before the third, and so on."""
    task_seconds: float = Field(default=120.0, gt=0)
    """Time limit of a task; beyond it, its process is killed."""
    lease_seconds: float = Field(default=180.0, gt=0)
    """Duration of a lease; must exceed task_seconds, or running tasks would be taken over needlessly."""
    silent_seconds: float = Field(default=5.0, gt=0)
    """A worker without a heartbeat for this long counts as dead; also the term of a leading scheduler."""
    deaf_seconds: float = Field(default=60.0, gt=0)
    """A worker that receives no message for this long, though some wait and it holds no work, exits with status 1."""
    beat_seconds: float = Field(default=1.0, gt=0)
    """Interval between two heartbeats of a worker."""
    resend_seconds: float = Field(default=30.0, gt=0)
    """A message that was not acted on for this long is sent again."""
    empty_seconds: float = Field(default=1.0, gt=0)
    """As resend_seconds, if the broker's queue is empty: then the message was lost."""
    lost_process_seconds: float = Field(default=1.0, gt=0)
    """How long a worker waits before it gives up on a pool process that has died."""

    tick_seconds: float = Field(default=0.02, gt=0)
    """Minimum pause of the scheduler after sending tasks, and interval between checks of SQLite while there is work."""
    sweep_seconds: float = Field(default=1.0, gt=0)
    """Interval between two sweeps of the scheduler for lost work and for changes that it was not notified of."""
    recount_seconds: float = Field(default=60.0, gt=0)
    """Interval between two checks that the counters of evaluations and comparisons match the existing work;
    differences are repaired."""
    keep_seconds: float = Field(default=30 * 86400.0, gt=0)
    """How long the rows of ended shards and other tasks are kept; results are kept for ever."""
    keep_scores_seconds: float = Field(default=365 * 86400.0, gt=0)
    """How long segment scores of models and programs are kept after their last use; those of leaderboards are kept."""
    window_factor: float = Field(default=2.0, gt=0)
    """Tasks in flight, as a multiple of the pool processes of all workers."""
    smallest_window: int = Field(default=8, ge=1)
    """Minimum number of tasks in flight."""
    together_seconds: float = Field(default=0.0, ge=0)
    """Small shards travel to a worker in one message, up to eight of them, while they are estimated to take less than
    this together, such as 0.25; with 0, each by itself."""
    urgent_seconds: float = Field(default=600.0, ge=0)
    """Work that is due within this time moves up one class: from nightly to campaign, from campaign to interactive."""
    nightly_share: int = Field(default=8, ge=2)
    """While nightly work waits, it gets one of this many seconds of work."""
    campaign_share: int = Field(default=4, ge=3)
    """While work of campaigns waits, it gets one of this many seconds of work; interactive work is sure of the rest."""
    schedule_commands: bool = True
    """Whether the scheduler runs the commands of schedules; anyone who may write to the database can add one."""
    schedule_environment: str = ""
    """Variables passed to commands of schedules beside PATH, HOME, LANG, LC_..., TZ and TMPDIR, separated by commas."""
    stop_seconds: float = Field(default=10.0, gt=0)
    """How long running tasks may continue when a worker is stopped."""

    log_format: Annotated[Literal["text", "json"], BeforeValidator(str.lower)] = "text"
    """Log format of worker, scheduler, serve and up: text for people, or json with one object per line."""
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(str.lower)] = "info"
    """Minimum level of log lines: debug, info, warning or error."""
    traces_url: str | None = Field(default=None, repr=False)
    """Where spans of requests and tasks are sent (OpenTelemetry's protocol over HTTP), such as
    http://localhost:4318/v1/traces; needs the extra traces; nowhere if not set."""
    http_port: int | None = Field(default=None, ge=0, le=65535)
    """Port for metrics and health, a separate one for each process; not served if not set."""
    http_host: str = "127.0.0.1"
    """Address for metrics and health; 0.0.0.0 makes them available to other machines."""
    stale_seconds: float = Field(default=10.0, gt=0)
    """A worker or scheduler whose last heartbeat or round is older than this is not ready."""
    events: bool = False
    """Whether workers send events about tasks and obey remote control, for Flower and `celery inspect`."""

    webhook_seconds: float = Field(default=10.0, gt=0)
    """Time limit of one request to a webhook, from connecting to the response."""
    webhook_attempts: int = Field(default=10, ge=1)
    """Number of attempts to deliver a message to a webhook."""
    webhook_retry_seconds: float = Field(default=30.0, ge=0)
    """Delay before the second attempt, twice that before the third, and so on, up to six hours."""
    webhook_private: bool = False
    """Whether webhooks of all schedules may have private addresses."""

    def __init__(self, **given: Any) -> None:
        variables = {name.upper(): value for name, value in os.environ.items() if value}
        named = {name: PREFIX + name.upper() for name in type(self).model_fields}
        super().__init__(**{name: variables[key] for name, key in named.items() if key in variables} | given)

    @model_validator(mode="after")
    def _times_fit(self) -> Self:
        for shorter, longer, otherwise in SHORTER_THAN:
            low, high = getattr(self, shorter), getattr(self, longer)
            if low >= high:
                names = f"{PREFIX}{shorter.upper()}={low:g}", f"{PREFIX}{longer.upper()}={high:g}"
                raise PydanticCustomError(
                    "times_do_not_fit",
                    "{shorter} must be less than {longer}, or {otherwise}",
                    {"shorter": names[0], "longer": names[1], "otherwise": otherwise},
                )
        return self

    @property
    def prepares_statements(self) -> bool:
        """Whether workers prepare statements."""
        return self.listen_url is None if self.prepared_statements is None else self.prepared_statements

    @property
    def embedded(self) -> bool:
        """Whether there is no broker: one command is scheduler and worker."""
        return self.broker_url.startswith("memory:")

    @property
    def schedule_variables(self) -> frozenset[str]:
        """Names of variables that commands of schedules see."""
        return frozenset(filter(None, (name.strip() for name in self.schedule_environment.split(","))))

    @property
    def processes(self) -> int:
        """Processes in a worker's pool."""
        return self.concurrency or len(os.sched_getaffinity(0))
