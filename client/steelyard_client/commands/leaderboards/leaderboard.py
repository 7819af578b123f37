"""`steelyard leaderboard`: ranked systems of campaigns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import (
    format_option,
    interval_option,
    level_option,
    option,
    paired_test_options,
    resampled_option,
    together,
    width_option,
)
from steelyard.commands.parsing import Command
from steelyard_client.commands.backend import backend, finish_comparison
from steelyard_client.commands.leaderboards.breakdown import rendered as groups_rendered
from steelyard_client.commands.leaderboards.chosen import BoardSelection, chosen_boards
from steelyard_client.commands.leaderboards.tables import rendered
from steelyard_client.vocabulary import Average, Grouping

if TYPE_CHECKING:
    from steelyard.commands.options import Decorator
    from steelyard_client import Client
    from steelyard_client.documents.leaderboards.leaderboards import LeaderboardResponse, LeaderboardSummary


def board_options() -> Decorator:
    """NAME, --references, --all, --resample: which leaderboards."""
    return together(
        click.argument("name", required=False, metavar="[NAME]", help="only this test set, or this campaign"),
        option("--references", metavar="A,B", help="only the leaderboard against exactly these references"),
        option(
            "--all",
            "every",
            is_flag=True,
            help="everything, including unranked systems and leaderboards superseded by newer ones",
        ),
        resampled_option(),
    )


@dataclass(frozen=True)
class Rule:
    """How intervals, ranges and clusters are computed."""

    level: float
    interval: str
    test: str
    trials: int | None
    correction: str
    alpha: float
    all_submissions: bool
    power: bool


@click.command(
    "leaderboard",
    cls=Command,
    help="Rank the systems of every test set: for each team its primary submission, or else its last one; with rank "
    "ranges and clusters by WMT's rule on paired tests of all pairs. Only stored results are used: nothing is scored "
    "again. A server computes other levels, intervals, tests and corrections than the default for people with an "
    "account, on leaderboards of up to 60 systems (randomization tests of up to 20).",
    example="steelyard leaderboard wmt24 --by chrf -f markdown",
)
@board_options()
@level_option()
@interval_option()
@option("--by", default="", metavar="METRIC", help="metric to rank by (default: that of the campaign)")
@paired_test_options("--test", "bootstrap", "none")
@option("--all-submissions", is_flag=True, help="also show replaced submissions, each with its number; for organisers")
@option(
    "--group-by",
    type=click.Choice([each.value for each in Grouping]),
    help="show the scores on each document, domain or length of segments, by the metric of --by, instead of intervals "
    "and clusters",
)
@option(
    "--average",
    type=click.Choice([each.value for each in Average]),
    help="what ranks with --group-by: micro, the whole test set (default); macro, the plain mean of all groups, as "
    "WMT24 ranks",
)
@option("--power", is_flag=True, help="also show which differences the test set is large enough to detect")
@format_option()
@width_option(1, " in all formats for people")
@backend()
def leaderboard(
    client: Client,
    name: str | None,
    references: str | None,
    every: bool,
    resample: str | None,
    by: str,
    group_by: str | None,
    average: str | None,
    format: str,  # noqa: A002 - the option's name
    width: int,
    **rule: Any,
) -> int:
    """Print leaderboards."""
    from steelyard_client import NotFound

    if rule["power"] and format in ("csv", "tsv"):
        raise UsageError(f"--power has no {format}. Choose -f json, or text.")
    check_trials(rule["test"], rule["trials"])
    every = every or rule["all_submissions"]
    if average and not group_by:
        raise UsageError("--average goes with --group-by document or domain.")
    selection = BoardSelection(name, references.split(",") if references else None, every=every, resample=resample)
    if group_by:
        grouped = [
            client.read_campaign_breakdown(
                campaign, board=listed.board, metric=by, shown="all" if every else "ranked", by=group_by,
                average=average or Average.MICRO,
            )
            for campaign, listed in chosen_boards(client, selection)
        ]  # fmt: skip
        print(groups_rendered(grouped, format), end="")
        return 0
    data = format in ("json", "csv", "tsv")
    boards, metrics = [], set[str]()
    for campaign, listed in chosen_boards(client, selection):
        metrics.update(listed.metrics)
        try:
            boards.append(read_ranked(client, campaign, listed, Rule(**rule), by=by, every=every, all_ranks=data))
        except NotFound:
            # Of several leaderboards, those without the metric are left out.
            if not by:
                raise
    if not boards:
        raise CommandError(f'There is no metric "{by}" to sort by. There are: {", ".join(sorted(metrics))}.')
    print(rendered(boards, format, width), end="")
    return 0


def check_trials(test: str, trials: int | None) -> None:
    """Raise UsageError where --trials does not fit the test."""
    if trials == 0:
        raise UsageError("--trials 0: a test needs at least one trial.")
    if trials is not None and test == "bootstrap":
        raise UsageError("--trials goes with --test randomization; the bootstrap's replicates are set by `evaluate`.")


def read_ranked(
    client: Client, campaign: str, listed: LeaderboardSummary, rule: Rule, *, by: str, every: bool, all_ranks: bool
) -> LeaderboardResponse:
    """A leaderboard; randomization tests that are not computed yet are asked for and waited for."""
    read = partial(
        client.read_leaderboard, campaign, board=listed.board, metric=by, shown="all" if every else "ranked",
        all_ranks=all_ranks, **vars(rule),
    )  # fmt: skip
    found = read()
    if rule.test == "randomization" and found.ranking.testing:
        ranked = [each.submission for each in found.items if each.ranked and each.scores]
        asked = client.request_comparisons(
            campaign, ranked, board=listed.board, correction=rule.correction, trials=found.ranking.draws
        )
        finish_comparison(
            client,
            asked,
            lambda comparison: client.read_comparisons(
                campaign, ranked, board=listed.board, test="randomization", trials=asked.trials, comparison=comparison
            ),
        )
        found = read()
    return found
