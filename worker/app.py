"""The Celery application, and the worker as a program of its own."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from celery import Celery, signals
from kombu import pools
from kombu.exceptions import OperationalError

from models.schema.states import QueueClass
from runtime.health import Liveness, ProcessStatus
from runtime.http_server import serve_status
from runtime.logs import bind_global
from runtime.settings import Settings
from steelyard.metrics.metric import EDITION
from worker.context import WorkerContext
from worker.errors import BrokerAway, BrokerInMemory
from worker.health_checks import check_broker, check_database
from worker.messaging.celery_tasks import MESSAGE_HEADER, register_tasks
from worker.messaging.logs import redirect_celery_logs
from worker.messaging.queues import count_messages, make_queue
from worker.preload import preload
from worker.processes.celery_pool import prepared
from worker.processes.heartbeat import Heartbeat
from worker.processes.losses import handle_lost_processes
from worker.processes.shutdown import Stopping, check_stopping
from worker.processes.watchdog import Watchdog
from worker.tasks import TaskMessage
from worker.telemetry import WorkerMetrics

log = logging.getLogger(__name__)

QUEUES = ",".join(queue_class.queue_of(EDITION) for queue_class in QueueClass)
"""The worker polls the broker's queues in this order, so the order is the priority."""

REDIS_OPTIONS = {
    "queue_order_strategy": "priority",
    "socket_timeout": 10,
    "socket_connect_timeout": 3,
    "health_check_interval": 5,
}


def make_app(settings: Settings, context: WorkerContext | None = None) -> Any:
    """Create a Celery app for these settings, with Celery's own result and state tracking switched off.

    Raises
    ------
    BrokerInMemory
        If no broker's URL is set.
    """
    if settings.embedded:
        raise BrokerInMemory
    redis = settings.broker_url.startswith(("redis:", "rediss:"))
    if redis:
        from worker.messaging.redis_transport import install_transport

        install_transport()
    else:
        from worker.messaging.amqp_transport import install_transport

        install_transport()
    app = Celery("steelyard", broker=settings.broker_url, set_as_current=False)
    app.conf.update(
        result_backend=None,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        # Early acknowledgement: a lost message costs one message timeout, while one redelivered for ever would kill
        # workers for ever.
        task_acks_late=False,
        task_reject_on_worker_lost=False,
        task_time_limit=settings.task_seconds,
        task_publish_retry_policy={"max_retries": 2, "interval_start": 0.2, "interval_step": 0.2},
        task_queues=[make_queue(queue_class, redis) for queue_class in QueueClass],
        task_send_sent_event=False,
        worker_prefetch_multiplier=1,
        worker_disable_prefetch=redis,
        worker_consumer="worker.messaging.consumer:TaskConsumer",
        worker_lost_wait=settings.lost_process_seconds,
        # Off by default: they cost about as much as the task messages, and obey anyone with access to the broker.
        worker_enable_remote_control=settings.events,
        worker_send_task_events=settings.events,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        # A Redis that is out of memory rejects what a worker writes when it connects: then it retries.
        broker_channel_error_retry=True,
        broker_transport_options=REDIS_OPTIONS if redis else {},
    )
    register_tasks(app, context or WorkerContext(settings))
    return app


class Broker:
    """The transport of messages through a broker (`worker.tasks.MessageTransport`)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._app = make_app(settings)

    @property
    def prefetches(self) -> bool:
        """Whether workers prefetch a message per process; they do not with Redis."""
        return not self._app.conf.worker_disable_prefetch

    def send(self, message: TaskMessage) -> None:
        """Send a message. After an error unknown to kombu, reconnect."""
        queue = message.queue_class.queue_of(message.edition)
        try:
            self._app.tasks[message.kind.message].apply_async(
                message.keys,
                queue=queue,
                headers={MESSAGE_HEADER: message.version},
                argsrepr=repr(message.keys),
                kwargsrepr="{}",
            )
        except OperationalError as error:
            raise BrokerAway(str(error)) from error
        except Exception:  # kombu raises what it likes on a connection that broke in the middle
            self._reconnect()
            raise

    def count(self, classes: Iterable[QueueClass]) -> dict[QueueClass, int]:
        """The number of waiting messages.

        Raises
        ------
        BrokerAway
            If the broker cannot be reached.
        """
        return count_messages(self._app, classes)

    def _reconnect(self) -> None:
        # Celery caches kombu's pools: both must be reset.
        pools.reset()  # type: ignore[no-untyped-call]
        self._app = make_app(self._settings)


def run_worker(settings: Settings, concurrency: int | None = None) -> int:
    """Work until stopped by a signal (`worker.processes.shutdown`) or by tables of another release; the exit code.

    Raises
    ------
    BrokerInMemory
        If no broker's URL is set.
    """
    processes = concurrency or settings.processes
    context = WorkerContext(settings, processes)
    bind_global(worker=context.worker)
    app = make_app(settings, context)
    redirect_celery_logs()
    preload(context)
    heartbeat = Heartbeat(context, processes, lambda reason: stopping.end(reason))
    stopping = Stopping(context, heartbeat)
    heartbeat.start()
    stopping.start()
    stop_watching = handle_lost_processes(context)
    watchdog = Watchdog(app, context)
    watchdog.start()
    arguments = ["--quiet", "worker", "--pool=prefork", f"--concurrency={processes}", f"--queues={QUEUES}"]
    arguments += ["--without-gossip", "--without-mingle", "--loglevel=WARNING"]
    if not settings.events:
        arguments += ["--without-heartbeat"]
    try:
        with prepared(app, context), _served(settings, context, heartbeat.pulse):
            log.info("Working with %d processes", processes)
            code = app.worker_main([*arguments, f"--hostname={context.worker}"]) or 0
            return int(code if stopping.exit_code is None else stopping.exit_code)
    finally:
        stopping.stop()
        watchdog.stop()
        stop_watching()
        heartbeat.stop()
        context.close()
        stopping.over.set()


def worker_status(settings: Settings, context: WorkerContext, beat: Liveness) -> ProcessStatus:
    """The status of a worker."""
    broker = Broker(settings)
    return ProcessStatus(
        "worker",
        live=(beat.alive,),
        ready=(
            lambda: check_database(settings.database_url),
            lambda: check_broker(broker),
            lambda: beat.succeeds(settings.stale_seconds),
            check_stopping,
        ),
        collectors=(WorkerMetrics(context.counters),),
    )


@contextmanager
def _served(settings: Settings, context: WorkerContext, beat: Liveness) -> Iterator[None]:
    """Serve health and metrics once the pool's processes exist."""
    process_status = lambda: worker_status(settings, context, beat)  # noqa: E731
    with serve_status(settings.http_host, settings.http_port, process_status) as server:

        def on_ready(**_: object) -> None:
            if server is not None:
                server.start()

        signals.worker_ready.connect(on_ready, weak=False)
        try:
            yield
        finally:
            signals.worker_ready.disconnect(on_ready)
