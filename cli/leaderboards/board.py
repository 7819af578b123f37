"""A leaderboard as a table for people, as JSON, and as rows for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from campaigns.reports.board_rows import COLUMNS, rows_of, scored_cells
from cli.leaderboards import board_text
from cli.leaderboards.board_text import Line, Method, Range
from steelyard.tables import delimited, rendering, text
from steelyard.tables.formatting import PLAIN, digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.leaderboard.board import Board
    from models.results.leaderboard import LeaderboardScore
    from steelyard.ranking.clusters import SystemRank
    from steelyard.tables.delimited import Cell
    from steelyard.tables.table import Table


def as_text(board: Board, width: int = 1) -> str:
    """The table for a terminal."""
    return text.as_text(table_of(board, width))


def table_of(board: Board, width: int = 1) -> Table:
    """A row for each system, with a rule between two clusters."""
    lines = []
    for number, row in enumerate(board.rows):
        place = board.rank_of(number, board.sorted_by)
        lines.append(
            Line(
                rank=row.scores[board.sorted_by].rank if row.scores else None,
                range=Range(place.low, place.high, place.cluster) if place else None,
                name=board.name(row),
                scores=[shown(board, score, width) for score in row.scores],
                remark=board.remark(row),
            )
        )
    listed = board.listed
    method = Method(board.titles[board.sorted_by], listed.replicates, board.level, board.interval_kind, listed.seed)
    return board_text.table_of(board.title, board.titles, lines, method, [*ranking_notes(board), *board.notices])


def ranking_notes(board: Board) -> list[str]:
    """Notes on unranked systems, and on how ranges and clusters were found or why there are none."""
    ranking = board.ranking
    if ranking is None:
        return []
    return board_text.ranking_notes(
        board_text.Tests(ranking.test, ranking.draws, ranking.alpha, ranking.correction),
        ranges=bool(ranking.ranks),
        fault=ranking.fault,
        not_ranked=board.not_ranked,
    )


def shown(board: Board, score: LeaderboardScore, width: int) -> str:
    """Score and interval for people."""
    return PLAIN.estimate(score.score, board.interval(score), digits(score.scale, width))


def as_json(boards: Sequence[Board], more: Sequence[dict[str, Any]] = ()) -> str:
    """All boards with numbers at full precision, null where undefined; `more` goes into the object of each board."""
    objects = [_json(board) for board in boards]
    for document, each in zip(objects, more, strict=False):
        document |= each
    return rendering.as_json(objects)


def _json(board: Board) -> dict[str, Any]:
    systems = []
    for number, row in enumerate(board.rows):
        scores = []
        for metric, score in enumerate(row.scores):
            interval = board.interval(score)
            scores.append(
                {
                    "metric": score.specification,
                    "title": score.title,
                    "signature": score.signature,
                    "higher_is_better": score.higher_is_better,
                    "score": score.score,
                    "rank": score.rank,
                    **place_fields(board.rank_of(number, metric)),
                    "interval": interval
                    and {
                        "level": board.level,
                        "low": interval[0],
                        "high": interval[1],
                        "kind": board.interval_kind,
                        "n": board.listed.replicates,
                    },
                    **({"runs": list(score.run_scores)} if len(row.runs) > 1 else {}),
                    **({"details": dict(score.details)} if score.details else {}),
                }
            )
        systems.append(
            {
                "system": row.system,
                "team": row.team,
                "runs": [run for run in row.runs if run],
                "submissions": list(row.submissions),
                "state": row.state.value,
                "reason": row.reason,
                "kind": row.kind.value,
                "ranked": row.ranked,
                "same_output_as": board.same_output.get(row.evaluations),
                "same_as_reference": board.same_as_reference.get(row.evaluations),
                "scores": scores,
            }
        )
    return {
        "campaign": board.listed.campaign,
        "test_set": board.listed.test_set,
        "version": board.listed.version,
        "references": list(board.listed.references),
        "metrics": list(board.listed.metrics),
        "replicates": board.listed.replicates,
        "seed": board.listed.seed,
        "sorted_by": board.listed.metrics[board.sorted_by],
        "not_ranked": board.not_ranked,
        "ranking": _ranking(board),
        "notices": board.notices,
        "systems": systems,
    }


def place_fields(place: SystemRank | None) -> dict[str, int | None]:
    """The fields of a place beside the rank, as JSON and TSV have them; None without a place."""
    if place is None:
        return dict.fromkeys(("rank_low", "rank_high", "cluster", "wins"))
    return {"rank_low": place.low, "rank_high": place.high, "cluster": place.cluster, "wins": place.wins}


def _ranking(board: Board) -> dict[str, Any] | None:
    if board.ranking is None:
        return None
    ranking = board.ranking
    return {
        "test": ranking.test,
        "draws": ranking.draws,
        "alpha": ranking.alpha,
        "correction": ranking.correction,
        "fault": ranking.fault or None,
    }


def as_tsv(boards: Sequence[Board]) -> str:
    """One row per board, system and metric, tab-separated; empty where undefined."""
    return delimited.as_tsv(COLUMNS, _rows(boards))


def as_csv(boards: Sequence[Board]) -> str:
    """As `as_tsv`, comma-separated."""
    return delimited.as_csv(COLUMNS, _rows(boards))


def _rows(boards: Sequence[Board]) -> list[list[Cell]]:
    rows: list[list[Cell]] = []
    for board in boards:
        for number, row in enumerate(board.rows):
            scored = []
            for metric, score in enumerate(row.scores):
                place = {"rank": score.rank or None, **place_fields(board.rank_of(number, metric))}
                interval = board.interval(score)
                said = score.specification, place, score.score, interval, board.level, score.signature
                scored.append(scored_cells(*said))
            rows += rows_of(board.listed, row, row.system, row.team, scored)
    return rows
