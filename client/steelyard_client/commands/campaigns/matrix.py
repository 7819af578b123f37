"""The matrix of a campaign as tables: its systems over all of its test sets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.commands.notices import note
from steelyard.ranking.rank_matrix import RankedScore, RankMatrix
from steelyard.tables.formatting import digits
from steelyard.tables.rank_matrix import tables_of
from steelyard.tables.rendering import render_document

if TYPE_CHECKING:
    from steelyard.tables.table import Table
    from steelyard_client.documents.leaderboards.matrices import MatrixResponse


def matrix_tables(document: MatrixResponse) -> list[Table]:
    """The scores, and the rank ranges where there are some; rows in the order of the document."""
    names = [each.test_set if each.version == "1" else f"{each.test_set}@{each.version}" for each in document.test_sets]
    cells = {
        (row.name, name): RankedScore(cell.score, cell.rank, cell.rank_low, cell.rank_high, cell.cluster)
        for row in document.systems
        for name, cell in zip(names, row.cells, strict=True)
        if cell is not None
    }
    means = {row.name: math.nan if row.mean_rank is None else row.mean_rank for row in document.systems}
    autoranks = {row.name: row.autorank for row in document.systems if row.autorank is not None}
    matrix = RankMatrix(tuple(names), tuple(means), cells, means, autoranks)
    places = digits(math.inf if document.scale is None else document.scale)
    return tables_of(matrix, document.metric, places, higher_is_better=document.higher_is_better)


def print_matrix(found: MatrixResponse, campaign: str, form: str) -> int:
    """Print a matrix in a format."""
    rows = [
        [
            *(column.test_set, column.version, column.metric, row.name),
            *(cell.score, cell.rank, cell.rank_low, cell.rank_high, cell.cluster, row.origin.value),
        ]
        for row in found.systems
        for column, cell in zip(found.test_sets, row.cells, strict=True)
        if cell is not None
    ]
    columns = (
        *("test_set", "version", "metric", "system", "score", "rank", "rank_low", "rank_high", "cluster"),
        "origin",
    )
    if found.left_out:
        note([f"Without a leaderboard by this metric: {', '.join(found.left_out)}."])
    document = found.model_dump(mode="json")
    print(
        render_document(
            form,
            document=lambda: document,
            data=lambda: (columns, rows),
            tables=lambda: matrix_tables(found),
            title=f"Matrix of {campaign}",
        ),
        end="",
    )
    return 0
