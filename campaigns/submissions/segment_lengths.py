"""Rejects segments that would occupy a worker for long: a metric may take quadratic time in their length, or more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.errors import MetricsError
from steelyard.metrics.registry import parse_metric
from steelyard.text.findings import place
from steelyard.text.limits import OverLimit

if TYPE_CHECKING:
    from collections.abc import Collection

    from steelyard.formats.plain import Text
    from steelyard.metrics.metric import Metric

READ_BLOCKS = 64


def check_segments(text: Text, specifications: Collection[str], seconds: float) -> None:
    """Raise OverLimit for a segment for which one of the metrics is estimated to take longer than `seconds`."""
    slowest = min(_metrics(specifications), key=lambda metric: metric.longest(seconds), default=None)
    if slowest is None or (longest := slowest.longest(seconds)) == math.inf:
        return
    most, number = int(longest), 0
    for run in text.runs(READ_BLOCKS):
        for line in run.split(b"\n"):
            number += 1
            # The number of bytes is an upper bound: few lines need their characters counted.
            if len(line) > most and (characters := len(line.decode())) > most:
                where = place(text.name, number) if text.unit == "line" else f"{text.name}, {text.unit} {number}"
                raise OverLimit(
                    f"{where}: {characters:,} characters in one segment. The maximum for {slowest.title}, which this "
                    f"campaign uses, is {most:,}. Check whether segments were joined or text was repeated; otherwise "
                    "ask the administrators of the server to raise STEELYARD_SEGMENT_SECONDS."
                )


def _metrics(specifications: Collection[str]) -> list[Metric]:
    found = []
    for specification in specifications:
        try:
            found.append(parse_metric(specification))
        except MetricsError:
            # A metric of another distribution that is not installed here: the worker limits its time.
            continue
    return found
