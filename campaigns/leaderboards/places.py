"""Where a submission stands on leaderboards: the rank of its system by each metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.leaderboards.snapshot import read_board_versions
from models.results.boards import list_boards
from models.results.leaderboard import ranked as ranks_of
from steelyard_client.vocabulary import remark

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from campaigns.leaderboards.snapshot import BoardSnapshot, BoardVersion
    from campaigns.leaderboards.view import Boards
    from models.results.boards import BoardSummary

SUPERSEDED = "superseded on the leaderboard by a later submission of its system"
WITHDRAWN = "withdrawn"

PLACE_BYTES = 300
"""Approximate size of a submission's place."""


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """A submission on one leaderboard."""

    ranks: tuple[int | None, ...]
    """By each metric; None where it is not ranked."""
    ranked: tuple[int, ...]
    """How many systems each metric ranks."""
    remark: str
    """Why it is not ranked, or of what the rank is; "" where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class BoardPlaces:
    """All submissions on one leaderboard."""

    ranked: tuple[int, ...]
    """How many systems each metric ranks."""
    of: Mapping[int, BoardPlace]
    """By submission; without those that do not stand."""


def read_places(
    connection: Connection,
    boards: Boards,
    campaign_id: int,
    submission: int,
    protocols: Sequence[int],
    *,
    withdrawn: bool,
) -> dict[int, BoardPlace]:
    """The places of a submission, by protocol. Only for those who may see the leaderboards."""
    if not protocols:
        return {}
    found = {}
    for listed in list_boards(connection, protocols=protocols, campaign_id=campaign_id):
        places = _current_places(connection, boards, listed)
        missing = BoardPlace((None,) * len(places.ranked), places.ranked, WITHDRAWN if withdrawn else SUPERSEDED)
        found[listed.protocol_id] = places.of.get(submission, missing)
    return found


def _current_places(connection: Connection, boards: Boards, listed: BoardSummary) -> BoardPlaces:
    """Those of a leaderboard as it is now: kept, so that a submission needs no whole leaderboard."""
    version = read_board_versions(connection, listed.campaign_id, [listed.protocol_id])[listed.protocol_id]
    key = listed.campaign_id, listed.protocol_id
    known: tuple[BoardVersion, BoardSummary, BoardPlaces] | None = boards.places.get(key)
    if known is not None and known[:2] == (version, listed):
        return known[2]
    found = _places_on(boards.snapshot(connection, listed, version))
    boards.places.put(key, (version, listed, found), PLACE_BYTES * (len(found.of) + 1))
    return found


def _places_on(snapshot: BoardSnapshot) -> BoardPlaces:
    """The places of all submissions on a leaderboard."""
    by_metric = []
    for metric in range(len(snapshot.listed.metrics)):
        scores = {
            number: (score, each.scores.by[metric].higher_is_better)
            for number, each in enumerate(snapshot.entries)
            if each.ranked and each.scores and (score := each.scores.score(metric)) is not None
        }
        higher = all(better for _, better in scores.values())
        by_metric.append(ranks_of({number: score for number, (score, _) in scores.items()}, higher))
    ranked = tuple(map(len, by_metric))
    found: dict[int, BoardPlace] = {}
    for number, entry in enumerate(snapshot.entries):
        said = [remark("", entry.kind.value, ranked=entry.ranked, late=entry.late_seconds > 0)]
        if entry.ranked and entry.scores and len(entry.runs) > 1:
            said.append(f"the mean of {len(entry.runs)} runs has the rank")
        place = BoardPlace(tuple(ranks.get(number) for ranks in by_metric), ranked, ", ".join(filter(None, said)))
        found |= dict.fromkeys(entry.submissions, place)
    return BoardPlaces(ranked, found)
