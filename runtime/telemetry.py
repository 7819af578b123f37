"""Shared counters and the memory of processes in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.shared_counters import Counter, SharedCounters

if TYPE_CHECKING:
    from prometheus_client import Metric


def metric_families(counters: SharedCounters) -> Iterable[Metric]:
    """The counters and histograms as metric families of Prometheus."""
    from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily

    for each in counters.kept:
        if isinstance(each, Counter):
            family = CounterMetricFamily(each.name, each.text, labels=[each.label] if each.label else [])
            for value in each.values:
                family.add_metric([value] if each.label else [], counters.total(each.name, value))
            yield family
        else:
            counts, total = counters.buckets(each.name)
            ends = [*map(str, each.ends), "+Inf"]
            yield HistogramMetricFamily(each.name, each.text, list(zip(ends, counts, strict=True)), total)


def memory_bytes(pid: int | str = "self", field: str = "VmRSS") -> int | None:
    """The resident memory of a process, or another `field` of its status in Linux, in bytes.

    None if it has ended, or on other systems.
    """
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:")), None)


def exposition(collectors: Iterable[object]) -> bytes:
    """The metrics of these collectors, and of this process itself, in Prometheus' text format."""
    from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest

    registry = CollectorRegistry(auto_describe=False)
    ProcessCollector(registry=registry)
    for each in collectors:
        registry.register(each)  # type: ignore[arg-type]
    return generate_latest(registry)
