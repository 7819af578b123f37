"""The result of one call of `score`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.commands.progress import counted
from steelyard.resampling.interval import interval
from steelyard.resampling.jackknife import leave_one_out
from steelyard.resampling.runs import RunSpread, mean_over_runs, run_spread
from steelyard.tables.formatting import PLAIN, digits
from steelyard.text.wording import of_documents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.commands.scoring.inputs import Inputs
    from steelyard.commands.scoring.runs import TakenRuns
    from steelyard.commands.scoring.score_options import ScoreOptions
    from steelyard.metrics.score_systems import MetricResult
    from steelyard.resampling.paired import PairedResult
    from steelyard.tables.paired_tests import PairedTests


@dataclass(frozen=True)
class SystemScore:
    """A system's score by one metric."""

    score: float
    """NaN where undefined. Of several runs, the mean of theirs."""
    interval: tuple[float, float] | None
    """Where one was asked for and exists."""
    spread: RunSpread | None
    """Of a system that was given as runs."""


@dataclass(frozen=True, eq=False)
class MetricScores:
    """The scores of all systems by one metric."""

    name: str
    """As the user wrote it."""
    signature: str
    measurement: MetricResult
    """Of the outputs: of every run of every system."""
    systems: Sequence[SystemScore]
    places: int
    """Digits after the point."""

    @property
    def best(self) -> float:
        """The best score; NaN, which equals none, where all are undefined."""
        scores = [system.score for system in self.systems if not math.isnan(system.score)]
        return (max if self.measurement.metric.higher_is_better else min)(scores, default=math.nan)

    def shown(self, score: float) -> str:
        """A score for people.

        Parameters
        ----------
        score : float

        Returns
        -------
        str
        """
        return PLAIN.number(score, self.places)


@dataclass(frozen=True, eq=False)
class Result:
    """The scores, tests and inputs of one call of `score`."""

    inputs: Inputs
    metrics: Sequence[MetricScores]
    tests: PairedTests | None
    options: ScoreOptions
    runs: TakenRuns | None = None
    """The runs of words that GTM takes."""

    @property
    def names(self) -> list[str]:
        """Of the systems, for people: with the number of runs where they were given as such."""
        return [
            system.name + ("" if system.runs is None else f" ({len(system.runs)} run{'s'[: len(system.runs) > 1]})")
            for system in self.inputs.systems
        ]

    @property
    def has_runs(self) -> bool:
        """Whether a system was given as runs."""
        return any(system.runs is not None for system in self.inputs.systems)

    @property
    def intervals(self) -> str | None:
        """How the intervals were made, as a sentence; None without any."""
        options = self.options
        if not options.confidence:
            return None
        kind = {"percentile": "percentiles", "bca": "bias-corrected and accelerated (BCa)"}[options.interval]
        return (
            f"Intervals: {100 * options.level:g} %, {kind} of {options.confidence:,} bootstrap replicates"
            f"{of_documents(options.resample)}, seed {options.seed}."
        )


def conclude(
    inputs: Inputs,
    names: Sequence[str],
    measurements: Sequence[MetricResult],
    options: ScoreOptions,
    baseline: int | None = 0,
    runs: TakenRuns | None = None,
) -> Result:
    """The scores of systems from those of their outputs, with the requested intervals and tests.

    `names` are those of the metrics as the user wrote them; `baseline` is the system that all others are tested
    against, None for all pairs.

    Parameters
    ----------
    inputs : Inputs
    names : sequence of str
    measurements : sequence of MetricResult
    options : ScoreOptions
    baseline : int or None, optional
    runs : TakenRuns or None, optional

    Returns
    -------
    Result
    """
    found = [_scores(inputs, name, each, options) for name, each in zip(names, measurements, strict=True)]
    tests = _tests(inputs, found, options, baseline) if options.paired else None
    return Result(inputs, found, tests, options, runs)


def _scores(inputs: Inputs, name: str, measurement: MetricResult, options: ScoreOptions) -> MetricScores:
    metric = measurement.metric
    runs = [len(system.outputs) for system in inputs.systems]
    scores = mean_over_runs(measurement.scores, runs)
    replicates = mean_over_runs(measurement.replicate_scores, runs)
    without = None
    if options.interval == "bca" and options.confidence:
        assert measurement.statistics is not None, "they are kept for BCa intervals"
        without = mean_over_runs(leave_one_out(metric, measurement.statistics), runs)
    systems = []
    for place, system in enumerate(inputs.systems):
        score, ends, spread = float(scores[place]), None, None
        if options.confidence and not math.isnan(score):
            left_out = None if without is None else without[place]
            ends = interval(options.interval, replicates[place], options.level, score, left_out)
        if system.runs is not None:
            outputs = slice(system.outputs.start, system.outputs.stop)
            spread = run_spread(measurement.scores[outputs], measurement.replicate_scores[outputs])
        systems.append(SystemScore(score, ends, spread))
    count = "var" if inputs.variable_references else len(inputs.references)
    signature = metric.signature(count, options.confidence, options.seed, options.resample)
    return MetricScores(name, signature, measurement, systems, digits(metric.scale, options.width))


def _tests(inputs: Inputs, metrics: Sequence[MetricScores], options: ScoreOptions, baseline: int | None) -> PairedTests:
    from steelyard.resampling.draws_needed import enough_draws
    from steelyard.resampling.paired import paired_bootstrap, paired_randomization, pairs_to_test
    from steelyard.resampling.randomization import TRIALS
    from steelyard.tables.paired_tests import ComparedMetric, PairedTests

    assert options.paired is not None, "a test was asked for"
    measurements = [each.measurement for each in metrics]
    runs = [len(system.outputs) for system in inputs.systems]
    results: list[PairedResult]
    if options.paired == "bootstrap":
        draws = options.confidence
        results = paired_bootstrap(
            measurements, baseline, runs=runs, correction=options.correction, level=options.level,
            kind=options.interval,
        )  # fmt: skip
    else:
        tests = len(pairs_to_test(len(inputs.systems), baseline))
        draws = options.trials or enough_draws(TRIALS, tests, options.correction, options.alpha)
        results = paired_randomization(
            measurements, baseline, trials=draws, seed=options.seed, runs=runs, correction=options.correction,
            level=options.level, kind=options.interval, on_trials=counted("trials"),
        )  # fmt: skip
    texts = [sorted(inputs.outputs[output].bytes for output in system.outputs) for system in inputs.systems]
    return PairedTests(
        results=results,
        systems=inputs.names,
        metrics=[
            ComparedMetric(each.name, metric.title, metric.higher_is_better, metric.scale)
            for each in metrics
            for metric in [each.measurement.metric]
        ],
        test=options.paired,
        draws=draws,
        seed=options.seed,
        correction=options.correction,
        baseline=baseline,
        level=options.level,
        interval=options.interval,
        replicates=options.confidence,
        segments=inputs.references[0].segments,
        unit=options.resample,
        alpha=options.alpha,
        same_output={(each.a, each.b) for each in results if texts[each.a] == texts[each.b]},
    )
