"""The result of `score` in the format `.scr` of NIST's MetricsMATR, as mteval-v13a writes it.

Fields between tabs: test set, system, score; for segments test set, system, document, segment, score. There is no field
for the metric, so a file holds the scores of one.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from steelyard.commands.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.commands.scoring.score_result import Result
    from steelyard.metrics.contract import MetricContract

TEST_SET, DOCUMENT = "set", "doc"
"""Names where the files say none."""


def check(metrics: Sequence[MetricContract]) -> None:
    """Raise UsageError unless there is one metric.

    Parameters
    ----------
    metrics : sequence of MetricContract
    """
    if len(metrics) != 1:
        raise UsageError(
            f"-f scr holds the scores of one metric and does not name it; there are {len(metrics)}. Say -m."
        )


def render(result: Result) -> str:
    """A line for every system, or where segments were asked for, a line for every segment of every output.

    Scores that go from 0 to 100 elsewhere go from 0 to 1 here, as those of mteval; undefined ones are "nan".

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
    """
    (metric,) = result.metrics
    inputs, measurement = result.inputs, metric.measurement
    test_set = field(inputs.test_set or TEST_SET)
    lines: list[tuple[str, ...]]
    if measurement.segment_scores is None:
        lines = [
            (test_set, field(system.name), scaled(measurement.metric, found.score))
            for system, found in zip(inputs.systems, metric.systems, strict=True)
        ]
    else:
        ids = inputs.segment_ids or [(DOCUMENT, str(number + 1)) for number in range(inputs.references[0].segments)]
        lines = [
            (test_set, field(label), field(document), field(segment), scaled(measurement.metric, score))
            for label, scores in zip(inputs.labels, measurement.segment_scores.tolist(), strict=True)
            for (document, segment), score in zip(ids, scores, strict=True)
        ]
    return "".join("\t".join(line) + "\n" for line in lines)


def field(text: str) -> str:
    """A name without white space: some readers of the format split at any.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return re.sub(r"\s", "_", text)


def scaled(metric: MetricContract, score: float) -> str:
    """A score at full precision, from 0 to 1 where the metric has an upper end.

    Parameters
    ----------
    metric : MetricContract
    score : float

    Returns
    -------
    str
    """
    return repr(float(score / metric.scale if math.isfinite(metric.scale) else score))
