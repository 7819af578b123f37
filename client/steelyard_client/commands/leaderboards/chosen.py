"""Which leaderboards a command is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError
from steelyard.commands.notices import note
from steelyard.text.wording import of_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard_client import Client
    from steelyard_client.documents.leaderboards.leaderboards import LeaderboardSummary


@dataclass(frozen=True)
class BoardSelection:
    """What leaderboards are wanted."""

    name: str | None = None
    """Of a campaign or a test set; None for all."""
    references: Sequence[str] | None = None
    """Exactly these, in any order; None for any."""
    every: bool = False
    """Whether those that newer ones supersede are wanted, too."""
    resample: str | None = None
    """Only those that draw "segment" or "document"; None for any."""


def chosen_boards(client: Client, selection: BoardSelection) -> Iterator[tuple[str, LeaderboardSummary]]:
    """The selected leaderboards, each with its campaign. Raises CommandError where there are none."""
    from steelyard_client import Forbidden

    # The oldest first, as everything else that a command lists of several campaigns.
    campaigns = [campaign.name for campaign in client.list_campaigns()][::-1]
    found, older, hidden, there = [], 0, [], []
    for campaign in [selection.name] if selection.name in campaigns else campaigns:
        try:
            listed = sorted(client.list_leaderboards(campaign), key=lambda each: each.board)
        except Forbidden:
            hidden.append(campaign)
            continue
        boards = [each for each in listed if selection.resample in (None, each.resample)]
        there += [
            f"{_called(campaign, each)} ({','.join(each.references)}{of_documents(each.resample)})" for each in listed
        ]
        for each in boards:
            named = {None, campaign, each.test_set, f"{each.test_set}@{each.version}"}
            others = selection.references is not None and sorted(selection.references) != sorted(each.references)
            if selection.name not in named or others:
                continue
            # Where one kind is asked for, only one of that kind replaces another.
            superseded = each.superseded and (selection.resample is None or _replaced(each, boards))
            if superseded and not selection.every:
                older += 1
            else:
                found.append((campaign, each))
    if not found:
        why = f" Not shown now: {', '.join(hidden)}." if hidden else ""
        known = f"There are: {'; '.join(sorted(set(there)))}." if there else "Nothing was evaluated here yet."
        raise CommandError(f"There is no such leaderboard.{why} {known}")
    if older:
        are = "1 older leaderboard is" if older == 1 else f"{older} older leaderboards are"
        note([f"{are} not shown, because newer ones contain all their results; --all shows them."])
    yield from found


def _replaced(board: LeaderboardSummary, boards: Sequence[LeaderboardSummary]) -> bool:
    return any(
        each.board > board.board
        and (each.test_set, each.version, each.references) == (board.test_set, board.version, board.references)
        and set(board.metrics) <= set(each.metrics)
        for each in boards
    )


def _called(campaign: str, board: LeaderboardSummary) -> str:
    name = board.test_set if board.version == "1" else f"{board.test_set} (version {board.version})"
    return name if campaign == board.test_set else f"{campaign}: {name}"
