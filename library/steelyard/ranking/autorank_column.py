"""AutoRank as a column: which metrics it is made of, with which weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from steelyard.errors import BadParameter
from steelyard.metrics.parameters import parameter
from steelyard.metrics.without_texts.column import Column
from steelyard.ranking.autorank import AUTORANK, NEWEST, VERSIONS, autorank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FORMULAS = {
    "wmt24": "1 + (x - best) / (worst - best) * N for each metric, and the mean of these (WMT24)",
    "wmt25": "(x - median) / (best - lower quartile) for each metric, the mean of these, mapped linearly so that the "
    "best of N systems has 1 and the worst N (WMT25)",
}


@dataclass(frozen=True)
class AutoRank(Column):
    """One rank from several columns of a leaderboard. It depends on all systems there, so it has no statistics."""

    name: ClassVar[str] = AUTORANK
    source: ClassVar[str] = "Kocmi et al. 2024; Kocmi et al. 2025"
    higher_is_better: ClassVar[bool] = False

    rule: str = parameter("", "the published formula; the newest by itself", choices=("", *VERSIONS), ours=True)
    of: str = parameter("", "its metrics by position on the board from 1, or by name, with commas between", ours=True)
    weights: str = parameter("", "what each of them weighs, with commas between; all alike by itself", ours=True)

    @property
    def title(self) -> str:
        """The name that people know."""
        return f"AutoRank {self.rule}" if self.rule else "AutoRank"

    @property
    def columns(self) -> tuple[str, ...]:
        """None of use."""
        return ("none",)

    def score(self, sums: Floats) -> Floats:
        """NaN: `ranks` has the scores of all systems."""
        return np.full(sums.shape[:-1], np.nan)

    @property
    def positions(self) -> list[int]:
        """The positions from 0 of its metrics on the leaderboard; those of a resolved one.

        Raises
        ------
        BadParameter
        """
        parts = self.of.split(",") if self.of else []
        if not all(part.isascii() and part.isdigit() and int(part) for part in parts):
            raise BadParameter(f"autorank: of={self.of} is no list of positions from 1, with commas between.")
        return [int(part) - 1 for part in parts]

    @property
    def shares(self) -> list[float] | None:
        """The weights; None where all are alike.

        Raises
        ------
        BadParameter
        """
        if not self.weights:
            return None
        try:
            found = [float(part) for part in self.weights.split(",")]
        except ValueError as error:
            raise BadParameter(f"autorank: weights={self.weights} are no numbers with commas between.") from error
        if not all(0 < each < 1e6 for each in found):
            raise BadParameter("autorank: weights must be greater than 0 and less than a million.")
        return found

    def on_board(self, positions: Sequence[int]) -> AutoRank:
        """The column with version and metrics pinned, so that neither a release nor a new metric changes it.

        Parameters
        ----------
        positions : sequence of int
            Of its metrics on the leaderboard, from 0.

        Returns
        -------
        AutoRank

        Raises
        ------
        BadParameter
            Without metrics, for one that is named twice, and for another number of weights.
        """
        if not positions or len(set(positions)) < len(positions):
            raise BadParameter("autorank: name at least one metric of the leaderboard, each once.")
        if self.shares is not None and len(self.shares) != len(positions):
            raise BadParameter(
                f"autorank: there are {len(self.shares)} weights for {len(positions)} metrics. Give one for each."
            )
        of = ",".join(str(each + 1) for each in positions)
        return replace(self, rule=self.rule or NEWEST, of=of)

    def ranks(self, scores: Floats) -> Floats:
        """The AutoRank of every system.

        Parameters
        ----------
        scores : (..., metrics, systems) float64
            Of each of its metrics such that higher is better.

        Returns
        -------
        (..., systems) float64
            NaN for a system that lacks a score.
        """
        return autorank(scores, self.rule or NEWEST, self.shares)

    def formula(self, titles: Sequence[str]) -> str:
        """What it is, in words.

        Parameters
        ----------
        titles : sequence of str
            Of all metrics of the leaderboard.

        Returns
        -------
        str
        """
        names = [titles[each].removesuffix(" ↓") for each in self.positions if each < len(titles)]
        if self.shares is not None:
            names = [f"{name} (weight {share:g})" for name, share in zip(names, self.shares, strict=False)]
        return f"{self.title}: {FORMULAS[self.rule or NEWEST]}, of {', '.join(names)}. Less is better."
