"""The two systems that tell most, for whoever names none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from campaigns.errors import NotFound
from campaigns.leaderboards.choice import find_choice, find_metric, read_choices
from campaigns.leaderboards.view import BoardQuery

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.leaderboards.view import Boards
    from campaigns.permissions import CampaignAccess


def best_pair(connection: Connection, boards: Boards, access: CampaignAccess, test_set: str) -> list[str]:
    """Return the best two visible systems of a leaderboard, or the best own one and the best other one.

    By the numbers of their submissions; none where there are not two, or the leaderboard is hidden.
    """
    if not access.sees_board:
        return []
    try:
        choice = find_choice(read_choices(connection, access), test_set)
    except NotFound:
        return []
    view = boards.view(connection, choice.listed, BoardQuery(find_metric(choice.listed, "", access.ranked_by)))
    entries = [line.entry for line in view.lines if line.entry.scores]
    seen = [each for each in entries if access.sees_output(each.team, each.kind, ranked=each.ranked)]
    own = [each for each in seen if each.team and each.team in access.own_teams]
    pair = [*own[:1], *(each for each in seen if each not in own[:1])][:2]
    return [str(each.submission) for each in pair] if len(pair) > 1 else []
