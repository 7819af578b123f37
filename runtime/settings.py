"""The settings of the queue: every one has a default and can be set as STEELYARD_NAME in the environment."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError
from pydantic_settings import BaseSettings, SettingsConfigDict

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


class Settings(BaseSettings):
    """What the scheduler, the workers and the commands agree on. Times are in seconds; empty is not set."""

    model_config = SettingsConfigDict(env_prefix="STEELYARD_", env_ignore_empty=True, frozen=True, extra="ignore")

    database_url: str = Field(default="sqlite:///steelyard.db", repr=False)
    """Where everything is stored: sqlite:///FILE or postgresql://USER:PASSWORD@HOST/NAME."""
    listen_url: str | None = Field(default=None, repr=False)
    """Where PostgreSQL itself is reached, if the database's URL leads to a pooler like PgBouncer: for notifications."""
    broker_url: Annotated[str, AfterValidator(_checked_broker)] = Field(default="memory://localhost/", repr=False)
    """Who carries hints to the workers: memory://localhost/ (this command alone), redis:// or amqp://."""

    resource_folder: Path = DEFAULT_FOLDER
    """Where word vectors and other resources are registered; every worker needs the same content there."""

    most_systems: int = Field(default=2000, ge=1)
    """Systems and their runs that `evaluate` and `score` take at once."""
    import_seconds: float = Field(default=10.0, gt=0)
    """How long a metric of another distribution may take to be imported."""
    concurrency: int | None = Field(default=None, ge=1)
    """Processes in a worker's pool; all cores of the machine when not set."""
    niceness: int = Field(default=0, ge=0, le=19)
    """How far the pool's processes step back for whatever else the machine does; 5 at least where `up` serves pages."""
    shard_seconds: float = Field(default=2.0, gt=0)
    """How long a task should take at most."""
    shortest_shard_seconds: float = Field(default=0.02, gt=0)
    """A small job is spread over all processes while each part takes at least this long."""
    at_once_seconds: float = Field(default=1.0, ge=0)
    """Randomization tests that are estimated to take less are made by the command itself, without the queue."""
    largest_shard_bytes: int = Field(default=128 * 2**20, gt=0)
    """Memory that a shard may need, estimated at 4 KiB for each of its segments and systems."""

    statistics_url: str | None = Field(default=None, repr=False)
    """A folder for statistics beside the database: file:///FOLDER or s3://BUCKET/FOLDER; without one in SQL."""
    statistics_bytes: int = Field(default=16 * 2**10, ge=0)
    """What a shard stores of one system and metric goes to that folder from so many bytes on."""
    task_bytes: int | None = Field(default=None, ge=64 * 2**20)
    """Memory that a process of the pool may use beyond what it starts with; its share of the machine's when not set."""

    max_attempts: int = Field(default=3, ge=1)
    """How often a task of the queue is tried; attempts that kill their process count."""
    retry_seconds: float = Field(default=1.0, ge=0)
    """Wait before a second attempt, twice that before a third, and so on."""
    task_seconds: float = Field(default=120.0, gt=0)
    """A task that takes longer is killed, and its process with it."""
    lease_seconds: float = Field(default=180.0, gt=0)
    """How long a claim holds; longer than task_seconds, or living work is taken over in vain."""
    silent_seconds: float = Field(default=5.0, gt=0)
    """A worker that has not beaten for so long is taken for dead; a leading scheduler has terms of that length."""
    deaf_seconds: float = Field(default=60.0, gt=0)
    """A worker that takes no message for so long, though some wait and it holds no work, ends with exit code 1."""
    beat_seconds: float = Field(default=1.0, gt=0)
    """Time between two heartbeats of a worker."""
    hint_seconds: float = Field(default=30.0, gt=0)
    """A message that was sent so long ago and not acted on is sent again."""
    empty_seconds: float = Field(default=1.0, gt=0)
    """The same where the broker's queue is found empty: the message was lost with the others."""
    lost_process_seconds: float = Field(default=1.0, gt=0)
    """How long a worker waits before it gives up on a pool process that has died."""

    tick_seconds: float = Field(default=0.02, gt=0)
    """How long the scheduler rests after handing out work at least; how often it checks SQLite while there is work."""
    sweep_seconds: float = Field(default=1.0, gt=0)
    """How often it looks for what was lost, and for changes that it has not heard of."""
    recount_seconds: float = Field(default=60.0, gt=0)
    """How often it compares what evaluations and comparisons wait for with the work that there is, and mends that."""
    keep_seconds: float = Field(default=30 * 86400.0, gt=0)
    """How long rows of shards and other work are kept when the work has ended; results are kept for ever."""
    window_factor: float = Field(default=2.0, gt=0)
    """Tasks in flight, as a multiple of the pool processes of all workers."""
    smallest_window: int = Field(default=8, ge=1)
    """Tasks in flight at least."""
    urgent_seconds: float = Field(default=600.0, ge=0)
    """What is due within so long goes one class up: nightly work as that of campaigns, that as interactive."""
    nightly_share: int = Field(default=8, ge=2)
    """While nightly work waits, one of so many seconds of work goes to it."""
    campaign_share: int = Field(default=4, ge=3)
    """The same for campaigns; interactive work is sure of what both leave."""
    schedule_commands: bool = True
    """Whether the scheduler runs the commands of schedules; whoever may write to the database can add one."""
    schedule_environment: str = ""
    """Variables that commands of schedules see beside PATH, HOME, LANG, LC_..., TZ and TMPDIR, with commas between."""
    stop_seconds: float = Field(default=10.0, gt=0)
    """How long tasks that are running may go on when a worker is stopped."""

    log_format: Annotated[Literal["text", "json"], BeforeValidator(str.lower)] = "text"
    """How worker, scheduler, serve and up write their log: text for people, or json, one object in each line."""
    log_level: Annotated[Literal["debug", "info", "warning", "error"], BeforeValidator(str.lower)] = "info"
    """What they write at least: debug, info, warning or error."""
    http_port: int | None = Field(default=None, ge=0, le=65535)
    """Where they serve metrics and health, each process on a port of its own; not at all when not set."""
    http_host: str = "127.0.0.1"
    """The address for that; 0.0.0.0 lets other machines ask."""
    stale_seconds: float = Field(default=10.0, gt=0)
    """A worker or scheduler is not ready when its last beat or round is older than that."""
    events: bool = False
    """Whether workers tell of their tasks and obey remote control, for Flower and `celery inspect`."""

    webhook_seconds: float = Field(default=10.0, gt=0)
    """How long one message to a webhook may take, from connecting to the answer."""
    webhook_attempts: int = Field(default=10, ge=1)
    """How often a message to a webhook is tried."""
    webhook_retry_seconds: float = Field(default=30.0, ge=0)
    """Wait before the second attempt, twice that before the third, and so on, at most six hours."""
    webhook_private: bool = False
    """Whether webhooks of all schedules may be at private addresses."""

    @model_validator(mode="after")
    def _times_fit(self) -> Self:
        for shorter, longer, otherwise in SHORTER_THAN:
            low, high = getattr(self, shorter), getattr(self, longer)
            if low >= high:
                prefix = self.model_config["env_prefix"]
                names = f"{prefix}{shorter.upper()}={low:g}", f"{prefix}{longer.upper()}={high:g}"
                raise PydanticCustomError(
                    "times_do_not_fit",
                    "{shorter} must be less than {longer}, or {otherwise}",
                    {"shorter": names[0], "longer": names[1], "otherwise": otherwise},
                )
        return self

    @property
    def embedded(self) -> bool:
        """Whether the broker lives in the memory of one process, which must then do everything itself."""
        return self.broker_url.startswith("memory:")

    @property
    def schedule_variables(self) -> frozenset[str]:
        """Names of variables that commands of schedules see."""
        return frozenset(filter(None, (name.strip() for name in self.schedule_environment.split(","))))

    @property
    def processes(self) -> int:
        """Processes in a worker's pool."""
        return self.concurrency or len(os.sched_getaffinity(0))
