"""What a worker shows to Prometheus: what its processes have counted, and what memory they have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from runtime.telemetry import resident_bytes, tallied

if TYPE_CHECKING:
    from prometheus_client import Metric

    from worker.context import WorkerContext

MEMORY = "steelyard_worker_process_memory_bytes"
"""Of each pool process, by its number."""


class WorkerMetrics:
    """A collector of `prometheus_client`."""

    def __init__(self, context: WorkerContext) -> None:
        self._station = context

    def collect(self) -> Iterable[Metric]:
        """What has been counted so far, by whichever process."""
        from prometheus_client.metrics_core import GaugeMetricFamily

        yield from tallied(self._station.tally)
        memory = GaugeMetricFamily(MEMORY, "Resident memory of a pool process.", labels=["process"])
        for number, pid in self._station.tally.processes().items():
            resident = resident_bytes(pid)
            if resident is not None:
                memory.add_metric([str(number)], resident)
        yield memory
