"""The Celery application, and the worker as a program of its own."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import Any

from celery import Celery, signals

from metrics.base import EDITION
from metrics.errors import KernelsNotBuilt
from models.schema.states import QueueClass
from runtime.health import Pulse
from runtime.http_server import Outlook, bound
from runtime.logs import say_always
from runtime.settings import Settings
from worker.context import Station
from worker.errors import BrokerInMemory
from worker.health_checks import check_broker, check_database, check_stopping
from worker.memory_limit import limit_processes
from worker.messaging.queues import make_queue
from worker.processes.dead_processes import watch_losses
from worker.processes.heartbeat import Heartbeat
from worker.processes.parent_death import ask_the_kernel_directly, hear_the_parent_alone
from worker.processes.shutdown import Stopping
from worker.processes.telemetry import WorkerMetrics, tallying
from worker.processes.watchdog import Watchdog
from worker.tasks import register_tasks

log = logging.getLogger(__name__)

QUEUES = ",".join(queue_class.queue_of(EDITION) for queue_class in QueueClass)
"""The worker asks the broker's queues in this order, so the order is the priority."""

AHEAD = ("worker.handlers", "metrics.entry_points", "numpy.ma", "encodings.utf_32_le")
"""Modules that tasks need; the last two are imported by a first `numpy.unique` and a first text in code points."""

TASKS_PER_PROCESS = 500
"""A process of the pool is replaced after so many."""


def make_app(settings: Settings, station: Station | None = None) -> Any:
    """A Celery app for these settings: messages are hints, so nothing of Celery's own bookkeeping is on."""
    redis = settings.broker_url.startswith(("redis:", "rediss:"))
    if redis:
        from worker.messaging.redis_transport import read_with_care

        read_with_care()
    elif not settings.embedded:
        from worker.messaging.amqp_transport import read_with_care

        read_with_care()
    app = Celery("steelyard", broker=settings.broker_url, set_as_current=False)
    app.conf.update(
        result_backend=None,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        # Early: a lost message costs one hint time, one delivered for ever would kill for ever.
        task_acks_late=False,
        task_reject_on_worker_lost=False,
        task_time_limit=settings.task_seconds,
        task_publish_retry_policy={"max_retries": 2, "interval_start": 0.2, "interval_step": 0.2},
        task_queues=[make_queue(queue_class, redis) for queue_class in QueueClass],
        task_send_sent_event=False,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=redis,
        worker_consumer="worker.messaging.consumer:HintConsumer",
        worker_max_tasks_per_child=TASKS_PER_PROCESS,
        worker_lost_wait=settings.lost_process_seconds,
        # Off by default: they cost about as much as the task's own messages, and obey whoever reaches the broker.
        worker_enable_remote_control=settings.events,
        worker_send_task_events=settings.events,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A Redis without memory refuses what a worker says when it connects: then it tries again.
        broker_channel_error_retry=True,
        broker_transport_options=_transport_options(settings, redis),
    )
    register_tasks(app, station or Station(settings))
    return app


def run_worker(settings: Settings, concurrency: int | None = None) -> int:
    """Work until stopped by a signal (`worker.processes.shutdown`), or by tables of another release; exit code.

    Raises BrokerInMemory.
    """
    if settings.embedded:
        raise BrokerInMemory
    processes = concurrency or settings.processes
    station = Station(settings, processes)
    say_always(worker=station.worker)
    app = make_app(settings, station)
    load_ahead(station)
    stop_limiting = limit_processes(app, settings, processes)
    heartbeat = Heartbeat(station, processes, lambda reason: stopping.end(reason))
    stopping = Stopping(station, heartbeat)
    heartbeat.start()
    stopping.start()
    stop_watching = watch_losses(station)
    watchdog = Watchdog(app, station)
    watchdog.start()
    arguments = ["--quiet", "worker", "--pool=prefork", f"--concurrency={processes}", f"--queues={QUEUES}"]
    arguments += ["--without-gossip", "--without-mingle", "--loglevel=WARNING"]
    if not settings.events:
        arguments += ["--without-heartbeat"]
    try:
        with _served(settings, app, station, heartbeat.pulse):
            log.info("Working with %d processes", processes)
            code = app.worker_main([*arguments, f"--hostname={station.worker}"]) or 0
            return int(code if stopping.exit_code is None else stopping.exit_code)
    finally:
        stopping.stop()
        watchdog.stop()
        stop_watching()
        stop_limiting()
        heartbeat.stop()
        station.close()


def worker_outlook(settings: Settings, app: Any, station: Station, beat: Pulse) -> Outlook:
    """What a worker shows of itself."""
    return Outlook(
        "worker",
        live=(beat.turns,),
        ready=(
            lambda: check_database(settings.database_url),
            lambda: check_broker(app, settings),
            lambda: beat.succeeds(settings.stale_seconds),
            check_stopping,
        ),
        collectors=(WorkerMetrics(station),),
    )


@contextmanager
def _served(settings: Settings, app: Any, station: Station, beat: Pulse) -> Iterator[None]:
    """Serve health and metrics, from when the pool's processes are there."""
    with (
        tallying(station),
        bound(settings.http_host, settings.http_port, lambda: worker_outlook(settings, app, station, beat)) as server,
    ):

        def on_ready(**_: object) -> None:
            if server is not None:
                server.start()

        signals.worker_ready.connect(on_ready, weak=False)
        try:
            yield
        finally:
            signals.worker_ready.disconnect(on_ready)


def load_ahead(station: Station) -> None:
    """Import what tasks need before the pool is forked: its processes share it, and no first task waits for it.

    One thread each for linear algebra: the pool has as many processes as there are cores. Threads
    that a library had started would not survive the fork, so the limits come before the import.
    """
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    for module in AHEAD:
        import_module(module)
    loader = import_module("metrics.kernels.loader")
    # Where they are missing or old, tasks say so.
    with suppress(KernelsNotBuilt):
        loader.shared_library()
    # The database's driver comes with an engine; a connection does not.
    assert station.engine

    ask_the_kernel_directly()
    hear_the_parent_alone()
    # The collector writes to all that it looks through, which would give each process a copy of its own.
    gc.freeze()


def _transport_options(settings: Settings, redis: bool) -> dict[str, object]:
    if redis:
        return {
            "queue_order_strategy": "priority",
            "socket_timeout": 10,
            "socket_connect_timeout": 3,
            "health_check_interval": 5,
        }
    if settings.embedded:
        return {"polling_interval": settings.broker_poll_seconds}
    return {}
