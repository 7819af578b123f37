"""What a worker shows to Prometheus: what its processes have counted, and what memory they have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from worker.tally import Counter, Tally

if TYPE_CHECKING:
    from prometheus_client import Metric

    from worker.station import Station

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


def tallied(tally: Tally) -> Iterable[Metric]:
    """What was counted, as Prometheus has it."""
    from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily

    for each in tally.kept:
        if isinstance(each, Counter):
            family = CounterMetricFamily(each.name, each.text, labels=[each.label] if each.label else [])
            for value in each.values:
                family.add_metric([value] if each.label else [], tally.total(each.name, value))
            yield family
        else:
            counts, total = tally.buckets(each.name)
            ends = [*map(str, each.ends), "+Inf"]
            yield HistogramMetricFamily(each.name, each.text, list(zip(ends, counts, strict=True)), total)


def resident_bytes(pid: int) -> int | None:
    """The resident memory of a process; None where it has ended, or where the system cannot tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("VmRSS:")), None)


def exposition(collectors: Iterable[object]) -> bytes:
    """All that these collectors tell, and what this process itself uses, in Prometheus' text format."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    for each in collectors:
        registry.register(each)  # type: ignore[arg-type]
    return generate_latest(registry)
