"""Scores by reference, by segment length, by domain and by document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from campaigns.charts import Series, curve
from campaigns.charts.numbers import csv_address
from campaigns.reports import limits
from campaigns.reports.template import drawing, rendered
from steelyard.tables.formatting import TYPESET, digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup
    from numpy.typing import NDArray

    from analysis.breakdown.group_scores import Breakdown
    from analysis.leaderboard.board import Board

FEW = f"* fewer than {limits.SMALL_GROUP} segments: such scores are unreliable."


def references_body(boards: Sequence[Board], leaderboards: Sequence[tuple[str, Markup]] = ()) -> Markup:
    """Render the scores of each system against each list of references, one table for each metric of the first board.

    `leaderboards` are titles and bodies of leaderboards to add below, collapsed.
    """
    first, *_ = boards
    labels = [" + ".join(board.listed.references) for board in boards]
    names = [first.name(row) for row in first.rows][: limits.BREAKDOWN_SYSTEMS]
    parts = []
    for metric, specification in enumerate(first.listed.metrics):
        found: list[dict[str, str]] = []
        for board in boards:
            scores: dict[str, str] = {}
            if specification in board.listed.metrics:
                position = board.listed.metrics.index(specification)
                for row in board.rows:
                    if row.scores:
                        score = row.scores[position]
                        rank = f" ({score.rank})" if score.rank else ""
                        scores[board.name(row)] = TYPESET.number(score.score, digits(score.scale)) + rank
            found.append(scores)
        title = first.titles[metric]
        parts.append(
            {
                "label": title,
                "caption": f"{title}, and in brackets the rank by it.{_left_out(len(first.rows) - len(names))}",
                "head": "System",
                "columns": [_column(label) for label in labels],
                "sizes": False,
                "rows": [{"name": name, "cells": [scores.get(name, "n/a") for scores in found]} for name in names],
                "folded": metric != first.sorted_by,
                "tall": False,
                "chart": "",
            }
        )
    parts.sort(key=lambda part: bool(part["folded"]))
    return rendered("breakdown", introduction=[], parts=parts, more=leaderboards)


def groups_body(board: Board, breakdown: Breakdown, *, lines: bool) -> Markup:
    """Render a table for each metric, groups as columns, each with a chart of the first systems.

    `lines` connects points of consecutive groups.
    """
    partition = breakdown.partition
    names = [board.name(row) for row in board.rows]
    shown = [position for position, row in enumerate(board.rows) if row.scores][: limits.BREAKDOWN_SYSTEMS]
    drawn = shown[: limits.LINES]
    parts = []
    for metric, title in enumerate(board.titles):
        values = breakdown.scores[:, metric]
        places = _digits(board, metric)
        chart = groups_chart(
            [names[row] for row in drawn], values[drawn], partition.groups, partition.sizes, partition.what, title,
            lines=lines,
        )  # fmt: skip
        left_out = len([row for row in board.rows if row.scores]) - len(shown)
        parts.append(
            {
                "label": f"{title} by {partition.what}",
                "caption": f"{title} by {partition.what}. {FEW}{_left_out(left_out)}",
                "figcaption": _first_systems(len(drawn), len(names)),
                "head": partition.what.capitalize(),
                "columns": [_column(name, size) for name, size in zip(partition.groups, partition.sizes, strict=True)],
                "sizes": True,
                "rows": [
                    {"name": names[row], "cells": [TYPESET.number(value, places) for value in values[row]]}
                    for row in shown
                ],
                "folded": metric != board.sorted_by,
                "tall": False,
                "chart": chart,
                "csv": csv_address(
                    ["system", *partition.groups], [(names[row], *values[row].tolist()) for row in shown]
                ),
            }
        )
    parts.sort(key=lambda part: bool(part["folded"]))
    return rendered("breakdown", introduction=[], parts=parts, more=())


def groups_chart(
    names: Sequence[str],
    values: NDArray[np.float64],
    groups: Sequence[str],
    sizes: Sequence[int],
    what: str,
    title: str,
    *,
    lines: bool,
) -> Markup | str:
    """Return a chart of (systems, groups) scores; "" where there are not two groups that are large enough.

    Tiny groups are left out: a score of three segments would dominate the chart.
    """
    large = [group for group, size in enumerate(sizes) if size >= limits.SMALL_GROUP]
    if not names or len(large) < 2:
        return ""
    chart = curve(
        [
            Series(name, list(range(len(large))), of_name[large].tolist())
            for name, of_name in zip(names, values, strict=True)
        ],
        what,
        title,
        ticks=[groups[group] for group in large],
        joined=lines,
        title=f"{title} by {what}",
        description="The table has the values.",
        width=540,
    )
    return drawing(chart)


def documents_body(board: Board, breakdown: Breakdown) -> Markup:
    """Render documents by the metric that the board is sorted by: the lowest and highest, then all."""
    partition, title = breakdown.partition, board.titles[board.sorted_by]
    places = _digits(board, board.sorted_by)
    shown = [position for position, row in enumerate(board.rows) if row.scores][: limits.DOCUMENT_SYSTEMS]
    values = breakdown.scores[:, board.sorted_by]
    means = _means(values)
    order = [int(document) for document in np.argsort(means, kind="stable") if not np.isnan(means[document])]

    def part(label: str, documents: Sequence[int], caption: str, *, folded: bool) -> dict[str, Any]:
        return {
            "label": label,
            "caption": f"{title}. {caption}{_left_out(sum(bool(row.scores) for row in board.rows) - len(shown))}",
            "head": "Document",
            "columns": [
                *(_column(name) for name in ("Segments", "Mean of all")),
                *(_column(board.name(board.rows[row])) for row in shown),
            ],
            "sizes": False,
            "rows": [
                {
                    "name": partition.groups[document],
                    "cells": [
                        f"{partition.sizes[document]:,}",
                        TYPESET.number(means[document], places),
                        *(TYPESET.number(values[row, document], places) for row in shown),
                    ],
                }
                for document in documents
            ],
            "folded": folded,
            "tall": True,
            "chart": "",
        }

    extremes = limits.EXTREMES
    parts = []
    if len(order) > 2 * extremes:
        parts.append(part("Lowest scores", order[:extremes], "The documents with the lowest scores.", folded=False))
        highest = order[: -extremes - 1 : -1]
        parts.append(part("Highest scores", highest, "The documents with the highest scores.", folded=False))
    everything = range(min(len(partition.groups), limits.DOCUMENTS))
    more = len(partition.groups) - len(everything)
    caption = (
        "All documents in their original order."
        if not more
        else f"The first {len(everything)} documents; {more:,} more."
    )
    parts.append(part("All documents", list(everything), caption, folded=bool(parts)))
    few = "A document has few segments: use its score to find places to look at, not to compare systems."
    return rendered("breakdown", introduction=[few], parts=parts, more=())


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each group over the systems with a score there; NaN if there are none."""
    known = ~np.isnan(values)
    total = np.where(known, values, 0.0).sum(axis=0)
    count = known.sum(axis=0)
    means: NDArray[np.float64] = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return means


def _digits(board: Board, metric: int) -> int:
    return digits(next((row.scores[metric].scale for row in board.rows if row.scores), 100.0))


def _column(name: str, size: int | None = None) -> dict[str, Any]:
    return {"name": name, "size": size, "few": size is not None and size < limits.SMALL_GROUP}


def _left_out(systems: int) -> str:
    return f" {systems:,} more systems are not shown." if systems > 0 else ""


def _first_systems(drawn: int, systems: int) -> str:
    return "" if drawn == systems else f"The first {drawn} systems; the table has more."
