"""The result of `score` as JSON: numbers at full precision, null where undefined."""

from __future__ import annotations

import json
import math
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from steelyard.commands.scoring import runs
from steelyard.metrics.metric import VERSION
from steelyard.tables.paired_test_rows import as_objects

if TYPE_CHECKING:
    from steelyard.commands.scoring.score_result import MetricScores, Result, SystemScore
    from steelyard.formats.plain import Text


def render(result: Result) -> str:
    """The whole output.

    Parameters
    ----------
    result : Result

    Returns
    -------
    str
    """
    return json.dumps(structure(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def structure(result: Result) -> dict[str, Any]:
    """The JSON document as dictionaries and lists.

    Parameters
    ----------
    result : Result

    Returns
    -------
    dict of str to object
    """
    systems = []
    for place, system in enumerate(result.inputs.systems):
        scores = [_score(result, metric, metric.systems[place]) for metric in result.metrics]
        entry: dict[str, Any] = {"system": system.name}
        if system.runs is None:
            (output,) = system.outputs
            for score, metric in zip(scores, result.metrics, strict=True):
                score |= _of_output(result, metric, output)
            entry |= {"hash": digest(result.inputs.outputs[output]), "scores": scores}
        else:
            entry |= {"scores": scores, "runs": [_run(result, place, output) for output in system.outputs]}
        systems.append(entry)
    hashes: dict[str, Any] = {"references": [digest(text) for text in result.inputs.references]}
    if result.inputs.source is not None:
        hashes["source"] = digest(result.inputs.source)
    test_set = {"segments": result.inputs.references[0].segments, "hashes": hashes}
    tests = as_objects(result.tests) if result.tests else []
    return {
        "version": VERSION,
        "test_set": test_set,
        "systems": systems,
        "paired": tests,
    }


def _score(result: Result, metric: MetricScores, found: SystemScore) -> dict[str, Any]:
    """A system's score by one metric."""
    options = result.options
    ends = found.interval and {
        "level": options.level,
        "low": found.interval[0],
        "high": found.interval[1],
        "n": options.confidence,
        "kind": options.interval,
    }
    entry = {
        "metric": metric.name,
        "title": metric.measurement.metric.title,
        "signature": metric.signature,
        "higher_is_better": metric.measurement.metric.higher_is_better,
        "score": number(found.score),
        "interval": ends,
    }
    if found.spread:
        entry |= {"s_sel": number(found.spread.selection), "s_opt": number(found.spread.optimization)}
    return entry


def _run(result: Result, place: int, output: int) -> dict[str, Any]:
    """One of several runs of a system."""
    system = result.inputs.systems[place]
    assert system.runs is not None, "asked for systems that were given as runs"
    scores = [
        {
            "metric": metric.name,
            "score": number(metric.measurement.scores[output]),
            **_of_output(result, metric, output),
        }
        for metric in result.metrics
    ]
    name = system.runs[output - system.outputs.start]
    return {"run": name, "hash": digest(result.inputs.outputs[output]), "scores": scores}


def _of_output(result: Result, metric: MetricScores, output: int) -> dict[str, Any]:
    """Fields of single outputs, where requested: further figures, segment scores, GTM's runs of words."""
    measurement = metric.measurement
    entry: dict[str, Any] = {}
    if details := measurement.metric.details(measurement.sums[output]):
        entry["details"] = details
    if measurement.segment_scores is not None:
        entry["segments"] = [number(score) for score in measurement.segment_scores[output].tolist()]
    if result.runs and (taken := result.runs.of(measurement.metric, output)) is not None:
        entry["runs"] = [runs.as_json(segment) for segment in taken]
    return entry


def number(value: float) -> float | None:
    """Null where undefined.

    Parameters
    ----------
    value : float

    Returns
    -------
    float or None
    """
    return None if math.isnan(value) else float(value)


def digest(text: Text) -> str:
    """SHA-256 of the canonical text: lines that end in LF, the last one too.

    Parameters
    ----------
    text : Text

    Returns
    -------
    str
    """
    return sha256(text.bytes + b"\n").hexdigest()
