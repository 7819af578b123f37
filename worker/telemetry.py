"""A worker's Prometheus metrics: the counters and the memory of its processes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from models.queue.kinds.registry import KINDS
from runtime.shared_counters import Counter, Histogram, SharedCounters
from runtime.telemetry import memory_bytes, metric_families

if TYPE_CHECKING:
    from prometheus_client import Metric

REASONS = ("unreadable", "unknown", "wrong", "large", "failed")
"""Why a message is dropped."""

_OF_KINDS = ("kind", tuple(kind.name for kind in KINDS))

DONE = Counter("steelyard_worker_done", "Work that was done and counted.", *_OF_KINDS)
RETRIES = Counter("steelyard_worker_retries", "Attempts that were not the first.", *_OF_KINDS)
FAILURES = Counter("steelyard_worker_failures", "Attempts that ended with an error.", *_OF_KINDS)
DROPPED = Counter(
    "steelyard_worker_results_dropped",
    "Results that came too late: the lease was lost to another worker meanwhile.",
    *_OF_KINDS,
)
HYPOTHESES = Counter("steelyard_worker_hypotheses", "Segments times systems of the shards that were done.")
DATABASE_ERRORS = Counter("steelyard_worker_database_errors", "Transactions that the database did not end.")
LOST = Counter(
    "steelyard_worker_processes_lost",
    "Pool processes that died at work, or were killed because it took too long.",
    "reason",
    ("died", "time"),
)
MESSAGES = Counter(
    "steelyard_worker_messages_dropped",
    "Messages that were not ours, or for a task that this release does not know.",
    "reason",
    REASONS,
)
SHARD_SECONDS = Histogram("steelyard_shard_seconds", "Time of a shard, from its claim until it was completed.")
KERNEL_SECONDS = Histogram("steelyard_shard_kernel_seconds", "Time of a shard's numeric work.")

COUNTED = (
    *(DONE, RETRIES, FAILURES, DROPPED, HYPOTHESES, DATABASE_ERRORS, LOST, MESSAGES),
    *(SHARD_SECONDS, KERNEL_SECONDS),
)

MEMORY = "steelyard_worker_process_memory_bytes"
"""For each pool process, by its number."""


def new_counters(processes: int) -> SharedCounters:
    """What the processes of a pool count in; make it before they are forked."""
    return SharedCounters(COUNTED, processes)


class WorkerMetrics:
    """A collector of `prometheus_client`."""

    def __init__(self, counters: SharedCounters) -> None:
        self._counters = counters

    def collect(self) -> Iterable[Metric]:
        """The counters of all processes so far."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        yield from metric_families(self._counters)
        memory = GaugeMetricFamily(MEMORY, "Resident memory of a pool process.", labels=["process"])
        for number, pid in self._counters.processes().items():
            resident = memory_bytes(pid)
            if resident is not None:
                memory.add_metric([str(number)], resident)
        yield memory
