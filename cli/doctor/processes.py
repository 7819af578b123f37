"""Checks of what works together: broker, scheduler, workers, resources, and the store of statistics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cli.doctor.finding import Finding

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from models.queue_status.overview import Overview
    from runtime.settings import Settings

LONGEST_WAIT_SECONDS = 600.0
"""Of work of any class while workers live."""


def check_broker(settings: Settings) -> Iterator[Finding]:
    """Check the broker, and what Redis does when its memory is full."""
    from models.database.session import sqlite_file

    if settings.embedded:
        if sqlite_file(settings.database_url) is None:
            fix = "Set STEELYARD_BROKER_URL for `steelyard worker` and `steelyard scheduler`; `up` needs none."
            yield Finding.warning("broker", "none: only commands on this machine and `up` compute", fix)
        else:
            yield Finding.ok("broker", "none: `up`, `evaluate` and `submit` compute on this machine")
        return
    from worker.app import Broker
    from worker.health_checks import check_broker as ask

    asked = ask(Broker(settings))
    if not asked.ok:
        yield Finding.problem("broker", asked.reason, "Start it, or correct STEELYARD_BROKER_URL.")
        return
    yield Finding.ok("broker", asked.reason)
    if settings.broker_url.startswith(("redis:", "rediss:")):
        yield _check_redis(settings.broker_url)


def check_collector(settings: Settings) -> Iterator[Finding]:
    """Send no spans to the collector, if there is one."""
    import httpx

    from runtime.errors import MissingTracePackages
    from runtime.redaction import redacted
    from runtime.tracing import set_up_traces

    if settings.traces_url is None:
        return
    try:
        set_up_traces(settings.traces_url, "doctor")
        said = httpx.post(settings.traces_url, headers={"Content-Type": "application/x-protobuf"}, timeout=5.0)
        said.raise_for_status()
    except MissingTracePackages as error:
        yield Finding.problem("traces", str(error), "Install them, or unset STEELYARD_TRACES_URL.")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        fix = "Start the collector, or correct STEELYARD_TRACES_URL: work goes on without it."
        yield Finding.warning("traces", redacted(str(error)), fix)
    else:
        yield Finding.ok("traces", "the collector takes spans")
    finally:
        set_up_traces(None, "doctor")


def _check_redis(url: str) -> Finding:
    from redis import Redis
    from redis.exceptions import RedisError

    with Redis.from_url(url, socket_timeout=5.0) as redis:
        try:
            memory = redis.info("memory")
        except RedisError as error:
            return Finding.warning("Redis", f"it does not tell its settings: {error}", "Allow the command INFO.")
    policy, most = memory["maxmemory_policy"], memory["maxmemory"]
    if policy.startswith("allkeys") and most:
        return Finding.warning(
            "Redis",
            f"with full memory it drops messages ({policy}), which are then sent again",
            "Give it a database of its own with maxmemory-policy noeviction.",
        )
    return Finding.ok("Redis", f"maxmemory-policy {policy}")


def check_processes(settings: Settings, engine: Engine) -> Iterator[Finding]:
    """Check whether a scheduler leads, workers live, fit, and are not passed by."""
    from models.database.session import reading
    from models.queue_status.overview import read_overview
    from scheduler.leader import has_leader

    with reading(engine) as connection:
        overview = read_overview(connection, silent_seconds=settings.silent_seconds)
        led = has_leader(connection, settings.silent_seconds)
    idle = not overview.waiting and not overview.open
    if led:
        yield Finding.ok("scheduler", "one leads")
    elif idle and settings.embedded:
        yield Finding.ok("scheduler", "none runs, and nothing waits")
    else:
        yield Finding.problem("scheduler", "none leads", "Start `steelyard scheduler`, or `steelyard up`.")
    yield from _check_workers(overview, settings, idle)
    yield from _check_waiting(overview)


def _check_workers(overview: Overview, settings: Settings, idle: bool) -> Iterator[Finding]:
    living = [worker for worker in overview.workers if worker.beating]
    if not overview.processes:
        if idle and settings.embedded:
            yield Finding.ok("workers", "none runs, and nothing waits")
        else:
            yield Finding.problem("workers", "none is alive", "Start `steelyard worker`, or `steelyard up`.")
    elif len(versions := sorted({worker.version for worker in living})) > 1:
        fix = "Finish the upgrade: stop the workers of the older release."
        yield Finding.warning("workers", f"they are of several releases: {', '.join(versions)}", fix)
    else:
        yield Finding.ok("workers", f"{len(living)} with {overview.processes} processes, version {versions[0]}")
    for edition, evaluations in sorted(overview.unserved.items()):
        yield Finding.problem(
            f"edition {edition}",
            f"{evaluations} evaluations wait for workers of this edition of the numbers",
            "Start a worker of that release, or recompute with `steelyard submission recompute`.",
        )


def _check_waiting(overview: Overview) -> Iterator[Finding]:
    for metric in overview.learned:
        if not metric.workers:
            yield Finding.problem(
                metric.metric,
                f"{metric.waiting} shards wait, and no learned worker has its model or program",
                "Register it (`steelyard model import`, `metric create`) where `worker --queue learned` runs.",
            )
    if overview.processes:
        for queue in overview.queues:
            if queue.oldest_seconds is not None and queue.oldest_seconds > LONGEST_WAIT_SECONDS:
                yield Finding.warning(
                    f"{queue.queue_class.name.lower()} work",
                    f"the oldest task waits for {queue.oldest_seconds:,.0f} s",
                    "Add workers, or look at `steelyard status` for what is ahead of it.",
                )


def check_webhooks(connection: Connection) -> Iterator[Finding]:
    """Report schedules whose webhooks did not accept their messages."""
    from models.nightly.failed_deliveries import read_failed_deliveries

    for schedule, failed in sorted(read_failed_deliveries(connection).items()):
        given_up = "given up" if failed.given_up else "tried again"
        yield Finding.warning(
            f"webhook of schedule {schedule}",
            f"the message of {failed.date} failed {failed.attempts} times and is {given_up}: {failed.reason}",
            "Correct its address, or the service behind it.",
        )


def check_resources(settings: Settings) -> Iterator[Finding]:
    """Check whether the registered word vectors, models and programs are where their names lead."""
    from steelyard.errors import MetricsError
    from steelyard.metrics.resources import Resources

    resources = Resources(settings.resource_folder)
    try:
        registered = resources.listed()
        for each in registered:
            resources.path(each.pinned, each.kind)
    except (MetricsError, OSError) as error:
        yield Finding.problem(
            "resources", str(error), "Mount STEELYARD_RESOURCE_FOLDER on every worker, or register it again."
        )
    else:
        yield Finding.ok("resources", f"{len(registered)} registered in {settings.resource_folder}")


def check_store(settings: Settings) -> Finding:
    """Write a small object to the store of statistics, and read it back."""
    from models.errors import ModelsError
    from models.storage.blobs import find_lost_objects, write_object

    if settings.statistics_url is None:
        return Finding.ok("statistics", "in the database")
    fix = "Correct STEELYARD_STATISTICS_URL, and the store's user in the environment; it must be allowed to write."
    try:
        lost = find_lost_objects([write_object(b"steelyard doctor", settings.statistics_url).address])
    except (ModelsError, OSError) as error:
        return Finding.problem("statistics", str(error), fix)
    except Exception as error:  # whatever the store's driver raises
        return Finding.problem("statistics", f"{type(error).__name__}: {error}", fix)
    if lost:
        return Finding.problem("statistics", "what was written cannot be read back", fix)
    return Finding.ok("statistics", f"written to and read from {settings.statistics_url}")
