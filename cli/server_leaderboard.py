"""`steelyard --server URL leaderboard`: the boards of a server, ranked as it ranks them."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cli.board_words import Line, Method, Range, Tests, as_table, ranking_notes, shown_score
from cli.columns import digits
from cli.errors import CommandError, UsageError
from cli.server import connected

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from web.client import BoardListed, BoardScore, BoardSystem, Client, Leaderboard

LEVEL = 0.95
"""Of a server's intervals."""
STILL_TESTING = "Pairs are still being tested; ask again in a moment for rank ranges and clusters."


def run(options: argparse.Namespace) -> int:
    """Ask, and print."""
    check_options(options)
    shown = "all" if options.all else "ranked"
    with connected(options) as client:
        found = list(named_boards(client, options))
        boards = [
            client.leaderboard(campaign, board=listed.board, metric=options.sort or "", shown=shown)
            for campaign, listed in found
        ]
        if options.format == "tsv":
            files = [
                client.leaderboard_file(campaign, "tsv", board=listed.board, metric=options.sort, shown=shown)
                for campaign, listed in found
            ]
            print(_joined(files), end="")
            return 0
    if options.format == "json":
        print(json.dumps([as_object(board) for board in boards], indent=1, ensure_ascii=False, allow_nan=False))
    else:
        print("\n".join(as_text(board, options.width) for board in boards), end="")
    return 0


def check_options(options: argparse.Namespace) -> None:
    """Raise UsageError where something is asked that a server does in one way only."""
    if options.level != LEVEL or options.interval != "percentile":
        raise UsageError("A server shows 95 % percentile intervals: --level and --interval are for a database.")
    if options.paired != "bootstrap" or options.correction != "none" or options.alpha != 0.05:
        raise UsageError(
            "A server ranks by the paired bootstrap at 0.05, not corrected: --paired, --correction and --alpha are "
            "for a database; `compare` takes the first two."
        )
    if options.all_submissions:
        raise UsageError("A server does not show submissions that were replaced: --all-submissions is for a database.")
    if options.power:
        raise UsageError("--power is for a database.")


def named_boards(client: Client, options: argparse.Namespace) -> Iterator[tuple[str, BoardListed]]:
    """The leaderboards that are meant, each with its campaign. Raises CommandError where there are none."""
    from web.client import Forbidden

    every = [campaign.name for campaign in client.campaigns()]
    wanted = options.references.split(",") if options.references else None
    found, hidden = [], []
    for campaign in [options.name] if options.name in every else every:
        try:
            boards = client.leaderboards(campaign)
        except Forbidden:
            hidden.append(campaign)
            continue
        for each in boards:
            named = {None, campaign, each.test_set, f"{each.test_set}@{each.version}"}
            newest = not (each.outgrown or each.replaced) or options.all
            if options.name in named and (wanted is None or wanted == [*each.references]) and newest:
                found.append((campaign, each))
    if not found:
        why = f" Not shown now: {', '.join(hidden)}." if hidden else ""
        raise CommandError(f"There is no such leaderboard.{why} Campaigns: {', '.join(every) or 'none'}.")
    yield from found


def as_text(board: Leaderboard, width: int) -> str:
    """As that of a database."""
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
    return as_table(title_of(board), titles, lines, method, notes)


def title_of(board: Leaderboard) -> str:
    """What was measured against what, as `analysis.board.Board.title` has it."""
    name = board.test_set if board.version == "1" else f"{board.test_set} (version {board.version})"
    name = name if board.campaign == board.test_set else f"{board.campaign}: {name}"
    return f"{name}, reference{'s' if len(board.references) > 1 else ''} {' + '.join(board.references)}"


def titles_of(board: Leaderboard) -> list[str]:
    """The metrics' names for people, an arrow where less is better."""
    for system in board.items:
        if system.scores:
            return [score.title + ("" if score.higher_is_better else " ↓") for score in system.scores]
    return list(board.metrics)


def as_object(board: Leaderboard) -> dict[str, Any]:
    """As JSON has that of a database, and what the server says beside it."""
    found = asdict(board)
    return {**{name: value for name, value in found.items() if name != "items"}, "systems": found["items"]}


def places_of(metric: str, width: int) -> int:
    """Digits after the point: NIST's scale has no end."""
    return digits(width, float("inf") if metric.partition(":")[0] == "nist" else 100.0)


def _range(score: BoardScore | None) -> Range | None:
    if score is None or score.rank_low is None or score.rank_high is None or score.cluster is None:
        return None
    return Range(score.rank_low, score.rank_high, score.cluster)


def _shown(score: BoardScore, width: int) -> str:
    ends = (score.interval.low, score.interval.high) if score.interval else None
    return shown_score(score.score, ends, places_of(score.metric, width))


def _remark(system: BoardSystem) -> str:
    from analysis.board import remark

    if not system.scores:
        return f"{system.state}: {system.reason}" if system.reason else system.state
    return remark(system.same_output_as or "", system.kind, ranked=system.ranked, late=system.late_seconds > 0)


def _joined(files: list[bytes]) -> str:
    """Tables with one header."""
    texts = [file.decode().splitlines(keepends=True) for file in files]
    return "".join([*texts[0], *(line for text in texts[1:] for line in text[1:])])
