"""A scheduler's Prometheus metrics: its own counters, and the state of the queue in the database."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import DBAPIError

from models.database.session import make_engine, reading
from models.queue.kinds.registry import KINDS
from models.schema.base import now
from models.schema.queue import Worker
from models.schema.states import LeaseState, QueueClass
from runtime.settings import Settings
from runtime.shared_counters import Counter, Histogram, SharedCounters
from runtime.telemetry import metric_families

if TYPE_CHECKING:
    from prometheus_client import Metric

_NAMES = tuple(kind.name for kind in KINDS)
_OF_KINDS = ("kind", _NAMES)

MESSAGES_SENT = Counter("steelyard_scheduler_messages_sent", "Messages sent to workers.")
MESSAGES_LOST = Counter("steelyard_scheduler_messages_lost", "Messages that were not handled and are sent again.")
RECLAIMED = Counter(
    "steelyard_scheduler_reclaimed", "Tasks reclaimed from silent workers and after expired leases.", *_OF_KINDS
)
GIVEN_UP = Counter("steelyard_scheduler_given_up", "Tasks ended without attempts left.", *_OF_KINDS)
DATABASE_ERRORS = Counter("steelyard_scheduler_database_errors", "Rounds that failed with a database error.")
TICK_SECONDS = Histogram(
    "steelyard_scheduler_tick_seconds",
    "Time of a round.",
    (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0),
)

COUNTED = (MESSAGES_SENT, MESSAGES_LOST, RECLAIMED, GIVEN_UP, DATABASE_ERRORS, TICK_SECONDS)

FRESH_SECONDS = 1.0
"""Seconds for which an answer of the database is cached."""

GAUGES = {
    "steelyard_scheduler_leading": "1 in the leading scheduler, 0 in standby schedulers.",
    "steelyard_database_reachable": "1 if the database responded; otherwise the following are missing.",
    "steelyard_queue_waiting": "Tasks waiting to be sent.",
    "steelyard_queue_in_flight": "Tasks sent to workers or running.",
    "steelyard_queue_oldest_seconds": "Age of the oldest task waiting for a worker; 0 without any.",
    "steelyard_queue_retried": "Tasks waiting or in flight that were tried before.",
    "steelyard_workers": "Responsive workers.",
    "steelyard_pool_processes": "Pool processes of responsive workers.",
    "steelyard_evaluations": "Evaluations by state, those that are open or ended within a day.",
}
"""Read at each scrape."""


def new_counters() -> SharedCounters:
    """The counters of a scheduler."""
    return SharedCounters(COUNTED)


class SchedulerMetrics:
    """A collector of `prometheus_client`."""

    def __init__(self, settings: Settings, counters: SharedCounters, leads: Callable[[], bool]) -> None:
        self._settings = settings
        self._counters = counters
        self._leads = leads
        # No connection outlives its transaction: scrapes may be rare, and pool processes may be forked.
        self._engine = make_engine(settings.database_url, pooled=False)
        self._lock = threading.Lock()
        self._known: list[Metric] = []
        self._asked = float("-inf")

    def collect(self) -> Iterable[Metric]:
        """The counters, and the state of the queue."""
        yield from metric_families(self._counters)
        yield self._gauge("steelyard_scheduler_leading", [((), float(self._leads()))])
        # Concurrent scrapes get the same answer.
        with self._lock:
            if time.monotonic() - self._asked >= FRESH_SECONDS:
                self._known = self._ask()
                self._asked = time.monotonic()
            known = self._known
        yield from known

    def _ask(self) -> list[Metric]:
        found: list[Metric] = []
        with suppress(DBAPIError), reading(self._engine) as connection:
            found = [*self._work(connection), *self._workers(connection), self._evaluations(connection)]
        return [self._gauge("steelyard_database_reachable", [((), float(bool(found)))]), *found]

    def _work(self, connection: Connection) -> list[Metric]:
        from models.queue_status.overview import SENT_NAMES, count_work

        waiting = {(each.queue, kind): 0 for each in QueueClass for kind in _NAMES}
        in_flight = dict(waiting)
        oldest = {(each.queue,): 0.0 for each in QueueClass}
        retried = {(kind,): 0 for kind in _NAMES}
        for row in count_work(connection):
            if row.queue_class not in tuple(QueueClass):
                # Edited by hand: it is never sent.
                continue
            queue = QueueClass(row.queue_class).queue
            retried[(row.kind,)] += row.retried
            if row.state == LeaseState.PENDING:
                waiting[queue, row.kind] += row.amount
                if row.kind in SENT_NAMES:
                    oldest[(queue,)] = max(oldest[(queue,)], row.age or 0.0)
            else:
                in_flight[queue, row.kind] += row.amount
        return [
            self._gauge("steelyard_queue_waiting", waiting.items(), "class", "kind"),
            self._gauge("steelyard_queue_in_flight", in_flight.items(), "class", "kind"),
            self._gauge("steelyard_queue_oldest_seconds", oldest.items(), "class"),
            self._gauge("steelyard_queue_retried", retried.items(), "kind"),
        ]

    def _workers(self, connection: Connection) -> list[Metric]:
        rows = connection.execute(
            select(Worker.version, func.count().label("workers"), func.sum(Worker.concurrency).label("processes"))
            .where(Worker.beat_at >= now() - self._settings.silent_seconds)
            .group_by(Worker.version)
        ).all()
        return [
            self._gauge("steelyard_workers", [((row.version,), row.workers) for row in rows], "version"),
            self._gauge("steelyard_pool_processes", [((row.version,), row.processes) for row in rows], "version"),
        ]

    def _evaluations(self, connection: Connection) -> Metric:
        from models.queue_status.overview import count_evaluations

        counts = count_evaluations(connection)
        return self._gauge(
            "steelyard_evaluations", [((state.value,), amount) for state, amount in counts.items()], "state"
        )

    @staticmethod
    def _gauge(name: str, values: Iterable[tuple[tuple[str, ...], float]], *labels: str) -> Metric:
        from prometheus_client.metrics_core import GaugeMetricFamily

        family = GaugeMetricFamily(name, GAUGES[name], labels=labels)
        for of, value in values:
            family.add_metric(of, value)
        return family
