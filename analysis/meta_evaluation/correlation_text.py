"""The method of a correlation with human judgments, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.meta_evaluation.correlation import SYSTEM
from steelyard.resampling.correction import TITLES
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation

ALPHA = 0.05
FEW_SYSTEMS = 20
"""With fewer, a correlation of systems says little: of 20, r = 0.5 is seen as anything from 0.07 to 0.77."""


def explanations(table: BoardCorrelation, *, name_systems: bool = True) -> list[str]:
    """The data and the method behind the numbers, a sentence each.

    `name_systems` is False for a reader who must not see the names under which systems were judged.
    """
    sentences = [_counts(table)]
    judged, listed = table.judged, table.judged.board.listed
    turned = [row.metric.title for row in table.rows if not row.metric.higher_is_better]
    if turned:
        sentences.append(f"Less is better by {', '.join(turned)}: the scores were negated.")
    sentences += _intervals(table)
    if table.tested:
        everything = table.level == SYSTEM and 2 ** len(judged.systems) <= table.trials
        how = f"all {2 ** len(judged.systems):,} ways" if everything else f"{table.trials:,} trials, seed {listed.seed}"
        family = sum(row.test is not None for row in table.rows)
        corrected = "not corrected"
        if table.asked.correction != "none":
            corrected = f"corrected by {TITLES[table.asked.correction]} for {family} tests"
        sentences.append(
            f"p: permutation of the two metrics' scores ({how}), two-sided, {corrected}; "
            f"* {'p' if table.asked.correction == 'none' else 'corrected p'} below {ALPHA:g}."
        )
        least = (family if table.asked.correction == "holm" else 1) / (table.trials + 1)
        if not everything and least >= ALPHA:
            sentences.append(f"Note: {table.trials:,} trials cannot give a corrected p below {least:.2g}: use more.")
    if table.undefined:
        names = ", ".join(statistic.title for statistic in table.undefined)
        sentences.append(f"Not defined here: {names}{_why(table)}".removesuffix(".") + ".")
    for left_out, what in (
        (judged.board.without, "as asked"),
        (judged.matched.references, "human translations"),
        (judged.matched.unknown, "judged, but not on this leaderboard"),
        (judged.matched.not_judged, "not judged"),
        (judged.unscored, "judged, but not scored (yet)"),
    ):
        if left_out and name_systems:
            sentences.append(f"Left out, {what}: {', '.join(left_out)}.")
    systems = len(judged.systems)
    if table.level == SYSTEM and 1 < systems < FEW_SYSTEMS:
        sentences.append(
            f"CAUTION: {systems} systems are few. Correlations of so few change much from one set of systems to "
            "another: read the intervals, not the ranks."
        )
    return sentences


def _counts(table: BoardCorrelation) -> str:
    """The number of systems, pairs or segments behind each statistic."""
    found = []
    for position, statistic in enumerate(table.statistics):
        counts = [row.agreements[position].counted for row in table.rows]
        span = f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
        unit = statistic.unit.removesuffix("s") if max(counts) == 1 else statistic.unit
        found.append((f"{span} {unit}", statistic.title))
    grouped: dict[str, list[str]] = {}
    for count, title in found:
        grouped.setdefault(count, []).append(title)
    shares = "; ".join(f"{count} ({', '.join(titles)})" for count, titles in grouped.items())
    return f"{number_of(len(table.judged.systems), 'system')} judged and scored" + (
        f". Counted: {shares}." if shares else "."
    )


def _intervals(table: BoardCorrelation) -> list[str]:
    made: dict[tuple[str, int], list[str]] = {}
    for position, statistic in enumerate(table.statistics):
        agreement = table.rows[0].agreements[position]
        if agreement.resampled:
            made.setdefault((agreement.resampled, len(agreement.replicates)), []).append(statistic.title)
    shares = [
        f"{n:,} replicates that draw {what}" + (f" ({', '.join(titles)})" if len(made) > 1 else "")
        for (what, n), titles in made.items()
    ]
    if not shares:
        return []
    level, seed = 100 * table.asked.level, table.judged.board.listed.seed
    return [f"{level:g} % intervals: percentiles of {', and of '.join(shares)}; seed {seed}."]


def _why(table: BoardCorrelation) -> str:
    if table.level == SYSTEM:
        return "" if table.judged.has_segments else " (no scores of segments)"
    return " (no segment with two judged systems)" if all(each.unit != "cells" for each in table.undefined) else ""
