"""The result of `score` as text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.commands.scoring.details import detail_table
from steelyard.tables import paired_tests
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.commands.scoring.runs import TakenRuns
    from steelyard.commands.scoring.score_result import MetricScores, Result, SystemScore

SHOWN = "Scores are shown with ± s_opt."


def render(result: Result) -> str:
    """A table with a column per metric, then the other requested tables, signatures and method."""
    if result.options.score_only:
        rows = zip(*([metric.shown(found.score) for found in metric.systems] for metric in result.metrics), strict=True)
        return "".join(" ".join(row) + "\n" for row in rows)
    parts = [aligned(score_table(result))]
    if result.has_runs:
        parts.append(aligned(run_table(result)) + "".join(f"{sentence}\n" for sentence in run_notes(result)))
    if result.tests:
        parts.append(paired_tests.as_text(result.tests, result.options.width))
    if any(metric.measurement.segment_scores is not None for metric in result.metrics):
        parts.append(aligned(segment_rows(result)))
    if result.runs:
        parts += tables_of_words(result.runs, result)
    for table in detail_tables(result):
        parts.append(aligned(table))
    lines = [f"{metric.measurement.metric.title}|{metric.signature}\n" for metric in result.metrics]
    if result.intervals:
        lines.append(f"{result.intervals}\n")
    return "\n".join([*parts, "".join(lines)])


def score_table(result: Result) -> list[list[str]]:
    """A header, then a row per system: its scores with their intervals."""
    rows = [["System", *(metric.title for metric in result.metrics)]]
    for place, name in enumerate(result.names):
        rows.append([name, *(cell(metric, metric.systems[place]) for metric in result.metrics)])
    return rows


def cell(metric: MetricScores, found: SystemScore) -> str:
    """Score, s_opt where there are runs, interval."""
    shown = metric.shown(found.score)
    if found.spread and not math.isnan(found.spread.optimization):
        shown += f" ± {metric.shown(found.spread.optimization)}"
    if found.interval:
        shown += f"  [{metric.shown(found.interval[0])}, {metric.shown(found.interval[1])}]"
    return shown


def run_table(result: Result) -> list[list[str]]:
    """A header, then for every system with runs a row per metric: s_sel, s_opt and each run's score."""
    rows = [["System", "Runs", "Metric", "Score", "s_sel", "s_opt", "Score of each run"]]
    for place, system in enumerate(result.inputs.systems):
        for metric in result.metrics if system.runs is not None else ():
            found = metric.systems[place]
            assert found.spread, "given as runs"
            scores = [metric.shown(metric.measurement.scores[output]) for output in system.outputs]
            numbers = [
                metric.shown(value) for value in (found.score, found.spread.selection, found.spread.optimization)
            ]
            rows.append([system.name, str(len(scores)), metric.measurement.metric.title, *numbers, ", ".join(scores)])
    return rows


def run_notes(result: Result) -> list[str]:
    """What the table of runs means, a sentence each."""
    single = any(system.runs is not None and len(system.runs) == 1 for system in result.inputs.systems)
    selection = [] if result.options.confidence else ["s_sel needs bootstrap replicates: --confidence."]
    return [f"{paired_tests.RUN_SPREADS} {SHOWN}", *selection, *([paired_tests.ONE_RUN] if single else [])]


def segment_rows(result: Result) -> list[list[str]]:
    """A header, then every segment's scores, one row per segment and output."""
    table = [["Segment", "System", *(metric.measurement.metric.title for metric in result.metrics)]]
    for segment in range(result.inputs.references[0].segments):
        for output, label in enumerate(result.inputs.labels):
            scores = [
                metric.shown(metric.measurement.segment_scores[output, segment])
                for metric in result.metrics
                if metric.measurement.segment_scores is not None
            ]
            table.append([str(segment + 1), label, *scores])
    return table


def tables_of_words(taken: TakenRuns, result: Result) -> Iterator[str]:
    """The runs of words of every GTM, one row each."""
    header = ("Segment", "System", "Size", "SystemRank", "Reference", "SystemRank there", "Words")
    for metric in result.metrics:
        rows = list(taken.rows(metric.measurement.metric, result.inputs.labels))
        if rows:
            yield f"Runs of {metric.measurement.metric.title}\n" + aligned([header, *rows])


def detail_tables(result: Result) -> Iterator[list[list[str]]]:
    """A table of further figures for each metric that has some."""
    for metric in result.metrics:
        measurement = metric.measurement
        details = [measurement.metric.details(each) for each in measurement.sums]
        if table := detail_table(measurement.metric.title, result.inputs.labels, details, result.options.width):
            yield table
