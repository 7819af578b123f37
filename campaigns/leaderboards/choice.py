"""Which board of a campaign is meant: by test set, references and metric, as addresses name them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.leaderboard.board import position_of_metric
from campaigns.errors import Forbidden, NotThere
from models.corpus.test_sets import first_called
from models.results.boards import ListedBoard, list_boards, outgrown_boards

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import Sight

MOST_NAMED = 20
"""Names that an error lists."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A board that somebody may look at."""

    listed: ListedBoard
    replaced: bool
    """Whether its test set has been replaced by one with corrected references."""
    outgrown: bool
    """Whether a newer board says everything of it."""

    @property
    def id(self) -> int:
        """Of its test set."""
        return self.listed.test_set_id

    @property
    def name(self) -> str:
        """Of its test set."""
        return self.listed.test_set

    @property
    def version(self) -> str:
        """Of its test set."""
        return self.listed.version

    @property
    def test_set(self) -> str:
        """Name of the test set, with its version where that is not the first."""
        listed = self.listed
        return listed.test_set if listed.version == "1" else f"{listed.test_set} (version {listed.version})"

    @property
    def test_set_key(self) -> str:
        """Names it in an address."""
        return f"{self.listed.test_set}@{self.listed.version}"

    @property
    def references(self) -> str:
        """Labels, as an address names them."""
        return ",".join(self.listed.references)


def require_board(sight: Sight) -> None:
    """Raise Forbidden where the board is not shown to whoever has this sight."""
    if not sight.sees_board:
        raise Forbidden(
            "The leaderboard of this campaign is not shown in this phase. Teams see what they are told of their own "
            "scores on the pages of their submissions."
        )


def read_choices(connection: Connection, sight: Sight) -> list[Choice]:
    """All boards of a campaign that somebody may know of: test sets in their order, what was replaced last."""
    listed = list_boards(connection, campaign_id=sight.campaign_id, planned=True)
    outgrown = outgrown_boards(connection, listed)
    order = {test_set: place for place, test_set in enumerate(sight.test_sets)}
    found = []
    for each in listed:
        seen = sight.test_sets.get(each.test_set_id)
        # Before its phase has begun, nobody may know that there is a test set.
        if sight.sees_source(each.test_set_id):
            replaced = seen is not None and seen.replaced_by is not None
            found.append(Choice(each, replaced, each in outgrown))
    return sorted(
        found,
        key=lambda each: (
            *(each.outgrown, each.replaced, order.get(each.listed.test_set_id, len(order)), each.listed.test_set_id),
            *(-len(each.listed.references), -each.listed.protocol_id),
        ),
    )


def find_choice(
    choices: Sequence[Choice], test_set: str = "", references: str = "", board: int | None = None
) -> Choice:
    """The first board of the test set that is called so (`first_called`), against those references, in any order.

    `board` is the number of one that is not the newest of its kind. Raises NotThere with what there is.
    """
    if not choices:
        raise NotThere("This campaign measures nothing yet: it has no test set with references and metrics.")
    labels = sorted(each for each in references.split(",") if each)
    meant = first_called(choices, test_set) if test_set else None
    for each in choices if meant or not test_set else ():
        if (
            (meant is None or each.id == meant.id)
            and (not labels or sorted(each.listed.references) == labels)
            and board in {None, each.listed.protocol_id}
        ):
            return each
    known = "; ".join(f"{each.test_set} against {', '.join(each.listed.references)}" for each in choices[:MOST_NAMED])
    raise NotThere(f"This campaign has no such leaderboard. There are: {known}.")


def find_metric(listed: ListedBoard, wanted: str, ranked_by: str) -> int:
    """The position of the metric of that specification, title or name; else the one that ranks. Raises NotThere."""
    if not wanted:
        ranking = position_of_metric(listed.metrics, ranked_by) if ranked_by else 0
        return 0 if ranking is None else ranking
    position = position_of_metric(listed.metrics, wanted)
    if position is None:
        raise NotThere(f"This leaderboard has no metric {wanted[:200]!r}. There are: {', '.join(listed.metrics)}.")
    return position
