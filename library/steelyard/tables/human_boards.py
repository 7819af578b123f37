"""Boards of human judgments: a document for JSON, rows for programs, and tables for people."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from steelyard.tables import rendering
from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.ranking.human_boards import HumanBoard
    from steelyard.tables.delimited import Cell

COLUMNS = ("pair", "rank", "rank_low", "rank_high", "cluster", "system", "score", "wins", "losses", "n")


def render(boards: Sequence[HumanBoard], form: str) -> str:
    """The boards in one of `steelyard.tables.FORMATS`.

    Parameters
    ----------
    boards : sequence of HumanBoard
        At least one, all by the same rule.
    form : str

    Returns
    -------
    str
    """
    if form == "json":
        return boards_as_json(boards)
    if form in ("tsv", "csv"):
        return (as_tsv if form == "tsv" else as_csv)(COLUMNS, _rows(boards))
    return rendering.render([table_of(board) for board in boards], form, "Ranking")


def boards_as_json(boards: Sequence[HumanBoard]) -> str:
    """All that is known, at full precision, in the form of `steelyard.tables.score_boards`.

    Parameters
    ----------
    boards : sequence of HumanBoard
        At least one, all by the same rule.

    Returns
    -------
    str
    """
    rule = boards[0].rule
    return rendering.as_json(
        {
            "level": rule.trials.level,
            "replicates": 0,
            "seed": rule.trials.seed if rule.own else None,
            "test": "randomization" if rule.own else "wilcoxon",
            "correction": rule.trials.correction,
            "pairs": [_pair(board) for board in boards],
        }
    )


def table_of(board: HumanBoard) -> Table:
    """A row for each system, a line between clusters.

    Parameters
    ----------
    board : HumanBoard

    Returns
    -------
    Table
    """
    columns = [
        Column("rank", "Rank", Kind.ID),
        Column("range", "Range", Kind.RANGE),
        Column("system", "System", Kind.NAME),
        Column("score", "Score", Kind.NUMBER, places=2, higher_is_better=True),
        Column("wins", "Wins", Kind.COUNT),
        Column("losses", "Losses", Kind.COUNT),
        Column("n", "Judgments", Kind.COUNT),
    ]
    rows = [
        [rank, (found.rank_low, found.rank_high), name, found.score, found.wins, found.losses, found.n]
        for rank, (name, found) in zip(_ranks(board), board.systems, strict=True)
    ]
    clusters = [found.cluster for _, found in board.systems]
    rules = frozenset(number for number, (one, other) in enumerate(pairwise(clusters), 1) if one != other)
    title = (
        f"{board.pair or 'All'}: {len(board.systems)} systems, {board.segments:,} judged segments, ranked by "
        f"{board.rule.specification}"
    )
    return Table(columns, rows, title, notes=board.notices, rules=rules)


def _pair(board: HumanBoard) -> dict[str, Any]:
    return {
        "pair": board.pair,
        "segments": board.segments,
        "metrics": [],
        "by": board.rule.specification,
        "systems": [
            {
                "system": name,
                "rank": rank,
                "rank_low": found.rank_low,
                "rank_high": found.rank_high,
                "cluster": found.cluster,
                "wins": found.wins,
                "autorank": None,
                "human": {
                    "score": found.score,
                    "rank_low": found.rank_low,
                    "rank_high": found.rank_high,
                    "wins": found.wins,
                    "losses": found.losses,
                    "cluster": found.cluster,
                    "n": found.n,
                },
                "scores": [],
            }
            for rank, (name, found) in zip(_ranks(board), board.systems, strict=True)
        ],
        "notices": list(board.notices),
    }


def _ranks(board: HumanBoard) -> list[int]:
    """By score; equal scores share one."""
    scores = [found.score for _, found in board.systems]
    return [1 + sum(other > score for other in scores) for score in scores]


def _rows(boards: Sequence[HumanBoard]) -> Iterator[list[Cell]]:
    for board in boards:
        for rank, (name, found) in zip(_ranks(board), board.systems, strict=True):
            yield [
                board.pair, rank, found.rank_low, found.rank_high, found.cluster, name, found.score, found.wins,
                found.losses, found.n,
            ]  # fmt: skip
