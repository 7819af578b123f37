"""How the numbers of a page were computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from campaigns.reports.template import rendered
from steelyard.tables.formatting import TYPESET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from analysis.leaderboard.board import Board


def method_body(boards: Sequence[Board], sentences: Sequence[str]) -> Markup:
    """Render sentences about tests and limits, signatures of all metrics, and further figures of metrics."""
    signatures = []
    figures: list[dict[str, Any]] = []
    for board in boards:
        rows = [row for row in board.rows if row.scores]
        for metric, title in enumerate(board.titles if rows else []):
            against = " + ".join(board.listed.references)
            signatures.append((f"{title}, {against}", rows[0].scores[metric].signature))
            details = [row.scores[metric].details for row in rows]
            names = list(dict.fromkeys(name for each in details for name in each))
            # Counts unchanged, shares with three digits; a figure that only some systems have is empty for others.
            places = {n: 0 if all(each[n].is_integer() for each in details if n in each) else 3 for n in names}
            of_systems = [
                (board.name(row), [TYPESET.number(each[n], places[n]) if n in each else "" for n in names])
                for row, each in zip(rows, details, strict=True)
            ]
            if names:
                figures.append({"title": f"{title}, {against}", "names": names, "rows": of_systems})
    return rendered("method", sentences=sentences, signatures=signatures, figures=figures)
