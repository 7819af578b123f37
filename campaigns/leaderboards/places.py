"""Where a submission stands on leaderboards: the rank of its system by each metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.results.boards import list_boards
from models.results.leaderboard import ranked as ranks_of
from steelyard_client.vocabulary import remark

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from campaigns.leaderboards.snapshot import BoardSnapshot
    from campaigns.leaderboards.view import Boards

SUPERSEDED = "superseded on the leaderboard by a later submission of its system"
WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """A submission on one leaderboard."""

    ranks: Sequence[int | None]
    """By each metric; None where it is not ranked."""
    ranked: Sequence[int]
    """How many systems each metric ranks."""
    remark: str
    """Why it is not ranked, or of what the rank is; "" where there is nothing to say."""


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
    listed = list_boards(connection, protocols=protocols, campaign_id=campaign_id)
    missing = WITHDRAWN if withdrawn else SUPERSEDED
    return {each.protocol_id: _place(boards.snapshot(connection, each), submission, missing) for each in listed}


def _place(snapshot: BoardSnapshot, submission: int, missing: str) -> BoardPlace:
    own = next((each for each in snapshot.entries if submission in each.submissions), None)
    ranks: list[int | None] = []
    ranked = []
    for metric in range(len(snapshot.listed.metrics)):
        scores = {
            number: (score.score, score.higher_is_better)
            for number, each in enumerate(snapshot.entries)
            if each.ranked and each.scores and (score := each.scores[metric]).score is not None
        }
        higher = all(better for _, better in scores.values())
        places = ranks_of({number: score for number, (score, _) in scores.items() if score is not None}, higher)
        found = {snapshot.entries[number].submission: place for number, place in places.items()}
        ranks.append(None if own is None else found.get(own.submission))
        ranked.append(len(places))
    if own is None:
        return BoardPlace(ranks, ranked, missing)
    said = [remark("", own.kind.value, ranked=own.ranked, late=own.late_seconds > 0)]
    if own.ranked and own.scores and len(own.runs) > 1:
        said.append(f"the mean of {len(own.runs)} runs has the rank")
    return BoardPlace(ranks, ranked, ", ".join(filter(None, said)))
