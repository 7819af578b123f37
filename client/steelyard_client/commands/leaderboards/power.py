"""Statistical power of a test set, as tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from steelyard.tables.formatting import digits
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from steelyard_client.documents.leaderboards.comparisons import ComparedScore
    from steelyard_client.documents.leaderboards.leaderboards import BoardScore, LeaderboardResponse, NeighbourPower
    from steelyard_client.documents.submissions.submissions import ScoreResponse


def power_tables(board: LeaderboardResponse, width: int = 1) -> list[Table]:
    """The smallest detectable differences by every metric, and neighbours by the metric that sorts the board.

    None where they were not asked for.
    """
    if board.power is None:
        return []
    if not board.replicates:
        return [Table([], [], empty="Enough data? Unknown: no replicates were stored (--confidence 0).")]
    power = board.power
    scores = next((system.scores for system in board.items if system.scores), [])
    # At least two digits: such differences are small.
    places = [digits(scale_of(score), max(width, 2)) for score in scores]
    titles = [score.title + ("" if score.higher_is_better else " ↓") for score in scores]
    columns = [
        Column("metric", "Smallest difference", Kind.NAME),
        *(Column(name.split()[0].lower(), name) for name in ("Closest pair", "Median pair", "Furthest pair")),
    ]
    rows = []
    for title, decimals, each in zip(titles, places, power.metrics, strict=True):
        found = each.smallest_difference
        ends = (found.least, found.median, found.largest) if found else ()
        rows.append([title, *([f"{end:.{decimals}f}" for end in ends] or ["n/a"] * 3)])
    said = (
        f"Enough data? Of {power.segments:,} segments, the smallest true difference found in "
        f"{100 * (power.power or 0):g} % of such test sets (p < {power.alpha:g}, two-sided)"
    )
    tables = [Table(columns, rows, said, key="power")]
    position = board.metrics.index(board.sorted_by)
    pairs = power.metrics[position].neighbours
    if pairs:
        tables.append(_neighbours(pairs, titles[position], places[position]))
    return tables


def _neighbours(pairs: list[NeighbourPower], title: str, places: int) -> Table:
    columns = [
        Column("neighbours", "Neighbours", Kind.NAME),
        Column("difference", "Difference"),
        Column("found_from", "Found from"),
        Column("power", "Power"),
        Column("segments_needed", "Segments needed"),
        Column("verdict", ""),
    ]
    # The lead of the better system, whatever the metric's direction.
    rows = [
        [f"{pair.a} before {pair.b}", f"{abs(pair.difference):.{places}f}", *_shown(pair, places)] for pair in pairs
    ]
    return Table(columns, rows, f"For neighbours by {title}, if the true difference is the one seen", key="neighbours")


def _shown(pair: NeighbourPower, places: int) -> list[str]:
    if pair.smallest_difference is None or pair.power is None or not pair.smallest_difference > 0:
        # Replicates that all have one same difference show no chance, as those of a single segment.
        never = pair.smallest_difference == 0 and not pair.difference
        return ["n/a", "n/a", "n/a", "they never differ" if never else "unknown"]
    # Two digits are more than such an estimate is worth.
    needed = "no number" if pair.segments_needed is None else f"{float(f'{pair.segments_needed:.1e}'):,.0f}"
    verdict = "enough" if pair.enough else "too few segments"
    return [f"{pair.smallest_difference:.{places}f}", f"{100 * pair.power:.0f} %", needed, verdict]


def scale_of(score: BoardScore | ComparedScore | ScoreResponse) -> float:
    """The score of a perfect output; infinite where the metric has no upper end, which JSON sends as null."""
    return math.inf if score.scale is None else score.scale
