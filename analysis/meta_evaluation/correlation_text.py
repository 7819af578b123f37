"""The method of a correlation of a leaderboard with human judgments, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.tables import correlation

if TYPE_CHECKING:
    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation


def explanations(table: BoardCorrelation, *, name_systems: bool = True) -> list[str]:
    """The data and the method behind the numbers, a sentence each.

    `name_systems` is False for a reader who must not see the names under which systems were judged.
    """
    judged = table.judged
    left_out = (
        (judged.board.without, "as asked"),
        (judged.matched.references, "human translations"),
        (judged.matched.unknown, "judged, but not on this leaderboard"),
        (judged.matched.not_judged, "not judged"),
        (judged.unscored, "judged, but not scored (yet)"),
    )
    return correlation.explanations(table, left_out if name_systems else ())
