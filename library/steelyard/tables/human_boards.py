"""Boards of human judgments as JSON, as rows of a table for programs, and as text for people."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from steelyard.tables.delimited import as_csv, as_tsv
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.ranking.human_boards import HumanBoard
    from steelyard.tables.delimited import Cell

COLUMNS = ("pair", "rank", "rank_low", "rank_high", "cluster", "system", "score", "wins", "losses", "n")


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
    document = {
        "level": rule.trials.level,
        "replicates": 0,
        "seed": rule.trials.seed if rule.own else None,
        "test": "randomization" if rule.own else "wilcoxon",
        "correction": rule.trials.correction,
        "pairs": [_pair(board) for board in boards],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def boards_as_tsv(boards: Sequence[HumanBoard]) -> str:
    """`COLUMNS`, tab-separated."""
    return as_tsv(COLUMNS, _rows(boards))


def boards_as_csv(boards: Sequence[HumanBoard]) -> str:
    """`COLUMNS`, comma-separated."""
    return as_csv(COLUMNS, _rows(boards))


def boards_as_text(boards: Sequence[HumanBoard]) -> str:
    """A table for each pair, a line between clusters."""
    return "\n".join(_table(board) for board in boards)


RENDERERS = {"text": boards_as_text, "json": boards_as_json, "tsv": boards_as_tsv, "csv": boards_as_csv}


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


def _table(board: HumanBoard) -> str:
    rows = [["rank", "range", "system", "score", "wins", "losses", "judgments"]]
    for rank, (name, found) in zip(_ranks(board), board.systems, strict=True):
        ranges = f"{found.rank_low}-{found.rank_high}"
        rows.append([str(rank), ranges, name, f"{found.score:.2f}", str(found.wins), str(found.losses), f"{found.n:,}"])
    clusters = [found.cluster for _, found in board.systems]
    rules = [number for number, (one, other) in enumerate(pairwise(clusters), 1) if one != other]
    title = (
        f"{board.pair or 'All'}: {len(board.systems)} systems, {board.segments:,} judged segments, ranked by "
        f"{board.rule.specification}\n\n"
    )
    return title + aligned(rows, rules) + "".join(f"\n{notice}\n" for notice in board.notices)
