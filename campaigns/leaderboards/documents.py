"""Leaderboards as plain data for JSON, with the names that may be shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analysis.leaderboard.board import board_notices
from analysis.leaderboard.significance import ALPHA, CORRECTION
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.names import display_name
from campaigns.leaderboards.rounding import finite_scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from campaigns.leaderboards.choice import BoardChoice
    from campaigns.leaderboards.view import BoardLine, BoardView
    from campaigns.permissions import CampaignAccess
    from steelyard.ranking.clusters import SystemRank


def board_document(
    choice: BoardChoice, view: BoardView, access: CampaignAccess, lines: Sequence[BoardLine]
) -> dict[str, Any]:
    """Return a leaderboard with some of its lines; numbers at full precision, None if undefined."""
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
        "sorted_by": listed.metrics[view.query.metric],
        "shown": view.query.shown.value,
        "constrained": view.query.constrained.value,
        "ranking": {
            "test": "bootstrap",
            "draws": listed.replicates,
            "alpha": ALPHA,
            "correction": CORRECTION,
            "fault": view.fault or None,
            "testing": view.testing,
        },
        "not_ranked": view.not_ranked,
        "notices": board_notices(listed),
        "total": len(view.lines),
        "items": [_system_document(view, access, line) for line in lines],
    }


def _system_document(view: BoardView, access: CampaignAccess, line: BoardLine) -> dict[str, Any]:
    entry, name = line.entry, display_name(access, line.entry)
    return {
        "submission": entry.submission,
        "submissions": list(entry.submissions),
        "name": name.title,
        "team": name.team,
        "system": name.system or None,
        "own": name.own,
        "runs": [run for run in entry.runs if run] if name.system else [],
        "state": entry.state.value,
        # The reason may quote a text: the submission's page shows its team what it may know.
        "reason": entry.reason if access.organises else None,
        "kind": entry.kind.value,
        "ranked": entry.ranked,
        "constrained": entry.constrained,
        "late_seconds": entry.late_seconds,
        "same_output_as": None if line.same_as is None else display_name(access, line.same_as).title,
        "scores": [
            {
                "metric": score.metric,
                "title": score.title,
                "signature": score.signature,
                "higher_is_better": score.higher_is_better,
                "scale": finite_scale(score.scale),
                "score": score.score,
                "interval": score.interval
                and {
                    "level": LEVEL,
                    "low": score.interval[0],
                    "high": score.interval[1],
                    "kind": "percentile",
                    "n": view.listed.replicates,
                },
                "runs": list(score.run_scores) if len(entry.runs) > 1 else [],
                "details": dict(score.details),
                # Only for the ranking metric: ranks by the others were not requested.
                **place_fields(line.rank, line.place, shown=position == view.query.metric),
            }
            for position, score in enumerate(entry.scores)
        ],
    }


def place_fields(rank: int | None, place: SystemRank | None, *, shown: bool) -> dict[str, int | None]:
    """Return rank, range, cluster and wins; None if undefined."""
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
