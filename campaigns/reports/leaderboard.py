"""The leaderboard with interval bars, rank ranges and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from campaigns.reports.template import rendered
from steelyard.tables.formatting import TYPESET, digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markupsafe import Markup

    from analysis.leaderboard.board import Board
    from steelyard.ranking.clusters import SystemRank

WIDTH = 120
"""Of an interval's drawing, in pixels: that of `.whisker` in the style sheet."""
MARGIN = 5

CORRECTIONS = {
    "none": "not corrected for multiple testing",
    "holm": "Holm-corrected",
    "bh": "Benjamini-Hochberg-corrected",
}
"""In words."""


@dataclass(frozen=True)
class Cell:
    """A score with its interval as text and, in pixels from the left, as a drawing."""

    score: str
    low: str = ""
    high: str = ""
    whisker: tuple[float, float, float] | None = None

    @property
    def picture(self) -> Markup:
        """The drawing. A page has hundreds: their size, and that of the dot, is in the style sheet."""
        from markupsafe import Markup

        low, middle, high = self.whisker or (0.0, 0.0, 0.0)
        return Markup(  # noqa: S704 - numbers
            f'<svg class="whisker" role="img"><title>from {self.low} to {self.high}</title>'
            f'<path d="M{low:.1f} 8H{high:.1f}"/><circle cx="{middle:.1f}"/></svg>'
        )


@dataclass(frozen=True)
class Line:
    """A system."""

    rank: int | None
    place: SystemRank | None
    name: str
    cells: Sequence[Cell]
    remark: str


def leaderboard_body(board: Board) -> Markup:
    """Render the table, with rank ranges and clusters by the metric that the board is sorted by, if there are any."""
    metrics = range(len(board.listed.metrics))
    columns = [_column(board, metric) for metric in metrics]
    lines = []
    for position, row in enumerate(board.rows):
        place = board.rank_of(position, board.sorted_by)
        rank = row.scores[board.sorted_by].rank if row.scores else None
        cells = [cells[position] for cells, _ in columns]
        lines.append(Line(rank, place, board.name(row), cells, board.remark(row)))
    ranked = any(line.place for line in lines)
    clusters = [list(rows) for _, rows in groupby(lines, key=lambda line: line.place.cluster if line.place else 0)]
    return rendered(
        "leaderboard",
        board=board,
        clusters=clusters,
        ranked=ranked,
        axes=[axis for _, axis in columns],
        remarks=any(line.remark for line in lines),
        descending=any(title.endswith("↓") for title in board.titles),
        ranking=board.ranking,
        correction=CORRECTIONS[board.ranking.correction] if board.ranking else "",
    )


def _column(board: Board, metric: int) -> tuple[list[Cell], tuple[str, str] | None]:
    """Return the cells of one metric, and the ends of the axis that their intervals share."""
    scores = [row.scores[metric] if row.scores else None for row in board.rows]
    intervals = [None if score is None else board.interval(score) for score in scores]
    known = [interval for interval in intervals if interval]
    least, most = min((low for low, _ in known), default=0.0), max((high for _, high in known), default=0.0)
    cells = [
        drawn(score.score if score else None, interval, score.scale if score else 100.0, (least, most))
        for score, interval in zip(scores, intervals, strict=True)
    ]
    scale = next((score.scale for score in scores if score), 100.0)
    places = digits(scale)
    return cells, (TYPESET.number(least, places), TYPESET.number(most, places)) if known else None


def drawn(score: float | None, interval: tuple[float, float] | None, scale: float, axis: tuple[float, float]) -> Cell:
    """Return a score with its interval on an axis that all systems of a column share."""
    places = digits(scale)
    if score is None or interval is None:
        return Cell(TYPESET.number(score, places))
    step = (WIDTH - 2 * MARGIN) / ((axis[1] - axis[0]) or 1.0)
    low, middle, high = (MARGIN + step * (value - axis[0]) for value in (interval[0], score, interval[1]))
    # A score can lie outside its own interval, and so outside the axis.
    middle = min(max(middle, MARGIN), WIDTH - MARGIN)
    ends = TYPESET.number(interval[0], places + 1), TYPESET.number(interval[1], places + 1)
    return Cell(TYPESET.number(score, places), *ends, (low, middle, high))
