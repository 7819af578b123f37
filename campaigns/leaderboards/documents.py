"""Boards as plain data, for JSON; names are those that may be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.leaderboard.board import notices_of
from analysis.leaderboard.significance import ALPHA, CORRECTION
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import name_of
from campaigns.leaderboards.rounding import end_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.leaderboards.choice import Choice
    from campaigns.leaderboards.view import BoardView, Line
    from campaigns.permissions import Sight
    from metrics.ranking import Place


def as_object(choice: Choice, view: BoardView, sight: Sight, lines: Sequence[Line]) -> dict[str, Any]:
    """A board with some of its lines; numbers at full precision, None where undefined."""
    listed = view.listed
    return {
        "campaign": listed.campaign,
        "test_set": listed.test_set,
        "version": listed.version,
        "replaced": choice.replaced,
        "references": list(listed.references),
        "metrics": list(listed.metrics),
        "board": listed.protocol_id,
        "replicates": listed.replicates,
        "seed": listed.seed,
        "segments": listed.segments,
        "sorted_by": listed.metrics[view.wish.metric],
        "shown": view.wish.shown.value,
        "constrained": view.wish.constrained.value,
        "ranking": {
            "test": "bootstrap",
            "draws": listed.replicates,
            "alpha": ALPHA,
            "correction": CORRECTION,
            "fault": view.fault or None,
            "testing": view.testing,
        },
        "not_ranked": view.not_ranked,
        "notices": notices_of(listed),
        "total": len(view.lines),
        "items": [_system(view, sight, line) for line in lines],
    }


def _system(view: BoardView, sight: Sight, line: Line) -> dict[str, Any]:
    contender, name = line.contender, name_of(sight, line.contender)
    return {
        "submission": contender.submission,
        "submissions": list(contender.submissions),
        "name": name.title,
        "team": name.team,
        "system": name.system or None,
        "own": name.own,
        "runs": [run for run in contender.runs if run] if name.system else [],
        "state": contender.state.value,
        # It may quote a text: what its team may know of it stands on the page of the submission.
        "reason": contender.reason if sight.organises else None,
        "kind": contender.kind.value,
        "ranked": contender.ranked,
        "constrained": contender.constrained,
        "late_seconds": contender.late_seconds,
        "same_output_as": None if line.same_as is None else name_of(sight, line.same_as).title,
        "scores": [
            {
                "metric": figure.metric,
                "title": figure.title,
                "signature": figure.signature,
                "higher_is_better": figure.higher_is_better,
                "scale": end_of(figure.scale),
                "score": figure.score,
                "interval": figure.interval
                and {
                    "level": LEVEL,
                    "low": figure.interval[0],
                    "high": figure.interval[1],
                    "kind": "percentile",
                    "n": view.listed.replicates,
                },
                "runs": list(figure.run_scores) if len(contender.runs) > 1 else [],
                "details": dict(figure.details),
                # Only by the metric that ranks: by the others nobody has asked.
                **place_fields(line.rank, line.place, shown=position == view.wish.metric),
            }
            for position, figure in enumerate(contender.figures)
        ],
    }


def place_fields(rank: int | None, place: Place | None, *, shown: bool) -> dict[str, int | None]:
    """Rank, range, cluster and wins; None where there are none."""
    if not shown:
        return dict.fromkeys(("rank", "rank_low", "rank_high", "cluster", "wins"))
    if place is None:
        return {"rank": rank, **dict.fromkeys(("rank_low", "rank_high", "cluster", "wins"))}
    return {
        "rank": rank,
        "rank_low": place.low,
        "rank_high": place.high,
        "cluster": place.cluster,
        "wins": place.wins,
    }
