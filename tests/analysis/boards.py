"""Boards made by hand, as if they had been read from a database."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from analysis.leaderboard.board import Board
from models.results.boards import BoardSummary
from models.results.leaderboard import LeaderboardRow, LeaderboardScore, ranked
from models.schema.states import EvaluationState

METRICS = ("bleu", "ter")
"""Of the second, lower is better."""


def made_board(
    systems: Sequence[Sequence[tuple[float | None, Sequence[float]]] | None], level: float = 0.95, segments: int = 2000
) -> Board:
    """A board of systems a, b, c, ... in this order, each with (score, replicates) by bleu and ter, or not done."""
    ranks = []
    for metric in range(2):
        scores = {n: found[metric][0] for n, found in enumerate(systems) if found and found[metric][0] is not None}
        ranks.append(ranked({n: score for n, score in scores.items() if score is not None}, metric == 0))
    rows = []
    for number, found in enumerate(systems):
        scores = tuple(
            LeaderboardScore(
                specification=METRICS[metric],
                title=METRICS[metric].upper(),
                signature="s",
                higher_is_better=metric == 0,
                scale=100.0,
                score=score,
                run_scores=(score,),
                details={},
                replicate_scores=np.array(replicates, dtype=np.float64),
                run_replicate_scores=np.array([replicates], dtype=np.float64),
                rank=ranks[metric].get(number),
            )
            for metric, (score, replicates) in enumerate(found or ())
        )
        state = EvaluationState.DONE if found else EvaluationState.QUEUED
        rows.append(
            LeaderboardRow(
                team="",
                system="abcdefghijklmnopqrstuvwxyz"[number],
                runs=("",),
                submissions=(number + 1,),
                evaluations=(number + 1,),
                state=state,
                reason=None,
                runs_done=int(bool(found)),
                scores=scores,
            )
        )
    replicates = max((len(found[0][1]) for found in systems if found), default=0)
    listed = BoardSummary(1, 1, "port", "port", "1", ("A",), METRICS, replicates, 12345, segments)
    return Board(listed=listed, level=level, sorted_by=0, rows=rows, same_output={})


def spread(score: float, replicates: int, width: float, seed: int) -> tuple[float, list[float]]:
    """A score with replicates around it."""
    draw = np.random.default_rng(seed)
    return score, (score + width * draw.standard_normal(replicates)).tolist()


def undefined(replicates: int) -> tuple[None, list[float]]:
    """What a metric that is undefined leaves behind."""
    return None, [math.nan] * replicates
