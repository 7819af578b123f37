"""What `score` prints: text for people, JSON and TSV for programs."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from cli import runs
from cli.columns import aligned, digits
from cli.details import detail_table
from metrics.base import VERSION
from metrics.resampling.interval import percentile_interval

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from cli.inputs import Inputs
    from cli.runs import TakenRuns
    from metrics.measure import Measurement
    from metrics.resampling.paired import PairedResult
    from metrics.text.plain import Text


@dataclass(frozen=True)
class Result:
    """Everything that one call of `score` found out."""

    inputs: Inputs
    metric_names: Sequence[str]
    """As the user wrote them."""
    measurements: Sequence[Measurement]
    paired: Sequence[PairedResult]
    options: argparse.Namespace
    runs: TakenRuns | None = None

    def signature(self, measurement: Measurement) -> str:
        """The signature of one metric in this call."""
        count = "var" if self.inputs.variable_references else len(self.inputs.references)
        return measurement.metric.signature(count, self.options.confidence, self.options.seed)

    def interval(self, measurement: Measurement, system: int) -> tuple[float, float] | None:
        """The bootstrap interval, where one was asked for and exists."""
        if not self.options.confidence:
            return None
        return percentile_interval(measurement.replicate_scores[system], self.options.level)

    def width(self, measurement: Measurement) -> int:
        """Digits after the point."""
        return digits(self.options.width, measurement.metric.scale)


def render(result: Result) -> str:
    """The result in the format that was asked for."""
    if result.options.format == "json":
        return json.dumps(as_json(result), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if result.options.format == "tsv":
        return as_tsv(result)
    return as_text(result)


def number(value: float) -> float | None:
    """For JSON: null where undefined."""
    return None if math.isnan(value) else float(value)


def digest(text: Text) -> str:
    """SHA-256 of the canonical text: lines that end in LF, the last one too."""
    return sha256(text.bytes + b"\n").hexdigest()


def as_json(result: Result) -> dict[str, Any]:
    """The structure of the JSON output; numbers at full precision, null where undefined."""
    level, replicates = result.options.level, result.options.confidence
    systems = []
    for position, (name, text) in enumerate(zip(result.inputs.names, result.inputs.systems, strict=True)):
        scores = []
        for metric_name, measurement in zip(result.metric_names, result.measurements, strict=True):
            interval = result.interval(measurement, position)
            entry: dict[str, Any] = {
                "metric": metric_name,
                "title": measurement.metric.title,
                "signature": result.signature(measurement),
                "higher_is_better": measurement.metric.higher_is_better,
                "score": number(measurement.scores[position]),
                "interval": interval and {"level": level, "low": interval[0], "high": interval[1], "n": replicates},
            }
            if details := measurement.metric.details(measurement.sums[position]):
                entry["details"] = details
            if measurement.segment_scores is not None:
                entry["segments"] = [number(score) for score in measurement.segment_scores[position].tolist()]
            if result.runs and (taken := result.runs.of(measurement.metric, position)) is not None:
                entry["runs"] = [runs.as_json(segment) for segment in taken]
            scores.append(entry)
        systems.append({"system": name, "hash": digest(text), "scores": scores})
    tests = [
        {
            "a": result.inputs.names[test.a],
            "b": result.inputs.names[test.b],
            "metric": result.metric_names[test.metric],
            "test": "bootstrap",
            "difference": number(test.difference),
            "p": test.p,
            "p_corrected": None,
        }
        for test in result.paired
    ]
    hashes = [digest(text) for text in result.inputs.references]
    test_set = {"segments": result.inputs.references[0].segments, "hashes": {"references": hashes}}
    return {"version": VERSION, "test_set": test_set, "systems": systems, "paired": tests}


def as_tsv(result: Result) -> str:
    """One row per score; with segment scores, one more row for each, numbered from 1."""
    rows = ["system\tmetric\tsegment\tscore\tlow\thigh\tlevel\tsignature"]
    for position, name in enumerate(result.inputs.names):
        for metric_name, measurement in zip(result.metric_names, result.measurements, strict=True):
            interval = result.interval(measurement, position)
            low, high = (repr(end) for end in interval) if interval else ("", "")
            level = repr(result.options.level) if interval else ""
            score, signature = exact(measurement.scores[position]), result.signature(measurement)
            rows.append(f"{name}\t{metric_name}\t\t{score}\t{low}\t{high}\t{level}\t{signature}")
            if measurement.segment_scores is not None:
                for segment, value in enumerate(measurement.segment_scores[position].tolist(), 1):
                    rows.append(f"{name}\t{metric_name}\t{segment}\t{exact(value)}\t\t\t\t{signature}")
    if result.paired:
        rows += ["", "a\tb\tmetric\ttest\tdifference\tp"]
        for test in result.paired:
            a, b = result.inputs.names[test.a], result.inputs.names[test.b]
            metric_name = result.metric_names[test.metric]
            rows.append(f"{a}\t{b}\t{metric_name}\tbootstrap\t{exact(test.difference)}\t{test.p!r}")
    if result.runs:
        rows += ["", "\t".join(("metric", *runs.COLUMNS))]
        for metric_name, measurement in zip(result.metric_names, result.measurements, strict=True):
            for row in result.runs.rows(measurement.metric, result.inputs.names):
                rows.append("\t".join((metric_name, *row)))
    return "\n".join(rows) + "\n"


def exact(value: float) -> str:
    """All digits, or nothing where undefined."""
    return "" if math.isnan(value) else repr(float(value))


def as_text(result: Result) -> str:
    """A table with a column per metric, and below it how each was made."""
    if result.options.score_only:
        columns = ([shown(score, result.width(m)) for score in m.scores] for m in result.measurements)
        rows = zip(*columns, strict=True)
        return "".join(" ".join(row) + "\n" for row in rows)
    header = [
        "System",
        *(m.metric.title + ("" if m.metric.higher_is_better else " (less is better)") for m in result.measurements),
    ]
    p_values = {(test.b, test.metric): test for test in result.paired}
    table = [header]
    for position, name in enumerate(result.inputs.names):
        row = [name]
        for metric, measurement in enumerate(result.measurements):
            width = result.width(measurement)
            cell = shown(measurement.scores[position], width)
            interval = result.interval(measurement, position)
            if interval:
                cell += f"  [{interval[0]:.{width}f}, {interval[1]:.{width}f}]"
            if (position, metric) in p_values:
                cell += f"  p = {p_values[position, metric].p:.4f}"
            row.append(cell)
        table.append(row)
    lines = [aligned(table)]
    if any(m.segment_scores is not None for m in result.measurements):
        lines.append(segment_table(result))
    if result.runs:
        lines += run_tables(result.runs, result)
    for m in result.measurements:
        details = detail_table(
            m.metric.title, result.inputs.names, [m.metric.details(each) for each in m.sums], result.options.width
        )
        if details:
            lines.append(aligned(details))
    lines += [f"{m.metric.title}|{result.signature(m)}" for m in result.measurements]
    if result.options.confidence:
        lines.append(
            f"Intervals: {100 * result.options.level:g} %, percentiles of {result.options.confidence:,} "
            f"bootstrap replicates, seed {result.options.seed}."
        )
    if result.paired:
        lines.append(f"p: paired bootstrap against {result.inputs.names[0]}, two-sided, not corrected.")
    return "\n".join(lines) + "\n"


def segment_table(result: Result) -> str:
    """Every segment's scores, one row per segment and system."""
    table = [["Segment", "System", *(m.metric.title for m in result.measurements)]]
    by_metric = [(m.segment_scores, result.width(m)) for m in result.measurements if m.segment_scores is not None]
    for segment in range(result.inputs.references[0].segments):
        for position, name in enumerate(result.inputs.names):
            scores = [shown(scores[position, segment], width) for scores, width in by_metric]
            table.append([str(segment + 1), name, *scores])
    return aligned(table)


def run_tables(taken: TakenRuns, result: Result) -> Iterator[str]:
    """The runs of every GTM, one row each."""
    header = ("Segment", "System", "Size", "Place", "Reference", "Place there", "Words")
    for measurement in result.measurements:
        rows = list(taken.rows(measurement.metric, result.inputs.names))
        if rows:
            yield f"Runs of {measurement.metric.title}\n" + aligned([header, *rows])


def shown(score: float, width: int) -> str:
    """A score for people."""
    return "n/a" if math.isnan(score) else f"{score:.{width}f}"
