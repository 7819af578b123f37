"""The document of a leaderboard as whoever has the database sees it: by any test, with intervals at any level."""

from __future__ import annotations

import math
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING

from analysis.leaderboard.significance import ALPHA, CORRECTION
from campaigns.leaderboards.documents import place_fields
from campaigns.leaderboards.names import DisplayName
from campaigns.leaderboards.rounding import finite_scale
from steelyard.ranking.tested_ranking import Ranking
from steelyard_client.documents.leaderboards.leaderboards import (
    BoardRanking,
    BoardScore,
    BoardSystem,
    LeaderboardResponse,
    MetricPowerResponse,
    NeighbourPower,
    PowerResponse,
    ScoreInterval,
    SmallestDifference,
)
from steelyard_client.vocabulary import Constrained, SystemFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from analysis.leaderboard.board import Board
    from models.results.leaderboard import LeaderboardRow
    from steelyard.ranking.power import MetricPower
    from steelyard_client.documents.leaderboards.human_rankings import HumanPlace, HumanRule


def stored_document(
    board: Board,
    *,
    replaced: bool = False,
    every: bool = False,
    testing: int = 0,
    power: Sequence[MetricPower] = (),
    named: Callable[[LeaderboardRow], DisplayName] | None = None,
    numbered: Callable[[LeaderboardRow], int | None] = attrgetter("system_id"),
    secrets: bool = True,
    human: HumanRule | None = None,
    human_places: Mapping[int, HumanPlace] = {},
) -> LeaderboardResponse:
    """Return a leaderboard with all its rows, ranked by every metric; numbers at full precision, None if undefined.

    Parameters
    ----------
    board
        The leaderboard.
    replaced
        Whether its test set has corrected references by now.
    every
        Whether unranked systems are shown.
    testing
        How many tests are not computed yet.
    power
        What it can detect by every metric, if that is to be said.
    named
        How a system is called; by default by its own name.
    numbered
        The number of its page; None where it is not to be known.
    secrets
        Whether reasons of failures are told, and what equals a reference: not for teams.
    human
        How human judgments rank the campaign officially.
    human_places
        The place of each submission by them.
    """
    listed, called = board.listed, named or partial(_own_name, board)
    ranking = board.ranking or Ranking("bootstrap", ALPHA, CORRECTION, listed.replicates)
    titles = {board.name(row): called(row).title for row in board.rows}
    return LeaderboardResponse(
        campaign=listed.campaign,
        test_set=listed.test_set,
        version=listed.version,
        replaced=replaced,
        references=list(listed.references),
        metrics=list(listed.metrics),
        board=listed.protocol_id,
        replicates=listed.replicates,
        seed=listed.seed,
        resample=listed.resample,
        level=board.level,
        interval=board.interval_kind,
        segments=listed.segments,
        sorted_by=listed.metrics[board.sorted_by],
        shown=SystemFilter.ALL if every else SystemFilter.RANKED,
        constrained=Constrained.ANY,
        ranking=BoardRanking(
            test=ranking.test,
            draws=ranking.draws,
            alpha=ranking.alpha,
            correction=ranking.correction,
            fault=ranking.fault or None,
            testing=testing,
        ),
        human=human,
        power=_power_document(board, power, called) if power else None,
        not_ranked=board.not_ranked,
        notices=board.notices,
        total=len(board.rows),
        items=[
            _system_document(
                board, number, row, called(row), titles, system_id=numbered(row), secrets=secrets, human=human_places
            )
            for number, row in enumerate(board.rows)
        ],
        next=None,
    )


def _own_name(board: Board, row: LeaderboardRow) -> DisplayName:
    return DisplayName(row.team, row.system, board.name(row), suffix="", own=False)


def _power_document(
    board: Board, power: Sequence[MetricPower], called: Callable[[LeaderboardRow], DisplayName]
) -> PowerResponse:
    return PowerResponse(
        segments=board.listed.segments,
        alpha=power[0].alpha,
        power=power[0].power,
        metrics=[
            MetricPowerResponse(
                metric=metric,
                smallest_difference=each.smallest
                and SmallestDifference(**dict(zip(("least", "median", "largest"), each.smallest, strict=True))),
                neighbours=[
                    NeighbourPower(
                        a=called(board.rows[pair.a]).title,
                        b=called(board.rows[pair.b]).title,
                        difference=pair.difference,
                        smallest_difference=_known(pair.smallest),
                        power=_known(pair.power),
                        segments_needed=pair.segments,
                        enough=pair.enough,
                    )
                    for pair in each.neighbours
                ],
            )
            for metric, each in zip(board.listed.metrics, power, strict=True)
        ],
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _system_document(
    board: Board,
    number: int,
    row: LeaderboardRow,
    name: DisplayName,
    titles: Mapping[str, str],
    *,
    system_id: int | None,
    secrets: bool,
    human: Mapping[int, HumanPlace],
) -> BoardSystem:
    scores = []
    for metric, score in enumerate(row.scores):
        interval = board.interval(score)
        scores.append(
            BoardScore(
                metric=score.specification,
                title=score.title,
                signature=score.signature,
                higher_is_better=score.higher_is_better,
                scale=finite_scale(score.scale),
                score=score.score,
                interval=interval
                and ScoreInterval(
                    level=board.level,
                    low=interval[0],
                    high=interval[1],
                    kind=board.interval_kind,
                    n=board.listed.replicates,
                ),
                runs=list(score.run_scores) if len(row.runs) > 1 else [],
                details=dict(score.details),
                **place_fields(score.rank, board.rank_of(number, metric)),
            )
        )
    return BoardSystem(
        submission=max(row.submissions),
        submissions=list(row.submissions),
        name=name.title,
        team=name.team,
        system=name.system or None,
        system_id=system_id,
        own=name.own,
        runs=[run for run in row.runs if run] if name.system else [],
        runs_done=row.runs_done,
        state=row.state.value,
        reason=row.reason if secrets else None,
        kind=row.kind.value,
        ranked=row.ranked,
        origin=row.origin,
        constrained=row.constrained,
        late_seconds=row.late_seconds,
        same_output_as=titles.get(board.same_output.get(row.evaluations, "")),
        same_as_reference=board.same_as_reference.get(row.evaluations) if secrets else None,
        scores=scores,
        human=human.get(max(row.submissions)),
    )
