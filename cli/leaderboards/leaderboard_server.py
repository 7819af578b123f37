"""The leaderboards of a server that a command names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.commands.errors import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cli.commands import Options
    from steelyard_client import Client
    from steelyard_client.documents.leaderboards import LeaderboardSummary

LEVEL = 0.95
"""Of a server's intervals."""


def named_boards(client: Client, options: Options) -> Iterator[tuple[str, LeaderboardSummary]]:
    """The selected leaderboards, each with its campaign. Raises CommandError where there are none."""
    from steelyard_client import Forbidden

    every = [campaign.name for campaign in client.list_campaigns()]
    wanted = options.references.split(",") if options.references else None
    found, hidden = [], []
    for campaign in [options.name] if options.name in every else every:
        try:
            boards = list(client.list_leaderboards(campaign))
        except Forbidden:
            hidden.append(campaign)
            continue
        for each in boards:
            named = {None, campaign, each.test_set, f"{each.test_set}@{each.version}"}
            newest = not (each.superseded or each.replaced) or options.all
            if options.name in named and (wanted is None or wanted == [*each.references]) and newest:
                found.append((campaign, each))
    if not found:
        why = f" Not shown now: {', '.join(hidden)}." if hidden else ""
        raise CommandError(f"There is no such leaderboard.{why} Campaigns: {', '.join(every) or 'none'}.")
    yield from found
