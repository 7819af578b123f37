"""A worker's Prometheus metrics: the counters and the memory of its processes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from runtime.telemetry import resident_bytes, tallied

if TYPE_CHECKING:
    from prometheus_client import Metric

    from worker.context import WorkerContext

MEMORY = "steelyard_worker_process_memory_bytes"
"""For each pool process, by its number."""


class WorkerMetrics:
    """A collector of `prometheus_client`."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context

    def collect(self) -> Iterable[Metric]:
        """The counters of all processes so far."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        yield from tallied(self._context.tally)
        memory = GaugeMetricFamily(MEMORY, "Resident memory of a pool process.", labels=["process"])
        for number, pid in self._context.tally.processes().items():
            resident = resident_bytes(pid)
            if resident is not None:
                memory.add_metric([str(number)], resident)
        yield memory
