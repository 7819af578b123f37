"""Score boards: a document for JSON, rows for programs, and tables for people."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from steelyard.tables import rendering
from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.tables.formatting import MISSING
from steelyard.tables.table import Column, Estimate, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.ranking.score_boards import BoardSystem, RankOptions, ScoreBoard
    from steelyard.resampling.interval import Ends
    from steelyard.tables.delimited import Cell

COLUMNS = (
    "pair", "rank", "rank_low", "rank_high", "cluster", "system", "autorank", "autorank_low", "autorank_high",
    "metric", "score", "low", "high", "n",
)  # fmt: skip
"""A row for each system and metric."""


def boards_as_json(boards: Sequence[ScoreBoard], options: RankOptions) -> str:
    """All that is known, at full precision; null where undefined.

    Parameters
    ----------
    boards : sequence of ScoreBoard
    options : RankOptions

    Returns
    -------
    str
    """
    return rendering.as_json(
        {
            "level": options.level,
            "replicates": options.replicates,
            "seed": options.seed,
            "test": options.test,
            "correction": options.correction,
            "resample": options.resample,
            "pairs": [_pair(board, options.level) for board in boards],
        }
    )


def render(boards: Sequence[ScoreBoard], options: RankOptions, form: str) -> str:
    """The boards in one of `steelyard.tables.FORMATS`.

    Parameters
    ----------
    boards : sequence of ScoreBoard
    options : RankOptions
    form : str

    Returns
    -------
    str
    """
    if form == "json":
        return boards_as_json(boards, options)
    if form in ("tsv", "csv"):
        return (as_tsv if form == "tsv" else as_csv)(COLUMNS, _rows(boards))
    return rendering.render([table_of(board) for board in boards], form, "Ranking")


def _pair(board: ScoreBoard, level: float) -> dict[str, Any]:
    return {
        "pair": board.pair,
        "segments": board.segments,
        "metrics": list(board.metrics),
        "by": board.by,
        "systems": [_system(line, level) for line in board.systems],
        "notices": list(board.notices),
    }


def _system(line: BoardSystem, level: float) -> dict[str, Any]:
    place = line.place
    return {
        "system": line.system,
        "rank": place and place.rank,
        "rank_low": place and place.low,
        "rank_high": place and place.high,
        "cluster": place and place.cluster,
        "wins": place and place.wins,
        "autorank": None
        if line.autorank is None
        else {"value": line.autorank, "interval": _interval(line.autorank_interval, level)},
        "scores": [
            {
                "metric": each.metric,
                "score": None if math.isnan(each.score) else each.score,
                "interval": _interval(each.interval, level),
                "n": each.n,
            }
            for each in line.scores
        ],
    }


def _interval(ends: Ends | None, level: float) -> dict[str, float] | None:
    return None if ends is None else {"level": level, "low": ends[0], "high": ends[1]}


def _rows(boards: Sequence[ScoreBoard]) -> Iterator[list[Cell]]:
    for board in boards:
        for line in board.systems:
            place = line.place
            stood: list[Cell] = [place.rank, place.low, place.high, place.cluster] if place else [None] * 4
            for each in line.scores:
                yield [
                    board.pair, *stood, line.system, line.autorank, *(line.autorank_interval or (None, None)),
                    each.metric, each.score, *(each.interval or (None, None)), each.n,
                ]  # fmt: skip


def table_of(board: ScoreBoard) -> Table:
    """A row for each system, a line between clusters.

    Parameters
    ----------
    board : ScoreBoard

    Returns
    -------
    Table
    """
    columns = [
        Column("rank", "Rank", Kind.ID, missing=MISSING),
        Column("range", "Range", Kind.RANGE, missing=MISSING),
        Column("system", "System", Kind.NAME),
        Column("autorank", "AutoRank", Kind.ESTIMATE, places=2, missing=MISSING),
    ]
    # Scores by learned metrics are often small.
    columns += [Column(name, name, Kind.ESTIMATE, places=_places(board, at)) for at, name in enumerate(board.metrics)]
    rows = []
    for line in board.systems:
        place = line.place
        autorank = None if line.autorank is None else Estimate(line.autorank, line.autorank_interval)
        scores = [Estimate(score.score, score.interval) for score in line.scores]
        rows.append([place and place.rank, place and (place.low, place.high), line.system, autorank, *scores])
    clusters = [line.place.cluster if line.place else 0 for line in board.systems]
    rules = frozenset(number for number, (one, other) in enumerate(pairwise(clusters), 1) if one != other)
    unit = f"{board.segments:,} segments" if board.segments else "scores of systems"
    title = f"{board.pair or 'All'}: {len(board.systems)} systems, {unit}, ranked by {board.by}"
    return Table(columns, rows, title, notes=board.notices, rules=rules)


def _places(board: ScoreBoard, metric: int) -> int:
    scores = [abs(line.scores[metric].score) for line in board.systems]
    return 2 if max((score for score in scores if not math.isnan(score)), default=0.0) >= 10 else 3
