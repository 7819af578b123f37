"""`steelyard correlate`: how well metrics agree with human judgments, from files of scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import (
    GRANULARITIES,
    correction_option,
    format_option,
    granularity_option,
    level_option,
    many,
    option,
    permutation_option,
    replicates_option,
    seed_option,
    statistics_option,
    width_option,
)
from steelyard.commands.parsing import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from steelyard.meta_evaluation.correlation import CorrelationTable
    from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores

    Part = tuple[CorrelationTable[JudgedScores], str]
    """A table and what it is of."""


@click.command(
    "correlate",
    cls=Command,
    help="Show how well metrics agree with human judgments of the same systems: correlations and pairwise accuracy, by "
    "system and by segment, with bootstrap intervals, and tests of every metric against the best one. SCORES are files "
    "or folders of files, with the scores of systems or segments: a table with the columns system, metric, score (and "
    "document, segment), WMT's JSON Lines or TSV, mt-metrics-eval's .score, COMET's or MetricX' JSON. The human scores "
    "are in a file of the same kind. `steelyard campaign correlate` does the same with what a campaign stores.",
    example="steelyard correlate scores.tsv --human human.tsv --replicates 1000",
)
@click.argument("scores", nargs=-1, required=True, metavar="SCORES...", help="files or folders of scores of metrics")
@many("--human", required=True, metavar="FILE...", help="human scores: files with one metric; higher is better")
@option("--pair", metavar="SRC-TRG", help="only this language pair (default: every pair with human scores)")
@granularity_option()
@statistics_option()
@many("-m", "--metrics", metavar="METRIC...", help="only these metrics")
@many("--lower-is-better", metavar="METRIC...", help="metrics of which a lower score is better, beside MetricX")
@many("--leave-out", metavar="SYSTEM...", help="leave out these systems, such as human translations")
@replicates_option("1,000")
@level_option()
@option("--baseline", metavar="METRIC", help="test the others against this metric, not the best one")
@permutation_option()
@correction_option("holm")
@seed_option("draws")
@option(
    "--metrics-task",
    "as_task",
    is_flag=True,
    help="one table of all language pairs, as WMT's metrics task: soft pairwise accuracy and acc-eq, and their average",
)
@format_option()
@width_option(3, " in all formats for people")
def correlate(
    scores: Sequence[str],
    human: Sequence[str],
    pair: str | None,
    granularity: str,
    statistics: Sequence[str],
    metrics: Sequence[str],
    lower_is_better: Sequence[str],
    leave_out: Sequence[str],
    baseline: str | None,
    seed: int,
    as_task: bool,
    format: str,  # noqa: A002 - the option's name
    width: int,
    **asked: Any,
) -> int:
    """Read the scores, compute the correlations and print them; the exit status."""
    from steelyard.meta_evaluation.correlation import CorrelationOptions, correlate_segments, correlate_systems
    from steelyard.meta_evaluation.score_files import judged_pairs
    from steelyard.meta_evaluation.statistics import chosen_statistics

    if as_task and (statistics or baseline is not None):
        raise UsageError(
            "--metrics-task has its own statistics, and tests every two metrics: leave out "
            f"{'--statistics' if statistics else '--baseline'}."
        )
    levels = GRANULARITIES if granularity == "both" else (granularity,)
    by_level = chosen_statistics(statistics, levels)
    found = judged_pairs(
        scores, human, lower_is_better=lower_is_better, metrics=metrics, leave_out=leave_out, pair=pair, seed=seed
    )
    if as_task:
        note([notice for each in found for notice in each.notices])
        return print_task({each.pair: each.judged for each in found}, asked["trials"], seed, width, format)
    parts: list[Part] = []
    for judged, _, title, notices in found:
        note(notices)
        options = CorrelationOptions(
            asked["replicates"], asked["level"], asked["trials"], asked["correction"],
            None if baseline is None else position(judged.metrics, baseline),
        )  # fmt: skip
        if "system" in by_level and judged.has_systems:
            parts.append((correlate_systems(judged, by_level["system"], options), title))
        if "segment" in by_level and judged.has_segments:
            parts.append((correlate_segments(judged, by_level["segment"], options), title))
    if not parts:
        raise CommandError(f"There are no human scores by {' or '.join(levels)}. Choose another --granularity.")
    print(rendered(parts, width, format), end="")
    return 0


def print_task(pairs: Mapping[str, JudgedScores], trials: int | None, seed: int, width: int, form: str) -> int:
    """Print the table of a metrics task; the exit status.

    Parameters
    ----------
    pairs : mapping of str to JudgedScores
    trials : int, optional
        1,000 where it is None.
    seed : int
    width : int
    form : str

    Returns
    -------
    int
    """
    from steelyard.meta_evaluation.metrics_task import TRIALS, metrics_task
    from steelyard.tables.metrics_task import COLUMNS, rows_of, tables_of
    from steelyard.tables.rendering import render_document

    task = metrics_task(pairs, trials=TRIALS if trials is None else trials, seed=seed)
    shown = render_document(
        form,
        document=task.to_json,
        data=lambda: (COLUMNS, rows_of(task)),
        tables=lambda: tables_of(task, width),
        title="Metrics task",
    )
    print(shown, end="")
    return 0


def position(metrics: Sequence[JudgedMetric], name: str) -> int:
    """The place of a metric. Raises UsageError.

    Parameters
    ----------
    metrics : sequence of JudgedMetric
    name : str

    Returns
    -------
    int
    """
    names = [each.specification for each in metrics]
    if name not in names:
        raise UsageError(f'There is no metric "{name}". There are: {", ".join(names)}.')
    return names.index(name)


def rendered(parts: Sequence[Part], width: int, form: str) -> str:
    """All tables; in JSON, TSV and CSV every statistic in full precision, in the order of a row for each.

    Parameters
    ----------
    parts : sequence of Part
    width : int
    form : str

    Returns
    -------
    str
    """
    from steelyard.tables import delimited, rendering
    from steelyard.tables.correlation import TSV_COLUMNS, tables_of, tsv_rows

    if form == "json":
        return rendering.as_json([document(*part) for part in parts])
    if form in ("tsv", "csv"):
        rows = [(title, *row) for table, title in parts for row in tsv_rows(table)]
        return (delimited.as_tsv if form == "tsv" else delimited.as_csv)(("scores", *TSV_COLUMNS), rows)
    tables = [each for table, title in parts for each in tables_of(table, f"{title}, by {table.level}", width)]
    return rendering.render(tables, form, "Metrics and human judgments")


def document(table: CorrelationTable[JudgedScores], title: str) -> dict[str, Any]:
    """A table with numbers at full precision, null where undefined.

    Parameters
    ----------
    table : CorrelationTable[JudgedScores]
    title : str

    Returns
    -------
    dict of str to object
    """
    from steelyard.tables.correlation import metric_objects

    return {
        "title": title,
        "level": table.level,
        "seed": table.judged.seed,
        "systems": list(table.judged.systems),
        "undefined": [statistic.name for statistic in table.undefined],
        "baseline": table.baseline.specification if table.baseline else None,
        "metrics": metric_objects(table),
    }
