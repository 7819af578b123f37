"""Statistical power of a test set, as text and JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.tables.formatting import digits
from steelyard.tables.text import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.leaderboard.board import Board
    from steelyard.ranking.power import MetricPower, Neighbours


def as_text(board: Board, found: Sequence[MetricPower], segments: int, width: int = 1) -> str:
    """The smallest detectable differences by every metric, and neighbours by the metric that sorts the board."""
    if not board.listed.replicates:
        return "Enough data? Unknown: no replicates were stored (--confidence 0).\n"
    power, alpha = found[0].power, found[0].alpha
    # At least two digits: such differences are small.
    width = max(width, 2)
    table = [["Smallest difference", "Closest pair", "Median pair", "Furthest pair"]]
    for metric, (title, each) in enumerate(zip(board.titles, found, strict=True)):
        places = digits(_scale(board, metric), width)
        table.append([title, *(f"{end:.{places}f}" for end in each.smallest or ())] + ["n/a"] * (not each.smallest) * 3)
    lines = [
        f"Enough data? Of {segments:,} segments, the smallest true difference found in {100 * power:g} % of such test "
        f"sets (p < {alpha:g}, two-sided):",
        aligned(table),
    ]
    chosen = found[board.sorted_by]
    places = digits(_scale(board, board.sorted_by), width)
    rows = [["Neighbours", "Difference", "Found from", "Power", "Segments needed", ""]]
    for pair in chosen.neighbours:
        names = " before ".join(board.name(board.rows[row]) for row in (pair.a, pair.b))
        # The lead of the better system, whatever the metric's direction.
        rows.append([names, f"{abs(pair.difference):.{places}f}", *_shown(pair, places)])
    if len(rows) > 1:
        lines += [
            f"For neighbours by {board.titles[board.sorted_by]}, if the true difference is the one seen:",
            aligned(rows),
        ]
    return "\n".join(lines)


def _shown(pair: Neighbours, places: int) -> list[str]:
    if not pair.smallest > 0:
        # Replicates that all have one same difference show no chance, as those of a single segment.
        never = pair.smallest == 0 and not pair.difference
        return ["n/a", "n/a", "n/a", "they never differ" if never else "unknown"]
    # Two digits are more than such an estimate is worth.
    needed = "no number" if pair.segments is None else f"{float(f'{pair.segments:.1e}'):,.0f}"
    verdict = "enough" if pair.enough else "too few segments"
    return [f"{pair.smallest:.{places}f}", f"{100 * pair.power:.0f} %", needed, verdict]


def _scale(board: Board, metric: int) -> float:
    return next((row.scores[metric].scale for row in board.rows if row.scores), 100.0)


def as_object(board: Board, found: Sequence[MetricPower], segments: int) -> dict[str, Any]:
    """For JSON: numbers at full precision, null where undefined."""
    return {
        "segments": segments,
        "alpha": found[0].alpha if found else None,
        "power": found[0].power if found else None,
        "metrics": [
            {
                "metric": metric,
                "smallest_difference": each.smallest
                and dict(zip(("least", "median", "largest"), each.smallest, strict=True)),
                "neighbours": [
                    {
                        "a": board.rows[pair.a].system,
                        "b": board.rows[pair.b].system,
                        "difference": pair.difference,
                        "smallest_difference": _number(pair.smallest),
                        "power": _number(pair.power),
                        "segments_needed": pair.segments,
                        "enough": pair.enough,
                    }
                    for pair in each.neighbours
                ],
            }
            for metric, each in zip(board.listed.metrics, found, strict=True)
        ],
    }


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
