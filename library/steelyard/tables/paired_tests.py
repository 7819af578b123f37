"""Paired tests as tables and matrices for people."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.resampling.correction import TITLES
from steelyard.resampling.draws_needed import smallest_p
from steelyard.resampling.paired import FEW_SEGMENTS, TITLES_OF_TESTS, few_segments
from steelyard.tables.formatting import PLAIN, digits, p_value
from steelyard.tables.table import Column, Estimate, Kind, Table
from steelyard.text.wording import of_documents

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from steelyard.resampling.paired import PairedResult

LARGEST_MATRIX = 12
"""Systems whose matrix still fits a terminal."""

RUN_SPREADS = (
    "s_sel: standard deviation of a score over test sets like this one, from the bootstrap; s_opt: from run to run."
)
ONE_RUN = "For a system with one run s_opt is unknown: its score may be due to a lucky run."
RUN_COLUMNS = (
    Column("score", "Score", Kind.NUMBER),
    Column("s_sel", "s_sel", Kind.NUMBER),
    Column("s_opt", "s_opt", Kind.NUMBER),
    Column("run_scores", "Score of each run"),
)
INTERVALS = {"percentile": "percentiles", "bca": "bias-corrected and accelerated"}


@dataclass(frozen=True)
class ComparedMetric:
    """The properties of a metric that displaying a difference needs."""

    name: str
    """In JSON and TSV: as the user wrote it, or its specification."""
    title: str
    higher_is_better: bool
    scale: float


@dataclass(frozen=True)
class PairedTests:
    """Tests of systems against one another, and how they were made."""

    results: Sequence[PairedResult]
    systems: Sequence[str]
    metrics: Sequence[ComparedMetric]
    test: str
    """One of steelyard.resampling.paired.TESTS."""
    draws: int
    """Replicates of the bootstrap, or trials of the randomization: p is a multiple of 1 / (draws + 1)."""
    seed: int
    correction: str = "holm"
    baseline: int | None = None
    """The system that all others are tested against; None where all pairs are tested."""
    level: float = 0.95
    """Of the intervals."""
    interval: str = "percentile"
    """A key of INTERVALS."""
    replicates: int = 0
    """Bootstrap replicates that the intervals come from."""
    segments: int | None = None
    """Of the test set, where known."""
    same_output: Collection[tuple[int, int]] = ()
    """The pairs (a, b) whose outputs are the very same."""
    unit: str = "segment"
    """What replicates draw and trials exchange: "segment" or "document"."""
    alpha: float = 0.05
    """A difference with a smaller (corrected) p is marked."""

    def of(self, metric: int) -> list[PairedResult]:
        """The tests by one metric.

        Parameters
        ----------
        metric : int

        Returns
        -------
        list of PairedResult
        """
        return [result for result in self.results if result.metric == metric]

    def p(self, result: PairedResult) -> float:
        """The p-value that decides: the corrected one where there is one.

        Parameters
        ----------
        result : PairedResult

        Returns
        -------
        float
        """
        return result.p if math.isnan(result.p_corrected) else result.p_corrected

    def significant(self, result: PairedResult) -> bool:
        """Whether the difference is more than chance.

        Parameters
        ----------
        result : PairedResult

        Returns
        -------
        bool
        """
        return self.p(result) < self.alpha

    def direction(self, result: PairedResult) -> str | None:
        """Whether b is "better" than a, "worse" or "equal"; None where a score is undefined.

        Parameters
        ----------
        result : PairedResult

        Returns
        -------
        str or None
        """
        if math.isnan(result.difference):
            return None
        if not result.difference:
            return "equal"
        return "better" if (result.difference > 0) == self.metrics[result.metric].higher_is_better else "worse"

    def verdict(self, result: PairedResult) -> str:
        """The direction for people, with a star where the difference is more than chance.

        Parameters
        ----------
        result : PairedResult

        Returns
        -------
        str
        """
        if (result.a, result.b) in self.same_output:
            return "same output"
        return (self.direction(result) or "n/a") + (" *" if self.significant(result) else "")

    def heading(self, metric: int) -> str:
        """The heading of a metric's table.

        Parameters
        ----------
        metric : int

        Returns
        -------
        str
        """
        tested = self.metrics[metric]
        against = "" if self.baseline is None else f" against {self.systems[self.baseline]}"
        return tested.title + ("" if tested.higher_is_better else " (lower is better)") + against


def tables_of(tests: PairedTests, width: int = 1) -> list[Table]:
    """For every metric the matrix of all pairs, where it fits, and the list of tests; notes below the last table.

    Parameters
    ----------
    tests : PairedTests
    width : int, optional

    Returns
    -------
    list of Table
    """
    found = []
    for metric in range(len(tests.metrics)):
        found += [matrix(tests, metric, width)] if has_matrix(tests) else []
        found.append(pair_table(tests, metric, width))
    return [*found[:-1], replace(found[-1], notes=explanations(tests))] if found else []


def lists_of(tests: PairedTests, width: int = 1) -> list[Table]:
    """The list of tests by each metric, without matrices; notes below the last one.

    Parameters
    ----------
    tests : PairedTests
    width : int, optional

    Returns
    -------
    list of Table
    """
    found = [
        replace(pair_table(tests, metric, width), title=tests.heading(metric)) for metric in range(len(tests.metrics))
    ]
    return [*found[:-1], replace(found[-1], notes=explanations(tests))] if found else []


def has_matrix(tests: PairedTests) -> bool:
    """Whether a matrix is shown: all pairs of three to `LARGEST_MATRIX` systems.

    Parameters
    ----------
    tests : PairedTests

    Returns
    -------
    bool
    """
    return tests.baseline is None and 2 < len(tests.systems) <= LARGEST_MATRIX


def pair_table(tests: PairedTests, metric: int, width: int = 1) -> Table:
    """A row for every test by one metric.

    Tests against a baseline are in the order of the systems. All pairs are sorted by p-value, the better system first.

    Parameters
    ----------
    tests : PairedTests
    metric : int
    width : int, optional

    Returns
    -------
    Table
    """
    results, all_pairs = tests.of(metric), tests.baseline is None
    if all_pairs:
        results.sort(key=lambda result: (_last_if_nan(tests.p(result)), _last_if_nan(-abs(result.difference))))
    corrected = tests.correction != "none"
    places = digits(tests.metrics[metric].scale, width)
    columns = [
        Column("system", "System", Kind.NAME),
        *([Column("against", "Against", Kind.NAME)] if all_pairs else []),
        Column("difference", "Difference", Kind.ESTIMATE, places=places, sign=True),
        Column("p", "p", Kind.P),
        *([Column("p_corrected", "Corrected p", Kind.P)] if corrected else []),
        Column("direction", "Direction"),
    ]
    rows = []
    for found in results:
        result = _better_first(tests, found) if all_pairs else found
        rows.append(
            [
                tests.systems[result.b],
                *([tests.systems[result.a]] if all_pairs else []),
                Estimate(result.difference, result.interval),
                result.p,
                *([result.p_corrected] if corrected else []),
                tests.verdict(result),
            ]
        )
    heading = tests.heading(metric)
    return Table(columns, rows, f"{heading}, the surest first" if has_matrix(tests) else heading)


def matrix(tests: PairedTests, metric: int, width: int = 1) -> Table:
    """All pairs of one metric: above the diagonal the row's score minus the column's, below it the p that decides.

    Parameters
    ----------
    tests : PairedTests
    metric : int
    width : int, optional

    Returns
    -------
    Table
    """
    count, places = len(tests.systems), digits(tests.metrics[metric].scale, width)
    cells = [["· " if row == column else "" for column in range(count)] for row in range(count)]
    for result in tests.of(metric):
        star = "*" if tests.significant(result) else " "
        cells[result.a][result.b] = PLAIN.number(-result.difference, places, sign=True) + star
        cells[result.b][result.a] = p_value(tests.p(result)) + star
    numbers = [str(number) for number in range(1, count + 1)]
    columns = [Column("number", "", Kind.NAME), Column("system", "System", Kind.NAME)]
    columns += [Column(number, f"{number} ", Kind.NUMBER) for number in numbers]
    rows = [[number, name, *row] for number, name, row in zip(numbers, tests.systems, cells, strict=True)]
    return Table(columns, rows, tests.heading(metric))


def explanations(tests: PairedTests) -> list[str]:
    """How the tests were made and what the marks mean, a sentence each.

    Parameters
    ----------
    tests : PairedTests

    Returns
    -------
    list of str
    """
    metrics = range(len(tests.metrics))
    families = [sum(not math.isnan(result.p) for result in tests.of(metric)) for metric in metrics]
    sentences = []
    if has_matrix(tests):
        p = "p" if tests.correction == "none" else "corrected p"
        sentences.append(f"Matrix: above the diagonal the row's score minus the column's, below it the {p}.")
    other = "the other's" if tests.baseline is None else "the baseline's"
    of = of_documents(tests.unit)
    ends = ""
    if any(result.interval for result in tests.results):
        ends = f", with its {100 * tests.level:g} % interval from {tests.replicates:,} bootstrap replicates{of} "
        ends += f"({INTERVALS[tests.interval]})"
    sentences.append(f"Difference: the system's score minus {other}{ends}.")
    kind = {"bootstrap": "replicates", "randomization": "trials"}[tests.test]
    sentences.append(
        f"p: {TITLES_OF_TESTS[tests.test]}, {tests.draws:,} {kind}{of}, seed {tests.seed}, two-sided; * "
        + (f"p below {tests.alpha:g}." if tests.correction == "none" else f"corrected p below {tests.alpha:g}.")
    )
    family = max(families, default=0)
    if tests.correction == "none":
        sentences.append("p is not corrected for the number of pairs.")
    else:
        pairs = f"the {family:,} pairs" if family != 1 else "the one pair"
        sentences.append(f"Corrected p: {TITLES[tests.correction]}, for {pairs} of each metric.")
    least = smallest_p(tests.draws, family, tests.correction)
    if family and least >= tests.alpha:
        corrected = "p" if tests.correction == "none" else "corrected p"
        sentences.append(
            f"Note: {tests.draws:,} {kind} cannot give a {corrected} below {least:.2g}, so nothing can be marked: "
            f"ask for at least {draws_needed(tests, family):,}."
        )
    if tests.test == "bootstrap" and tests.segments is not None and tests.segments < FEW_SEGMENTS:
        sentences.append(f"Note: {few_segments(tests.segments)}.")
    return sentences


def draws_needed(tests: PairedTests, family: int) -> int:
    """The fewest draws with which a single difference can be marked.

    Parameters
    ----------
    tests : PairedTests
    family : int

    Returns
    -------
    int
    """
    from fractions import Fraction

    return math.floor((family if tests.correction == "holm" else 1) / Fraction(repr(tests.alpha)))


def _better_first(tests: PairedTests, result: PairedResult) -> PairedResult:
    """The same test with b the better system."""
    if tests.direction(result) != "worse":
        return result
    ends = result.interval and (-result.interval[1], -result.interval[0])
    return replace(result, a=result.b, b=result.a, difference=-result.difference, interval=ends)


def _last_if_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value
