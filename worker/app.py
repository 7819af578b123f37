"""The Celery application, and the worker as a program of its own."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery

from models.states import QueueClass
from worker.errors import BrokerInMemory
from worker.heartbeat import Heartbeat
from worker.losses import watch_losses
from worker.settings import Settings
from worker.station import Station
from worker.tasks import register_tasks

QUEUES = ",".join(queue_class.queue for queue_class in QueueClass)
"""The worker asks the broker's queues in this order, so the order is the priority."""


def make_app(settings: Settings, station: Station | None = None) -> Any:
    """A Celery app for these settings: messages are hints, so nothing of Celery's own bookkeeping is on."""
    redis = settings.broker_url.startswith(("redis:", "rediss:"))
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
        task_create_missing_queues=True,
        task_send_sent_event=False,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=redis,
        worker_max_tasks_per_child=500,
        worker_lost_wait=settings.lost_process_seconds,
        worker_enable_remote_control=False,
        worker_send_task_events=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_soft_shutdown_timeout=settings.stop_seconds,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options=_transport_options(settings, redis),
    )
    register_tasks(app, station or Station(settings))
    return app


def run_worker(settings: Settings, concurrency: int | None = None) -> int:
    """Work until stopped by a signal (SIGTERM or Ctrl-C: tasks that are running end first); exit code.

    Raises BrokerInMemory.
    """
    if settings.embedded:
        raise BrokerInMemory
    processes = concurrency or settings.processes
    station = Station(settings)
    app = make_app(settings, station)
    load_numeric_code()
    heartbeat = Heartbeat(station, processes)
    heartbeat.start()
    stop_watching = watch_losses(station)
    arguments = ["--quiet", "worker", "--pool=prefork", f"--concurrency={processes}", f"--queues={QUEUES}"]
    arguments += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING"]
    try:
        return int(app.worker_main([*arguments, f"--hostname={station.worker}"]) or 0)
    finally:
        stop_watching()
        heartbeat.stop()
        station.close()


def load_numeric_code() -> None:
    """Import what tasks need before the pool is forked, so that its processes share it.

    One thread each for linear algebra: the pool has as many processes as there are cores. Threads
    that a library had started would not survive the fork, so the limits come before the import.
    """
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    import worker.outcome  # noqa: F401


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
