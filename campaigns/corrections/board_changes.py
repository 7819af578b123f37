"""What a correction changed on a leaderboard: scores and ranks since the version of the test set that it replaced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from campaigns.corrections.comparison import ranks_before_and_after

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from campaigns.leaderboards.choice import BoardChoice
    from campaigns.leaderboards.snapshot import BoardEntry
    from campaigns.leaderboards.view import BoardView
    from campaigns.permissions import CampaignAccess


@dataclass(frozen=True, slots=True)
class BoardChange:
    """How a system's score by the ranking metric and its rank changed."""

    difference: float
    """New score minus old one."""
    risen: int | None
    """Ranks gained (positive) or lost among the systems on both leaderboards; None if it is not ranked."""


def previous_choice(access: CampaignAccess, choices: Sequence[BoardChoice], choice: BoardChoice) -> BoardChoice | None:
    """Return the visible leaderboard of the version that a test set replaced, against the same references."""
    for each in choices:
        seen = access.test_sets.get(each.id)
        if seen is not None and seen.replaced_by == choice.id and each.listed.references == choice.listed.references:
            return each
    return None


def board_changes(previous: BoardView, current: BoardView) -> Mapping[int, BoardChange]:
    """Return what changed for each system with a score on both leaderboards, by its submission on the current one.

    Both are ranked by the same metric.
    """
    before, after = _scored(previous), _scored(current)
    both = [key for key in after if key in before]
    metrics = previous.query.metric, current.query.metric
    old = {key: before[key].scores[metrics[0]].score for key in both}
    new = {key: after[key].scores[metrics[1]].score for key in both}
    among = [key for key in both if after[key].ranked]
    higher = all(after[key].scores[metrics[1]].higher_is_better for key in both)
    old_ranks, new_ranks = ranks_before_and_after(old, new, among, higher)
    changes = {}
    for key in both:
        old_score, new_score = old[key], new[key]
        if old_score is not None and new_score is not None:
            old_rank, new_rank = old_ranks.get(key), new_ranks.get(key)
            risen = None if old_rank is None or new_rank is None else old_rank - new_rank
            changes[after[key].submission] = BoardChange(new_score - old_score, risen)
    return changes


def _scored(view: BoardView) -> dict[tuple[str, str, int], BoardEntry]:
    """Return entries by team, system, and the index among the system's entries."""
    found: dict[tuple[str, str, int], BoardEntry] = {}
    for entry in sorted((line.entry for line in view.lines if line.entry.scores), key=lambda each: each.submission):
        index = sum(key[:2] == (entry.team, entry.system) for key in found) if entry.twice else 0
        found[entry.team, entry.system, index] = entry
    return found
