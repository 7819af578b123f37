"""What a metric promises for any texts. Each promise is a function that returns or raises PromiseBroken."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle, islice
from typing import TYPE_CHECKING

import numpy as np

from steelyard.conformance.campaign import Campaign
from steelyard.conformance.subject import PromiseBroken, Subject
from steelyard.fixed_point import GRID, on_grid
from steelyard.text.blocks import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Promise = Callable[[Subject, Campaign], None]


def statistics_lie_on_the_grid(subject: Subject, campaign: Campaign) -> None:
    """Statistics are float64, (systems, segments, columns), each a whole number or a multiple of 2^-24.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    found = subject.statistics(campaign)
    shape = len(campaign.systems), campaign.segments, len(subject.metric.columns)
    if not isinstance(found, np.ndarray) or found.dtype != np.float64:
        raise PromiseBroken(f"Statistics are {getattr(found, 'dtype', type(found).__name__)}, not float64.")
    if found.shape != shape:
        raise PromiseBroken(f"Statistics have the shape {found.shape}, not {shape}.")
    if not (np.abs(found) * GRID < 2**53).all():
        raise PromiseBroken("A statistic is not finite, or so large that sums would not be exact (2^29).")
    _compare(subject, found, on_grid(found), "statistic", "is not a multiple of 2^-24; the next one is")


def systems_do_not_know_each_other(subject: Subject, campaign: Campaign) -> None:
    """A system scored together with others has the same statistics as alone.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    together = subject.statistics(campaign)
    for position, (name, lines) in enumerate(campaign.systems.items()):
        alone = subject.statistics(replace(campaign, systems={name: lines}))
        _compare(subject, together[position : position + 1], alone, name, "together with others, alone")


def equal_systems_have_equal_statistics(subject: Subject, campaign: Campaign) -> None:
    """The same text sent in twice gets the same statistics twice.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    twice = {**campaign.systems, **{f"{name} again": lines for name, lines in campaign.systems.items()}}
    found = subject.statistics(replace(campaign, systems=twice))
    once, again = found[: len(campaign.systems)], found[len(campaign.systems) :]
    _compare(subject, again, once, "again", "the second time, the first time")


def segments_do_not_know_their_neighbours(subject: Subject, campaign: Campaign) -> None:
    """The statistics of a segment are the same whatever stands beside it, and in any order.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    together = subject.statistics(campaign)
    backwards = list(range(campaign.segments))[::-1]
    _compare(subject, subject.part(campaign, backwards)[:, ::-1], together, "order", "backwards, forwards")
    for position in backwards:
        alone = subject.part(campaign, [position])
        here = together[:, position : position + 1]
        _compare(subject, here, alone, f"line {position + 1}", "beside others, alone")


def shards_add_up(subject: Subject, campaign: Campaign) -> None:
    """Any split of a long test set into shards gives the same sums, scores and replicates, to the bit.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    # Long lines are cut: there are hundreds of them.
    short = Campaign(
        {label: _cut(lines) for label, lines in campaign.references.items()},
        {name: _cut(lines) for name, lines in campaign.systems.items()},
        _cut(campaign.source or [""] * campaign.segments),
    )
    rows = 2 * BLOCK + 17
    long = short.rearranged(list(islice(cycle(range(campaign.segments)), rows)))
    whole, split = subject.measured(long, rows), subject.measured(long, BLOCK)
    for what in ("sums", "scores", "replicate_scores"):
        if getattr(whole, what).tobytes() != getattr(split, what).tobytes():
            raise PromiseBroken(f"The {what} of {rows} segments differ between one shard and shards of {BLOCK}.")


def scores_are_finite_or_undefined(subject: Subject, campaign: Campaign) -> None:
    """Scores of systems and of segments have the right shape and are finite, or NaN where undefined.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    statistics = subject.statistics(campaign)
    sums = statistics.sum(axis=1)
    for what, scores, shape in (
        ("score", subject.metric.score(sums), sums.shape[:-1]),
        ("segment_score", subject.metric.segment_score(statistics), statistics.shape[:-1]),
        ("score", subject.metric.score(np.zeros_like(sums)), sums.shape[:-1]),
    ):
        if np.shape(scores) != shape:
            raise PromiseBroken(f"{what}() returns the shape {np.shape(scores)}, not {shape}.")
        if np.isinf(scores).any():
            raise PromiseBroken(f"{what}() is infinite; where a score is undefined it must be NaN.")


def a_score_depends_on_nothing_but_its_sums(subject: Subject, campaign: Campaign) -> None:
    """Scores of many rows are found in one call, each as if it were alone, now and later, and leave the sums alone.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    sums = subject.statistics(campaign).sum(axis=1)
    rows = np.stack([sums, 2 * sums, sums[::-1]])
    kept = rows.copy()
    together = subject.metric.score(rows)
    if not np.array_equal(rows, kept):
        raise PromiseBroken("score() changes the sums that it was given.")
    # Something else in between: a metric that remembers would mix it in.
    subject.statistics(campaign.rearranged([0]))
    for index in np.ndindex(rows.shape[:-1]):
        alone = subject.metric.score(rows[index])
        if not np.array_equal(alone, together[index], equal_nan=True):
            raise PromiseBroken(f"score() gives {together[index]} for a row among others, {alone} for it alone.")


