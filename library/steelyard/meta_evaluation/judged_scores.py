"""Scores of metrics beside human scores of the same systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from steelyard.resampling.documents import Documents

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JudgedMetric:
    """The judged systems' scores by one metric; error rates are negated: higher is better. NaN where undefined."""

    specification: str
    title: str
    higher_is_better: bool
    """The metric's own direction, before negation."""
    systems: Floats
    """(systems,) float64."""
    replicates: Floats
    """(B, systems) float64, the scores of bootstrap replicates; B may be 0."""
    segments: Floats
    """(systems, segments) float64; all NaN where segments have no scores."""


@dataclass(frozen=True, eq=False, kw_only=True)
class JudgedScores:
    """Scores of systems by metrics, beside human scores of the same systems; higher is better."""

    systems: tuple[str, ...]
    """Names, in the order of the arrays."""
    metrics: Sequence[JudgedMetric]
    human_systems: Floats
    """(systems,) float64, NaN where only segments were judged."""
    human_segments: Floats
    """(systems, segments) float64, NaN where not judged."""
    human_raw: Floats
    """(systems, segments) float64 on a scale from 0 to 100; all NaN where annotators used another one."""
    comparisons: NDArray[np.intp]
    """(n, 3) intp: segment, better system and worse system of every pair that an annotator ordered; n may be 0."""
    seed: int
    """Of all draws."""
    replicates: int
    """B, those of the metrics."""
    documents: Documents | None = None
    """Those that the replicates of the metrics draw; None where they draw segments."""

    @property
    def has_systems(self) -> bool:
        """Whether there are human scores of systems."""
        return bool((~np.isnan(self.human_systems)).any())

    @property
    def has_segments(self) -> bool:
        """Whether there are human scores of segments."""
        return bool((~np.isnan(self.human_segments)).any())
