"""Score boards as JSON, as rows of a table for programs, and as text for people."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.ranking.score_boards import BoardScore, BoardSystem, RankOptions, ScoreBoard
    from steelyard.resampling.interval import Ends
    from steelyard.tables.delimited import Cell

COLUMNS = (
    "pair", "rank", "rank_low", "rank_high", "cluster", "system", "autorank", "autorank_low", "autorank_high",
    "metric", "score", "low", "high", "n",
)  # fmt: skip
"""A row for each system and metric."""


def boards_as_json(boards: Sequence[ScoreBoard], options: RankOptions) -> str:
    """All that is known, at full precision; null where undefined."""
    return (
        json.dumps(
            {
                "level": options.level,
                "replicates": options.replicates,
                "seed": options.seed,
                "test": options.test,
                "correction": options.correction,
                "pairs": [_pair(board, options.level) for board in boards],
            },
            indent=1,
            ensure_ascii=False,
            allow_nan=False,
        )
        + "\n"
    )


def boards_as_tsv(boards: Sequence[ScoreBoard], options: RankOptions) -> str:  # noqa: ARG001 - as the others
    """`COLUMNS`, tab-separated."""
    return as_tsv(COLUMNS, _rows(boards))


def boards_as_csv(boards: Sequence[ScoreBoard], options: RankOptions) -> str:  # noqa: ARG001
    """`COLUMNS`, comma-separated."""
    return as_csv(COLUMNS, _rows(boards))


def boards_as_text(boards: Sequence[ScoreBoard], options: RankOptions) -> str:  # noqa: ARG001
    """A table for each pair, a line between clusters."""
    return "\n".join(_table(board) for board in boards)


RENDERERS = {"text": boards_as_text, "json": boards_as_json, "tsv": boards_as_tsv, "csv": boards_as_csv}


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


def _table(board: ScoreBoard) -> str:
    rows = [["rank", "range", "system", "AutoRank", *board.metrics]]
    clusters = [line.place.cluster if line.place else 0 for line in board.systems]
    for line in board.systems:
        place = line.place
        rows.append(
            [
                str(place.rank) if place else "n/a",
                f"{place.low}-{place.high}" if place else "n/a",
                line.system,
                "n/a" if line.autorank is None else f"{line.autorank:.2f}",
                *map(_cell, line.scores),
            ]
        )
    rules = [number for number, (one, other) in enumerate(pairwise(clusters), 1) if one != other]
    unit = f"{board.segments:,} segments" if board.segments else "scores of systems"
    title = f"{board.pair or 'All'}: {len(board.systems)} systems, {unit}, ranked by {board.by}\n\n"
    return title + aligned(rows, rules) + "".join(f"\n{notice}\n" for notice in board.notices)


def _cell(score: BoardScore) -> str:
    if math.isnan(score.score):
        return "n/a"
    digits = 2 if abs(score.score) >= 10 else 3
    if score.interval is None:
        return f"{score.score:.{digits}f}"
    low, high = score.interval
    return f"{score.score:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"
