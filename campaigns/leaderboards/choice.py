"""Selects a leaderboard of a campaign by test set, references and metric, as URLs name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.leaderboard.board import position_of_metric
from campaigns.errors import Forbidden, NotFound
from models.corpus.phases import TAKING
from models.corpus.test_sets import match_test_set, titled_test_set
from models.results.boards import BoardSummary, list_boards, superseded_boards

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess, CampaignTestSetView

MAX_LISTED = 20
"""Names that an error lists."""


@dataclass(frozen=True, slots=True)
class BoardChoice:
    """A visible leaderboard."""

    listed: BoardSummary
    replaced: bool
    """Whether its test set was replaced by one with corrected references."""
    superseded: bool
    """Whether a newer leaderboard has all its metrics."""
    behind: bool = False
    """Whether another one of its test set and references comes before it, so that only its number finds it."""

    @property
    def id(self) -> int:
        """The id of its test set."""
        return self.listed.test_set_id

    @property
    def name(self) -> str:
        """The name of its test set."""
        return self.listed.test_set

    @property
    def version(self) -> str:
        """The version of its test set."""
        return self.listed.version

    @property
    def test_set(self) -> str:
        """Name of the test set, with its version if that is not the first."""
        return titled_test_set(self.listed.test_set, self.listed.version)

    @property
    def test_set_key(self) -> str:
        """The test set in a URL."""
        return f"{self.listed.test_set}@{self.listed.version}"

    @property
    def references(self) -> str:
        """Labels, as in a URL."""
        return ",".join(self.listed.references)


def current_test_sets(access: CampaignAccess) -> list[int]:
    """Return the visible test sets that no correction has replaced, the one that counts in the end first.

    That is the one of the latest phase that has begun. A test set of all phases counts as one of the latest phase that
    takes submissions; equal ones are in the campaign's order.
    """
    begun = {each.id: each.starts_at for each in access.phases if each.starts_at <= access.at}
    taking = [each.starts_at for each in access.phases if each.id in begun and each.kind in TAKING]
    current = [each for each in access.test_sets.values() if each.replaced_by is None and access.sees_source(each.id)]

    def since(test_set: CampaignTestSetView) -> float:
        return max(taking, default=0.0) if test_set.phase_id is None else begun.get(test_set.phase_id, 0.0)

    return [each.id for each in sorted(current, key=since, reverse=True)]


def require_board(access: CampaignAccess) -> None:
    """Raise Forbidden if the leaderboard is not visible."""
    if not access.sees_board:
        raise Forbidden(
            "The leaderboard of this campaign is hidden in this phase. Teams see the feedback on their own "
            "scores on the pages of their submissions."
        )


def read_choices(connection: Connection, access: CampaignAccess) -> list[BoardChoice]:
    """Return all visible leaderboards of a campaign, in the order of `current_test_sets`; superseded, replaced last."""
    listed = list_boards(connection, campaign_id=access.campaign_id, planned=True)
    superseded = superseded_boards(connection, listed)
    in_order = list(dict.fromkeys([*current_test_sets(access), *access.test_sets]))
    order = {each: place for place, each in enumerate(in_order)}
    found = []
    for each in listed:
        seen = access.test_sets.get(each.test_set_id)
        # Before its phase has begun, nobody may know that there is a test set.
        if access.sees_source(each.test_set_id):
            replaced = seen is not None and seen.replaced_by is not None
            found.append(BoardChoice(each, replaced, each in superseded))
    found.sort(
        key=lambda each: (
            *(each.superseded, each.replaced, order.get(each.listed.test_set_id, len(order)), each.listed.test_set_id),
            *(-len(each.listed.references), -each.listed.protocol_id),
        )
    )
    named: set[tuple[int, tuple[str, ...]]] = set()
    for place, choice in enumerate(found):
        key = choice.id, tuple(sorted(choice.listed.references))
        if key in named:
            found[place] = replace(choice, behind=True)
        named.add(key)
    return found


def find_choice(
    choices: Sequence[BoardChoice], test_set: str = "", references: str = "", board: int | None = None
) -> BoardChoice:
    """Return the first leaderboard of that test set (`match_test_set`) against those references, in any order.

    `board` is the id of one that is not the newest of its kind.

    Raises
    ------
    NotFound
        If it does not exist; the message lists the existing ones.
    """
    if not choices:
        raise NotFound("This campaign has no leaderboard yet: it has no test set with references and metrics.")
    labels = sorted(each for each in references.split(",") if each)
    meant = match_test_set(choices, test_set) if test_set else None
    for each in choices if meant or not test_set else ():
        if (
            (meant is None or each.id == meant.id)
            and (not labels or sorted(each.listed.references) == labels)
            and board in {None, each.listed.protocol_id}
        ):
            return each
    known = "; ".join(f"{each.test_set} against {', '.join(each.listed.references)}" for each in choices[:MAX_LISTED])
    raise NotFound(f"This campaign has no such leaderboard. There are: {known}.")


def find_metric(listed: BoardSummary, wanted: str, ranked_by: str) -> int:
    """Return the position of a metric by specification, title or name; by default the ranking one.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    if not wanted:
        ranking = position_of_metric(listed.metrics, ranked_by) if ranked_by else 0
        return 0 if ranking is None else ranking
    position = position_of_metric(listed.metrics, wanted)
    if position is None:
        raise NotFound(f"This leaderboard has no metric {wanted[:200]!r}. There are: {', '.join(listed.metrics)}.")
    return position
