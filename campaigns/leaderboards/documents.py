"""Documents of leaderboards and comparisons, with the names that may be shown."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analysis.leaderboard.board import board_notices
from analysis.leaderboard.significance import ALPHA, CORRECTION
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import display_name, system_id_of
from campaigns.leaderboards.rounding import finite_scale
from steelyard_client.documents.leaderboards.comparisons import (
    ComparedScore,
    ComparedSystem,
    ComparisonsResponse,
    DifferenceInterval,
    PairTest,
    RunSpreadResponse,
    TrialsProgressResponse,
)
from steelyard_client.documents.leaderboards.leaderboards import (
    BoardRanking,
    BoardScore,
    BoardSystem,
    LeaderboardResponse,
    ScoreInterval,
)
from steelyard_client.vocabulary import PValueCorrection

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Place = dict[str, int | None]

    from campaigns.leaderboards.choice import BoardChoice
    from campaigns.leaderboards.comparison import ComparisonResult, TrialsProgress
    from campaigns.leaderboards.view import BoardLine, BoardView
    from campaigns.permissions import CampaignAccess
    from steelyard.ranking.clusters import SystemRank
    from steelyard.resampling.runs import RunSpread
    from steelyard_client.documents.leaderboards.human_rankings import HumanPlace, HumanRule


@dataclass(frozen=True)
class Beside:
    """What a leaderboard says on request, beside one view of it."""

    views: Sequence[BoardView] = ()
    """The same systems, ranked by the other metrics."""
    equal_references: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Submission -> labels of the references with the same text; they reveal references."""
    human: HumanRule | None = None
    """How human judgments rank the campaign officially."""
    human_places: Mapping[int, HumanPlace] = field(default_factory=dict)
    """By submission."""
    details: Mapping[int, Sequence[Mapping[str, float]]] = field(default_factory=dict)
    """Further figures by every metric, by the first evaluation of each system."""


def board_document(
    choice: BoardChoice,
    view: BoardView,
    access: CampaignAccess,
    lines: Sequence[BoardLine],
    following: str | None,
    beside: Beside = Beside(),
) -> LeaderboardResponse:
    """Return a leaderboard with some of its lines; numbers at full precision, None if undefined.

    `following` names the next page; None if there is none.
    """
    listed = view.listed
    places = {
        (each.query.metric, line.entry.submission): place_fields(line.rank, line.place)
        for each in (view, *beside.views)
        for line in each.lines
    }
    return LeaderboardResponse(
        campaign=listed.campaign,
        test_set=listed.test_set,
        version=listed.version,
        replaced=choice.replaced,
        references=list(listed.references),
        metrics=list(listed.metrics),
        board=listed.protocol_id,
        replicates=listed.replicates,
        seed=listed.seed,
        resample=listed.resample,
        level=LEVEL,
        interval="percentile",
        segments=listed.segments,
        sorted_by=listed.metrics[view.query.metric],
        shown=view.query.shown,
        constrained=view.query.constrained,
        ranking=BoardRanking(
            test="bootstrap",
            draws=listed.replicates,
            alpha=ALPHA,
            correction=CORRECTION,
            fault=view.fault or None,
            testing=view.testing + sum(each.testing for each in beside.views),
        ),
        human=beside.human,
        power=None,
        not_ranked=view.not_ranked,
        notices=[*view.snapshot.column_notices, *board_notices(listed)],
        total=len(view.lines),
        items=[_system_document(view, access, line, places, beside) for line in lines],
        next=following,
    )


def _system_document(
    view: BoardView, access: CampaignAccess, line: BoardLine, places: Mapping[tuple[int, int], Place], beside: Beside
) -> BoardSystem:
    entry, name = line.entry, display_name(access, line.entry)
    details = beside.details.get(entry.evaluations[0], ())
    return BoardSystem(
        submission=entry.submission,
        submissions=list(entry.submissions),
        name=name.title,
        team=name.team,
        system=name.system or None,
        system_id=system_id_of(access, entry),
        own=name.own,
        runs=[run for run in entry.runs if run] if name.system else [],
        runs_done=entry.runs_done,
        state=entry.state.value,
        # The reason may quote a text: the submission's page shows its team what it may know.
        reason=entry.reason if access.organises else None,
        kind=entry.kind.value,
        ranked=entry.ranked,
        origin=entry.origin,
        constrained=entry.constrained,
        late_seconds=entry.late_seconds,
        same_output_as=None if line.same_as is None else display_name(access, line.same_as).title,
        same_as_reference=labels_of(entry.submissions, beside.equal_references),
        scores=[
            BoardScore(
                metric=score.metric,
                title=score.title,
                signature=score.signature,
                higher_is_better=score.higher_is_better,
                scale=finite_scale(score.scale),
                score=score.score,
                interval=score.interval
                and ScoreInterval(
                    level=LEVEL,
                    low=score.interval[0],
                    high=score.interval[1],
                    kind="percentile",
                    n=view.listed.replicates,
                ),
                runs=list(score.run_scores),
                details=dict(details[position]) if details else {},
                **places.get((position, entry.submission), NO_PLACE),
            )
            for position, score in enumerate(entry.scores)
        ],
        human=beside.human_places.get(entry.submission),
    )


