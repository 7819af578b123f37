"""`steelyard campaign correlate`: how well metrics agree with human judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import (
    correction_option,
    format_option,
    granularity_option,
    level_option,
    many,
    option,
    permutation_option,
    replicates_option,
    statistics_option,
    width_option,
)
from steelyard.commands.parsing import Command, Value
from steelyard_client.commands.backend import DATABASES, backend
from steelyard_client.commands.leaderboards.chosen import BoardSelection, chosen_boards
from steelyard_client.commands.progress import working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client import Client
    from steelyard_client.documents.leaderboards.correlations import CorrelationResponse
    from steelyard_client.documents.leaderboards.leaderboards import BoardSystem, LeaderboardSummary


@click.command(
    "correlate",
    cls=Command,
    help="Show how well the metrics of a leaderboard agree with human judgments of its systems: correlations and "
    "pairwise accuracy, by system and by segment, with bootstrap intervals, and tests of every metric against the best "
    "one. Nothing is scored again. Human translations among the systems are left out. A server computes other "
    "statistics, intervals and tests than the default for people with an account, on leaderboards of up to 60 systems. "
    "`steelyard correlate` does the same with files of scores.",
    example="steelyard campaign correlate wmt24 --granularity system --leave-out online-A",
)
@click.argument("name", required=False, metavar="[NAME]", help="only this test set, or this campaign")
@option("--references", metavar="A,B", help="only the leaderboard against exactly these references")
@option("--human", default="", metavar="NAME[@VERSION]", help="which human judgments (default: the newest)")
@granularity_option()
@statistics_option()
@many("-m", "--metrics", metavar="METRIC...", help="only these metrics of the leaderboard")
@many(
    "--leave-out",
    metavar="SYSTEM...",
    help="leave out these systems, such as those whose output is a reference: one such outlier makes every correlation "
    "close to 1",
)
@replicates_option("those of the leaderboard, or 1,000")
@level_option()
@option("--baseline", default="", metavar="METRIC", help="test the others against this metric, not the best one")
@permutation_option()
@correction_option("holm")
@format_option()
@width_option(3, " in all formats for people")
@option(
    "--plot",
    type=Value(Path),
    metavar="FILE.svg",
    help="plot the systems by the best metric and by human score; needs a database",
)
@option(
    "--report",
    type=Value(Path),
    metavar="FILE.html",
    help="write everything as one HTML page with scatter plots; needs a database",
)
@backend()
def correlate(
    client: Client,
    *,
    name: str | None,
    references: str | None,
    human: str,
    granularity: str,
    statistics: Sequence[str],
    metrics: Sequence[str],
    leave_out: Sequence[str],
    format: str,  # noqa: A002 - the option's name
    width: int,
    plot: Path | None,
    report: Path | None,
    **rule: Any,
) -> int:
    """Print the correlations of every judged leaderboard; the exit status."""
    from steelyard.meta_evaluation.correlation import LEVELS
    from steelyard.meta_evaluation.statistics import chosen_statistics
    from steelyard_client import NotFound
    from steelyard_client.commands.leaderboards.correlations import rendered

    # Unknown names are a matter of usage, found before anything is asked for.
    chosen_statistics(statistics, LEVELS if granularity == "both" else (granularity,))
    here = DATABASES.get(client)
    if here is None and (plot or report):
        raise UsageError("--plot and --report need a --database.")
    selection = BoardSelection(name, references.split(",") if references else None)
    boards = list(chosen_boards(client, selection))
    without = _left_out(client, boards, leave_out)
    found: list[CorrelationResponse] = []
    asked, missing = [], None
    # Some formats can be printed at once, because the next leaderboard may take a while.
    at_once = format in ("text", "markdown", "latex")
    for campaign, board in boards:
        wanted = {
            "test_set": f"{board.test_set}@{board.version}", "board": board.board, "human": human,
            "without": without[board.board], "metric": metrics, "granularity": granularity, "statistic": statistics,
            **rule,
        }  # fmt: skip
        try:
            with working(f"comparing metrics with people: {board.test_set} ({','.join(board.references)})"):
                tables = _read(client, campaign, wanted)
        except NotFound as error:
            missing = missing or error
            continue
        if at_once and tables:
            print(("\n" if found else "") + rendered(tables, format, width), end="", flush=True)
        found += tables
        asked.append((campaign, wanted))
    if not found:
        raise missing or CommandError("Nothing can be compared: there are no human judgments of systems with scores.")
    if not at_once:
        print(rendered(found, format, width), end="")
    if here is not None and (plot or report):
        here.write_correlations(asked, plot=plot, report=report, width=width)
    return 0


def _read(client: Client, campaign: str, wanted: dict[str, Any]) -> list[CorrelationResponse]:
    """The tables of a leaderboard, and notices about systems whose output is a reference."""
    rule = dict(wanted)
    # What everybody gets by default is not asked for, so that everybody may.
    for option_name, usual in (("level", 0.95), ("correction", "holm"), ("granularity", "both")):
        if rule[option_name] == usual:
            del rule[option_name]
    tables = client.read_correlations(campaign, **rule).tables
    equal = {each.system: each.reference for table in tables for each in table.reference_outputs}
    note(
        f"{system}: the output is reference {reference}, which makes correlations too high; "
        f"--leave-out {system} leaves it out."
        for system, reference in equal.items()
    )
    return tables


def _left_out(
    client: Client, boards: Sequence[tuple[str, LeaderboardSummary]], names: Sequence[str]
) -> dict[int, list[int]]:
    """The submissions of each leaderboard that names leave out. Raises UsageError for one that is on none of them."""
    if not names:
        return {board.board: [] for _, board in boards}
    systems = {
        board.board: client.read_leaderboard(campaign, board=board.board, shown="all").items
        for campaign, board in boards
    }
    everybody = [system for items in systems.values() for system in items]
    for name in names:
        if not any(name in _names(system) for system in everybody):
            there = ", ".join(sorted({system.name for system in everybody}))
            raise UsageError(f'--leave-out: there is no system "{name}". There are: {there}.')
    return {
        board: [system.submission for system in items if _names(system) & set(names)]
        for board, items in systems.items()
    }


def _names(system: BoardSystem) -> set[str]:
    """What a system may be called."""
    return {system.name, system.system or system.name, f"{system.team}/{system.system}"}
