"""The options of `steelyard score` that the result depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.commands.values import ALPHA

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass
class ScoreOptions:
    """How to score and what to show, as the options of the command line have it."""

    metrics: Sequence[str] | None = None
    lowercase: bool = False
    tokenize: str | None = None
    resource: Sequence[tuple[str, Path]] = ()
    language_pair: str | None = None
    confidence: int = 0
    level: float = 0.95
    seed: int = 12345
    interval: str = "percentile"
    resample: str = "segment"
    documents: str | None = None
    paired: str | None = None
    trials: int | None = None
    correction: str = "holm"
    alpha: float = ALPHA
    baseline: str | None = None
    all_pairs: bool = False
    segments: bool = False
    runs: bool = False
    shard_size: int | None = None
    score_only: bool = False
    width: int = 1
