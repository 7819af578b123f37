"""Scores of systems and segments by metrics and by people, made by hand."""

import numpy as np

from steelyard.kernels.resampling.resampling import resampling_counts
from steelyard.meta_evaluation.judged_scores import JudgedMetric, JudgedScores

SEED = 7


def of_arrays(people: np.ndarray, metrics: dict[str, np.ndarray], raw: np.ndarray | None, replicates: int) -> dict:
    """The fields of `JudgedScores`; (systems, segments) each, scores of systems are their means."""
    systems, segments = people.shape
    counts = resampling_counts(segments, SEED, replicates, 0, segments).astype(float)
    known = ~np.isnan(people)
    judged = np.where(known.any(axis=1), known.sum(axis=1), np.nan)
    return {
        "systems": tuple("abcdefghijklmnopqrstuvwxyz"[:systems]),
        "metrics": [
            JudgedMetric(name, name.upper(), True, scores.mean(axis=1), counts @ scores.T / segments, scores)
            for name, scores in metrics.items()
        ],
        "human_systems": np.where(known, people, 0).sum(axis=1) / judged,
        "human_segments": people,
        "human_raw": np.full(people.shape, np.nan) if raw is None else raw,
        "comparisons": np.zeros((0, 3), np.intp),
        "seed": SEED,
        "replicates": replicates,
    }


def made_scores(people: np.ndarray, metrics: dict[str, np.ndarray], *, replicates: int = 40) -> JudgedScores:
    return JudgedScores(**of_arrays(people, metrics, None, replicates))