NO_PLACE: Place = dict.fromkeys(("rank", "rank_low", "rank_high", "cluster", "wins"))
"""Of systems that are not ranked, and by metrics whose ranks are not asked for."""


def labels_of(submissions: Sequence[int], equal_references: Mapping[int, Sequence[str]]) -> str | None:
    """Return the labels of the references whose text a submission has, as people read them; None without any."""
    return (
        " and ".join(dict.fromkeys(label for each in submissions for label in equal_references.get(each, ()))) or None
    )


def place_fields(rank: int | None, place: SystemRank | None) -> Place:
    """Return rank, range, cluster and wins; None if undefined."""
    if place is None:
        return {**NO_PLACE, "rank": rank}
    return {
        "rank": rank,
        "rank_low": place.low,
        "rank_high": place.high,
        "cluster": place.cluster,
        "wins": place.wins,
    }


def comparison_document(
    access: CampaignAccess, view: BoardView, compared: ComparisonResult, trying: TrialsProgress | None
) -> ComparisonsResponse:
    """Return the tests of all pairs, and the progress of those that were requested."""
    wanted, listed = compared.query, view.listed
    names = [display_name(access, each).title for each in wanted.systems]
    pairs = []
    for metric, results in zip(wanted.metrics, compared.results, strict=False):
        higher = all(each.scores[metric].higher_is_better for each in wanted.systems)
        for each in results:
            p = each.p if wanted.correction is PValueCorrection.NONE else each.p_corrected
            pairs.append(
                PairTest(
                    a=names[each.a],
                    b=names[each.b],
                    a_submission=wanted.systems[each.a].submission,
                    b_submission=wanted.systems[each.b].submission,
                    metric=listed.metrics[metric],
                    test=wanted.test,
                    n=compared.draws,
                    seed=listed.seed,
                    difference=_nan_to_none(each.difference),
                    interval=each.interval
                    and DifferenceInterval(
                        level=wanted.level,
                        low=each.interval[0],
                        high=each.interval[1],
                        kind=wanted.interval,
                        n=listed.replicates,
                    ),
                    p=_nan_to_none(each.p),
                    p_corrected=None if wanted.correction is PValueCorrection.NONE else _nan_to_none(each.p_corrected),
                    correction=wanted.correction,
                    direction=_direction(each.difference, higher_is_better=higher),
                    significant=p < wanted.alpha,
                    same_output=(each.a, each.b) in compared.same_output,
                )
            )
    return ComparisonsResponse(
        campaign=listed.campaign,
        test_set=listed.test_set,
        version=listed.version,
        references=list(listed.references),
        test=wanted.test,
        correction=wanted.correction,
        trials=compared.draws,
        alpha=wanted.alpha,
        level=wanted.level,
        interval=wanted.interval,
        baseline=None if wanted.baseline is None else wanted.systems[wanted.baseline].submission,
        resample=listed.resample,
        systems=[_compared_system(access, compared, position) for position in range(len(names))],
        pairs=pairs,
        runs=[
            run_spread_document(wanted.systems[system].submission, listed.metrics[metric], spread)
            for (system, metric), spread in compared.spreads.items()
        ],
        missing=compared.missing,
        drawing=compared.draws if compared.drawing else 0,
        progress=None
        if trying is None
        else TrialsProgressResponse(
            comparison=trying.comparison,
            running=trying.running,
            trials=trying.trials,
            trials_done=trying.trials_done,
            failure=trying.failure,
        ),
    )


def _compared_system(access: CampaignAccess, compared: ComparisonResult, position: int) -> ComparedSystem:
    entry, board = compared.query.systems[position], compared.board
    name, scores = display_name(access, entry), []
    for metric in compared.query.metrics if board is not None else ():
        assert board is not None
        score = board.rows[position].scores[metric]
        interval = board.interval(score)
        scores.append(
            ComparedScore(
                metric=score.specification,
                title=entry.scores[metric].title,
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
                runs=list(score.run_scores) if len(entry.runs) > 1 else [],
            )
        )
    return ComparedSystem(
        submission=entry.submission,
        submissions=list(entry.submissions),
        name=name.title,
        team=name.team,
        system=name.system or None,
        runs=[run for run in entry.runs if run] if name.system else [],
        kind=entry.kind,
        ranked=entry.ranked,
        scores=scores,
    )


def run_spread_document(submission: int, metric: str, spread: RunSpread | None) -> RunSpreadResponse:
    """Return the spread of a score over test sets and runs; None where it is unknown."""
    return RunSpreadResponse(
        submission=submission,
        metric=metric,
        selection=None if spread is None else _nan_to_none(spread.selection),
        optimization=None if spread is None else _nan_to_none(spread.optimization),
    )


def _direction(difference: float, *, higher_is_better: bool) -> str | None:
    """Whether the second system of a pair is better, worse or equal; None for an undefined (NaN) difference."""
    if math.isnan(difference):
        return None
    if not difference:
        return "equal"
    return "better" if (difference > 0) == higher_is_better else "worse"


def _nan_to_none(value: float) -> float | None:
    return None if math.isnan(value) else value
