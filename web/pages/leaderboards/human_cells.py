"""Places by human judgments as cells of tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analysis.meta_evaluation.human_ranking import HumanRanking
from campaigns.human_ranking.documents import places_of_submissions
from campaigns.human_ranking.official import read_official
from campaigns.reports.leaderboard import Cell, drawn
from steelyard.tables.formatting import TYPESET, digits

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.leaderboards.cache import LeaderboardCache
    from campaigns.leaderboards.view import BoardLine, BoardView
    from campaigns.permissions import CampaignAccess
    from steelyard_client.documents.leaderboards.human_rankings import HumanPlace

    Ends = tuple[str, str]

SMALL = 5.0
"""Scores up to it, such as standardised ones, are shown with as many digits as of a metric of 0 to 1; others, as of one
of 0 to 100."""


@dataclass(frozen=True, slots=True)
class HumanCell:
    """A system's place by human judgments."""

    cell: Cell
    place: HumanPlace


@dataclass(frozen=True, slots=True)
class HumanColumn:
    """The official ranking beside the metrics of a leaderboard."""

    official: HumanRanking
    cells: Mapping[int, HumanCell] = field(default_factory=dict)
    """By submission."""
    axis: Ends | None = None
    """The ends of the axis of their intervals."""

    def ranks(self, view: BoardView) -> bool:
        """Whether people judged any system of a leaderboard."""
        return any(line.entry.submission in self.cells for line in view.lines)

    def ordered(self, lines: Sequence[BoardLine]) -> list[BoardLine]:
        """Return the lines in the order of the official ranking, those that nobody judged last."""
        places = {number: each.place.rank for number, each in self.cells.items()}
        return sorted(lines, key=lambda line: places.get(line.entry.submission, math.inf))


def human_column(
    connection: Connection, access: CampaignAccess, test_set_id: int, memory: LeaderboardCache
) -> HumanColumn | None:
    """Return the official ranking of a test set by people; None where there is none."""
    official = read_official(connection, access, test_set_id, memory)
    if official is None:
        return None
    places = places_of_submissions(connection, access, test_set_id, official)
    cells, axis = human_cells(list(places.values()))
    return HumanColumn(official, dict(zip(places, cells, strict=True)), axis)


def human_cells(places: Sequence[HumanPlace]) -> tuple[list[HumanCell], Ends | None]:
    """Return human scores with their intervals on an axis that all share, and its ends."""
    intervals = [each.interval for each in places if each.interval]
    axis = (
        min((each.low for each in intervals), default=0.0),
        max((each.high for each in intervals), default=0.0),
    )
    scale = 1.0 if all(abs(each.score) <= SMALL for each in places) else 100.0
    cells = []
    for place in places:
        interval = (place.interval.low, place.interval.high) if place.interval else None
        cells.append(HumanCell(drawn(place.score, interval, scale, axis), place))
    shown = digits(scale) if scale > 1 else 2
    return cells, (TYPESET.number(axis[0], shown), TYPESET.number(axis[1], shown)) if intervals else None
