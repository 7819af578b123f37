"""What a worker shows to Prometheus: what its processes have counted, and what memory they have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from runtime.telemetry import resident_bytes, tallied

if TYPE_CHECKING:
    from prometheus_client import Metric

    from worker.context import Station

MEMORY = "steelyard_worker_process_memory_bytes"
"""Of each pool process, by its number."""


class WorkerMetrics:
    """A collector of `prometheus_client`."""

    def __init__(self, station: Station) -> None:
        self._station = station

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


@contextmanager
def tallying(station: Station) -> Iterator[None]:
    """Let the processes of the pool that are forked meanwhile say which they are."""
    from celery import signals

    def on_start(**_: object) -> None:
        station.tally.begin()

    signals.worker_process_init.connect(on_start, weak=False)
    try:
        yield
    finally:
        signals.worker_process_init.disconnect(on_start)
