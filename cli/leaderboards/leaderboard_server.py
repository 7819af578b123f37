"""`steelyard --server URL leaderboard`: the leaderboards of a server, with its ranking."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from cli.leaderboards.board_text import Line, Method, Range, Tests, ranking_notes
from cli.leaderboards.board_text import table_of as table_for_people
from cli.server import connected, refuse_local
from steelyard.commands.errors import CommandError
from steelyard.commands.values import ALPHA
from steelyard.tables.formatting import PLAIN, digits
from steelyard.tables.rendering import as_json, render

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from steelyard.tables.table import Table
    from steelyard_client import Client
    from steelyard_client.documents.leaderboards import BoardScore, BoardSystem, LeaderboardResponse, LeaderboardSummary
    from steelyard_client.documents.submissions import ScoreResponse

LEVEL = 0.95
"""Of a server's intervals."""
RULE = {"level": LEVEL, "interval": "percentile", "alpha": ALPHA, "trials": None}
"""Options that are fixed on a server, with their values."""
STILL_TESTING = "Pairs are still being tested; ask again in a moment for rank ranges and clusters."


def run(options: argparse.Namespace) -> int:
    """Request the data from the server and print it; the exit status."""
    refuse_local(options, **RULE, paired="bootstrap", correction="none", all_submissions=False, power=False)
    shown = "all" if options.all else "ranked"
    with connected(options) as client:
        found = list(named_boards(client, options))
        boards = [
            client.read_leaderboard(campaign, board=listed.board, metric=options.sort or "", shown=shown)
            for campaign, listed in found
        ]
        if options.format in ("tsv", "csv"):
            files = [
                client.download_leaderboard(
                    campaign, options.format, board=listed.board, metric=options.sort or "", shown=shown
                )
                for campaign, listed in found
            ]
            print(_joined(files), end="")
            return 0
    if options.format == "json":
        print(as_json([as_object(board) for board in boards]), end="")
    else:
        print(render([table_of(board, options.width) for board in boards], options.format, "Leaderboard"), end="")
    return 0


def named_boards(client: Client, options: argparse.Namespace) -> Iterator[tuple[str, LeaderboardSummary]]:
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


def table_of(board: LeaderboardResponse, width: int) -> Table:
    """The table for people, as that of a database."""
    titles = titles_of(board)
    position = board.metrics.index(board.sorted_by)
    lines = []
    for system in board.items:
        score = system.scores[position] if system.scores else None
        lines.append(
            Line(
                rank=score.rank if score else None,
                range=_range(score),
                name=system.name,
                scores=[_shown(score, width) for score in system.scores],
                remark=_remark(system),
            )
        )
    ranking = board.ranking
    notes = ranking_notes(
        Tests(ranking.test, ranking.draws, ranking.alpha, ranking.correction),
        ranges=any(line.range for line in lines),
        fault=ranking.fault or "",
        not_ranked=board.not_ranked,
    )
    if ranking.testing:
        notes.append(STILL_TESTING)
    notes += board.notices
    method = Method(titles[position], board.replicates, LEVEL, "percentile", board.seed)
    return table_for_people(title_of(board), titles, lines, method, notes)


def title_of(board: LeaderboardResponse) -> str:
    """What was measured against what, as `analysis.leaderboard.board.Board.title` has it."""
    name = board.test_set if board.version == "1" else f"{board.test_set} (version {board.version})"
    name = name if board.campaign == board.test_set else f"{board.campaign}: {name}"
    return f"{name}, reference{'s' if len(board.references) > 1 else ''} {' + '.join(board.references)}"


def titles_of(board: LeaderboardResponse) -> list[str]:
    """The metrics' display names, with an arrow where lower is better."""
    for system in board.items:
        if system.scores:
            return [score.title + ("" if score.higher_is_better else " ↓") for score in system.scores]
    return list(board.metrics)


def as_object(board: LeaderboardResponse) -> dict[str, Any]:
    """The object for JSON: the fields of a database's leaderboard, and those that only a server has."""
    found = board.model_dump(mode="json")
    return {**{name: value for name, value in found.items() if name != "items"}, "systems": found["items"]}


def scale_of(score: BoardScore | ScoreResponse) -> float:
    """The score of a perfect output; infinite where the metric has no upper end, which JSON sends as null."""
    return math.inf if score.scale is None else score.scale


def _range(score: BoardScore | None) -> Range | None:
    if score is None or score.rank_low is None or score.rank_high is None or score.cluster is None:
        return None
    return Range(score.rank_low, score.rank_high, score.cluster)


def _shown(score: BoardScore, width: int) -> str:
    ends = (score.interval.low, score.interval.high) if score.interval else None
    return PLAIN.estimate(score.score, ends, digits(scale_of(score), width))


def _remark(system: BoardSystem) -> str:
    from analysis.leaderboard.board import remark

    if not system.scores:
        return f"{system.state}: {system.reason}" if system.reason else system.state
    return remark(system.same_output_as or "", system.kind, ranked=system.ranked, late=system.late_seconds > 0)


def _joined(files: list[bytes]) -> str:
    """Tables with one header."""
    texts = [file.decode().splitlines(keepends=True) for file in files]
    return "".join([*texts[0], *(line for text in texts[1:] for line in text[1:])])