def the_batch_stays_as_it_was(subject: Subject, campaign: Campaign) -> None:
    """Metrics that share the prepared texts do not disturb each other.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    from steelyard.metrics.edit.wer import WER
    from steelyard.metrics.ngram.bleu import BLEU
    from steelyard.metrics.ngram.chrf import ChrF

    others: Sequence[BLEU | ChrF | WER] = [BLEU(), BLEU(tok="none"), ChrF(), WER()]
    segments = subject.segments(campaign)
    before = [other.segment_statistics(segments) for other in others]
    first = subject.metric.segment_statistics(segments)
    _compare(subject, first, subject.statistics(campaign), "statistics", "after other metrics, alone")
    _compare(
        subject, subject.metric.segment_statistics(segments), first, "statistics", "the second time, the first time"
    )
    for other, statistics in zip(others, before, strict=True):
        if not np.array_equal(other.segment_statistics(segments), statistics):
            raise PromiseBroken(f"{other.name} has other statistics after this metric has used the texts.")


def a_missing_reference_counts_for_nothing(subject: Subject, campaign: Campaign) -> None:
    """With variable references, one that a segment lacks does not change its score.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    label, lines = next(iter(campaign.references.items()))
    lines = [line if line.strip() else "something" for line in lines]
    alone = replace(campaign, references={label: lines})
    more = replace(campaign, references={label: lines, "missing": [""] * len(lines)})
    score, segment_score = subject.metric.score, subject.metric.segment_score
    found, expected = subject.statistics(more, variable_references=True), subject.statistics(alone)
    for what, one, other in (
        ("segments", segment_score(found), segment_score(expected)),
        ("systems", score(found.sum(axis=1)), score(expected.sum(axis=1))),
    ):
        if not np.array_equal(one, other, equal_nan=True):
            raise PromiseBroken(f"The scores of the {what} change with a reference that no segment has.")


def details_are_finite_numbers(subject: Subject, campaign: Campaign) -> None:
    """What is shown beside the score of a system are finite numbers by name.

    Parameters
    ----------
    subject : Subject
    campaign : Campaign
    """
    for sums in subject.statistics(campaign).sum(axis=1):
        for name, value in subject.metric.details(sums).items():
            if not (isinstance(name, str) and isinstance(value, (int, float)) and np.isfinite(value)):
                raise PromiseBroken(f"The detail {name!r} is {value!r}, not a finite number.")


PROMISES: tuple[Promise, ...] = (
    statistics_lie_on_the_grid,
    systems_do_not_know_each_other,
    equal_systems_have_equal_statistics,
    segments_do_not_know_their_neighbours,
    the_batch_stays_as_it_was,
    a_missing_reference_counts_for_nothing,
    scores_are_finite_or_undefined,
    a_score_depends_on_nothing_but_its_sums,
    details_are_finite_numbers,
    shards_add_up,
)
"""Each holds for every metric and any texts."""


def _cut(lines: Sequence[str]) -> list[str]:
    return [line[:100] for line in lines]


def _compare(subject: Subject, found: Floats, expected: Floats, where: str, how: str) -> None:
    """Raise PromiseBroken with the first place where two arrays of statistics differ; `how` names both sides."""
    if found.shape != expected.shape:
        raise PromiseBroken(f"{where}: the shapes differ ({how}): {found.shape}, {expected.shape}.")
    # NaN is no statistic, so that it may count as a difference.
    for system, segment, column in np.argwhere(found != expected)[:1]:
        name = subject.metric.columns[column]
        one, other = float(found[system, segment, column]), float(expected[system, segment, column])
        raise PromiseBroken(f"{where}: {name} of segment {segment + 1} differs ({how}): {one!r}, {other!r}.")
