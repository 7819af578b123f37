"""All systems of a test set by all metrics at once: scores, intervals, tests between systems, tables.

>>> from steelyard import evaluate
>>> found = evaluate(
...     {"ours": ["the cat sat", "on the mat"], "theirs": ["a cat sat", "on a mat"]},
...     references={"A": ["the cat sat", "on the mat"]}, metrics=["bleu:order=1-2", "chrf"], bootstrap=1000,
... )
>>> found["ours"]["chrf"].score
100.0
>>> found.compare("theirs", "ours")[0].difference > 0
True
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steelyard.errors import BadParameter, BadText
from steelyard.metrics.metric import VERSION, Metric
from steelyard.metrics.registry import asked_metrics
from steelyard.metrics.resolution import resolve
from steelyard.metrics.resources import given_resources, merged_resources
from steelyard.metrics.run_context import RunContext
from steelyard.metrics.score_systems import MetricResult, score_systems
from steelyard.metrics.scoring import SEED, as_segments, counted_references
from steelyard.resampling.documents import Documents
from steelyard.resampling.paired import TESTS, paired_bootstrap, paired_randomization
from steelyard.resampling.randomization import TRIALS

if TYPE_CHECKING:
    from pathlib import Path

    import pandas
    from numpy.typing import NDArray

    from steelyard.metrics.resources import Resources
    from steelyard.metrics.score import Score

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """One system against another by one metric."""

    metric: str
    """Its specification."""
    baseline: str
    system: str
    difference: float
    """Score of the system minus score of the baseline; NaN where one is undefined."""
    p: float
    """Two-sided."""
    interval: tuple[float, float] | None
    """Of the difference; None without bootstrap replicates."""


class Evaluation(Mapping[str, Mapping[str, "Score"]]):
    """Scores by system, then by metric: `evaluation["ours"]["bleu"].interval(0.95)`.

    Parameters
    ----------
    systems : list of str
        Their names.
    measurements : list of MetricResult
        Of these systems, in this order.
    references : int or "var"
        How many each segment has, for signatures.
    seed : int
        Of the replicates.
    unit : str
        What they drew: "segment" or "document".

    Attributes
    ----------
    systems : tuple of str
    metrics : tuple of str
        Specifications.
    """

    def __init__(
        self,
        systems: Sequence[str],
        measurements: Sequence[MetricResult],
        references: int | str,
        seed: int,
        unit: str = "segment",
    ) -> None:
        self.systems = tuple(systems)
        self.metrics = tuple(each.metric.specification for each in measurements)
        self.seed = seed
        self._measurements = measurements
        self._scores = {
            name: {
                each.metric.specification: each.metric.score_type(
                    each.metric, each.sums[place], references, each.replicate_scores[place], seed, unit
                )
                for each in measurements
            }
            for place, name in enumerate(systems)
        }

    def __getitem__(self, system: str) -> Mapping[str, Score]:
        return self._scores[system]

    def __iter__(self) -> Iterator[str]:
        return iter(self._scores)

    def __len__(self) -> int:
        return len(self._scores)

    def segments(self, metric: str) -> Floats:
        """The scores of single segments.

        Parameters
        ----------
        metric : str
            Its specification.

        Returns
        -------
        (systems, segments) float64
            Systems in the order of `systems`.

        Raises
        ------
        KeyError
            For a metric that was not asked for.
        """
        if metric not in self.metrics:
            raise KeyError(metric)
        found = self._measurements[self.metrics.index(metric)].segment_scores
        assert found is not None, "evaluate() asks for them"
        return found

    def compare(
        self, baseline: str, system: str, *, test: str = "bootstrap", level: float = 0.95, trials: int = TRIALS
    ) -> list[Comparison]:
        """Whether two systems really differ, by every metric.

        Parameters
        ----------
        baseline : str
            The system that is compared with.
        system : str
            The other one.
        test : str
            "bootstrap", which takes the replicates of the evaluation, or "randomization".
        level : float
            Of the intervals of the differences.
        trials : int
            Of the randomization.

        Returns
        -------
        list of Comparison
            One for each metric.

        Raises
        ------
        BadParameter
            For another test, and for a bootstrap without replicates.
        KeyError
            For a system that is not there.
        """
        pair = [self._place(baseline), self._place(system)]
        chosen = [_of_systems(each, pair) for each in self._measurements]
        if test == "bootstrap":
            results = paired_bootstrap(chosen, level=level)
        elif test == "randomization":
            results = paired_randomization(chosen, trials=trials, seed=self.seed, level=level)
        else:
            raise BadParameter(f'There is no test "{test}". Tests: {", ".join(TESTS)}.')
        return [
            Comparison(self.metrics[each.metric], baseline, system, each.difference, each.p, each.interval)
            for each in results
        ]

    def to_json(self) -> str:
        """Systems, scores, intervals and signatures at full precision.

        Returns
        -------
        str
            A JSON object; null where a score is undefined.
        """
        systems = [
            {"system": name, "scores": [_as_object(key, score) for key, score in scores.items()]}
            for name, scores in self.items()
        ]
        return json.dumps({"version": VERSION, "systems": systems}, indent=1, ensure_ascii=False, allow_nan=False)

    def to_frame(self) -> pandas.DataFrame:
        """A pandas table of scores.

        Returns
        -------
        pandas.DataFrame
            A row for each system, a column for each metric.

        Raises
        ------
        ImportError
            Without pandas.
        """
        import pandas

        return pandas.DataFrame(
            {key: [self[name][key].score for name in self.systems] for key in self.metrics},
            index=pandas.Index(self.systems, name="system"),
        )

    def __repr__(self) -> str:
        width = max(len("system"), *map(len, self.systems))
        rows = [f"{'system':{width}}  " + "  ".join(f"{key:>10}" for key in self.metrics)]
        for name, scores in self.items():
            cells = (f"{score.score:{max(10, len(key))}.2f}" for key, score in scores.items())
            rows.append(f"{name:{width}}  " + "  ".join(cells))
        return "\n".join(rows)

    def _place(self, system: str) -> int:
        if system not in self._scores:
            raise KeyError(system)
        return self.systems.index(system)


def evaluate(
    systems: Mapping[str, Sequence[str]],
    *,
    references: Mapping[str, Sequence[str | None]] | Sequence[Sequence[str | None]],
    source: Sequence[str] | None = None,
    metrics: Sequence[str | Metric] = ("bleu", "chrf", "ter"),
    bootstrap: int = 0,
    seed: int = SEED,
    documents: Sequence[str] | None = None,
    language: str = "",
    resources: Resources | Mapping[str, str | Path] | None = None,
) -> Evaluation:
    """Score all systems of a test set by all metrics in one pass.

    Parameters
    ----------
    systems : mapping of str to list of str
        The segments of each system.
    references : mapping of str to list of str, or list of list of str
        All as long as the systems; None for a reference that a segment lacks.
    source : list of str, optional
        What was translated, for metrics that read it.
    metrics : list of str or Metric
        Specifications, as `steelyard metric list` lists them, or metrics.
    bootstrap : int
        Replicates for intervals and tests; all systems share the draws.
    seed : int
        Of the replicates: 0 to 2**64 - 1.
    documents : list of str, optional
        The document of each segment. Given, intervals and tests resample documents, whose segments are alike.
    language : str
        Code of the target language, which chooses the tokenizer where a specification names none.
    resources : mapping of str to path, or Resources, optional
        Models of tokenizers, word vectors, lemmas and synonyms by name, for the metrics that need them and were not
        made with their own.

    Returns
    -------
    Evaluation

    Raises
    ------
    BadText
        For texts of different lengths, for no systems, and for no source where a metric reads it.
    BadParameter, MissingResource
        For metrics that cannot be.
    """
    if not isinstance(systems, Mapping) or not systems:
        raise BadText('systems must be a mapping of at least one name to its segments: {"ours": ["...", "..."]}.')
    texts = list(references.values()) if isinstance(references, Mapping) else references
    asked = [asked_metrics([each])[0] if isinstance(each, str) else each for each in metrics]
    files = merged_resources([given_resources(resources), *(each.resources for each in asked)])
    resolved, _ = resolve(asked, RunContext(language, resources=files) if files else RunContext(language))
    blanks_count = any(getattr(each, "space", False) for each in resolved)
    segments = as_segments(list(systems.values()), texts, source, blanks_count=blanks_count)
    measurements = score_systems(
        segments,
        resolved,
        replicates=bootstrap,
        seed=seed,
        segment_scores=True,
        keep_statistics=True,
        resources=files,
        documents=None if documents is None else Documents.from_names(documents),
    )
    unit = "segment" if documents is None else "document"
    return Evaluation(list(systems), measurements, counted_references(segments), seed, unit)


def _of_systems(measurement: MetricResult, places: list[int]) -> MetricResult:
    statistics, scores = measurement.statistics, measurement.segment_scores
    return MetricResult(
        measurement.metric,
        measurement.sums[places],
        measurement.scores[places],
        measurement.replicate_scores[places],
        None if scores is None else scores[places],
        None if statistics is None else statistics[places],
    )


def _as_object(key: str, score: Score) -> dict[str, Any]:
    ends = score.interval()
    return {
        "metric": key,
        "signature": score.signature,
        "score": None if math.isnan(score.score) else score.score,
        "interval": ends and {"level": 0.95, "low": ends[0], "high": ends[1], "n": len(score.replicates)},
    }
