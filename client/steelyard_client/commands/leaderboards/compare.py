"""`steelyard compare`: significance tests between the systems of leaderboards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import (
    format_option,
    interval_option,
    level_option,
    many,
    option,
    paired_test_options,
    width_option,
)
from steelyard.commands.parsing import Command, Value
from steelyard.commands.values import whole_number
from steelyard.text.wording import listed as summed_up
from steelyard_client.commands.backend import DATABASES, backend, finish_comparison
from steelyard_client.commands.leaderboards.chosen import BoardSelection, chosen_boards
from steelyard_client.commands.leaderboards.comparison import Compared, rendered
from steelyard_client.commands.leaderboards.leaderboard import board_options, check_trials
from steelyard_client.commands.leaderboards.power import scale_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client import Client
    from steelyard_client.documents.leaderboards.comparisons import ComparedSystem, ComparisonsResponse
    from steelyard_client.documents.leaderboards.leaderboards import (
        BoardSystem,
        LeaderboardResponse,
        LeaderboardSummary,
    )

ASK_AGAIN_SECONDS = 1.0
"""Between two requests, while a server draws more replicates."""


@dataclass(frozen=True)
class Rule:
    """What is tested, and how."""

    systems: Sequence[str]
    submissions: Sequence[int]
    baseline: str | None
    metrics: Sequence[str]
    by: str
    level: float
    interval: str
    test: str
    trials: int | None
    correction: str
    alpha: float
    every: bool


class NotFitting(Exception):
    """A leaderboard does not have what is to be compared."""


@click.command(
    "compare",
    cls=Command,
    help="Test the systems of a leaderboard in pairs, or all of them against a baseline, and show the differences. "
    "Tests are two-sided and follow the rule of the leaderboard unless other options are given. Only stored results "
    "are used: nothing is scored again.",
    example="steelyard compare wmt24 --baseline online-A -m bleu --correction holm",
)
@board_options()
@level_option()
@interval_option()
@many("--systems", metavar="SYSTEM...", help="only these systems (default: all that are ranked)")
@many(
    "--submissions",
    parse=whole_number,
    metavar="NUMBER...",
    help="only these submissions, each by itself, also those that were replaced; `leaderboard --all-submissions` shows "
    "their numbers; for organisers",
)
@option("--baseline", metavar="SYSTEM", help="test all others against this one (default: none, all pairs)")
@many("-m", "--metrics", metavar="METRIC...", help="only these metrics (default: all)")
@option("--by", default="", metavar="METRIC", help="metric to rank by (default: the first one)")
@paired_test_options("--test", "bootstrap", "none")
@format_option()
@option(
    "--report",
    type=Value(Path),
    metavar="FILE",
    help="write a page, too: differences, and the segments, documents and n-grams behind them; from a database",
)
@width_option(1, " in text and LaTeX")
@backend()
def compare(
    client: Client,
    name: str | None,
    references: str | None,
    resample: str | None,
    format: str,  # noqa: A002 - the option's name
    report: Path | None,
    width: int,
    **asked: object,
) -> int:
    """Print the tests of systems; the exit status."""
    rule = Rule(**asked)  # type: ignore[arg-type]
    if rule.systems and rule.submissions:
        raise UsageError("Give --systems or --submissions, not both.")
    check_trials(rule.test, rule.trials)
    here = DATABASES.get(client)
    if report is not None and (here is None or here.as_account):
        raise UsageError("--report is for a database, and shows everything in it: not for a --server, nor --as.")
    selection = BoardSelection(
        name,
        references.split(",") if references else None,
        every=rule.every or bool(rule.submissions),
        resample=resample,
    )
    compared = _compared(client, selection, rule)
    if report is not None and here is not None:
        here.write_report(report, compared, single=bool(rule.submissions), by=rule.by or next(iter(rule.metrics), ""))
    print(rendered(compared, format, width), end="", flush=True)
    if report is not None:
        note([f"the report is in {report}"])
    return 0


def _compared(client: Client, selection: BoardSelection, rule: Rule) -> list[Compared]:
    """The boards with at least two of the selected systems, and their tests. Raises CommandError where none has."""
    from steelyard_client import NotFound

    found: list[Compared] = []
    faults: dict[str, list[str]] = {}
    boards = list(chosen_boards(client, selection))
    if rule.submissions:
        # They may be of several campaigns, but a leaderboard is one.
        boards = list({listed.board: (campaign, listed) for campaign, listed in boards}.values())
    for campaign, listed in boards:
        named = rule.every or rule.submissions or rule.systems or rule.baseline not in (None, "none")
        try:
            board = client.read_leaderboard(
                campaign, board=listed.board, metric=rule.by, shown="all" if named else "ranked"
            )
            if not board.replicates and rule.test == "bootstrap":
                raise NotFitting("no replicates were stored (--confidence 0); choose --test randomization")
            found.append(_tested(client, campaign, board, rule))
        except (NotFound, NotFitting) as error:
            faults.setdefault(str(error).rstrip("."), []).append(_called(campaign, listed))
    if not found:
        said = " ".join(f"{'; '.join(titles)}: {fault}." for fault, titles in faults.items())
        raise CommandError(f"There is nothing to compare. {said}")
    return found


def _called(campaign: str, listed: LeaderboardSummary) -> str:
    from steelyard.text.wording import with_references

    name = listed.test_set if listed.version == "1" else f"{listed.test_set} (version {listed.version})"
    return with_references(name if campaign == listed.test_set else f"{campaign}: {name}", listed.references)


def _tested(client: Client, campaign: str, board: LeaderboardResponse, rule: Rule) -> Compared:
    """The tests on a leaderboard. Raises NotFound and NotFitting."""
    from steelyard_client import Forbidden, NotSignedIn

    baseline = None if rule.baseline in (None, "none") else rule.baseline
    if rule.submissions:
        try:
            return _of_systems(client, campaign, board, rule, baseline, rule.submissions, single=True)
        except (Forbidden, NotSignedIn):
            # Only organisers see submissions by themselves; others choose systems of the leaderboard by their numbers.
            pass
    chosen = [each.submission for each in _chosen(board, rule, baseline)]
    return _of_systems(client, campaign, board, rule, baseline, chosen, single=False)


def _of_systems(
    client: Client,
    campaign: str,
    board: LeaderboardResponse,
    rule: Rule,
    baseline: str | None,
    systems: Sequence[int],
    *,
    single: bool,
) -> Compared:
    if len(systems) < 2:
        raise NotFitting("there are fewer than two systems with scores")
    read = partial(
        client.read_comparisons, campaign, systems, board=board.board, metric=rule.metrics, by=rule.by, single=single,
        level=rule.level, interval=rule.interval, alpha=rule.alpha,
    )  # fmt: skip
    number = None
    if baseline is not None:
        named = read().systems if single else board.items
        # Of two submissions of one system, its name means the one that is ranked.
        number = {name: each.submission for each in sorted(named, key=_by_rank) for name in names_of(each)}.get(
            baseline
        )
        if number is None:
            raise NotFitting(f"there is no system {baseline} with scores")
    return _of_document(board, _all_made(client, campaign, systems, board.board, rule, number, read))


def _by_rank(system: BoardSystem | ComparedSystem) -> bool:
    return bool(system.scores) and system.ranked


def _all_made(
    client: Client,
    campaign: str,
    systems: Sequence[int],
    board: int,
    rule: Rule,
    baseline: int | None,
    read: partial[ComparisonsResponse],
) -> ComparisonsResponse:
    """The tests, when all of them are made."""
    from time import sleep

    read = partial(read, test=rule.test, correction=rule.correction, trials=rule.trials, baseline=baseline)
    while (made := read()).drawing:
        sleep(ASK_AGAIN_SECONDS)
    if rule.test == "randomization" and made.missing:
        asked = client.request_comparisons(
            campaign, systems, board=board, metric=rule.metrics, by=rule.by, single=read.keywords["single"],
            correction=rule.correction, trials=rule.trials, alpha=rule.alpha, baseline=baseline,
        )  # fmt: skip
        finish_comparison(client, asked, lambda comparison: read(comparison=comparison))
        made = read()
    return made


def _chosen(board: LeaderboardResponse, rule: Rule, baseline: str | None) -> list[BoardSystem]:
    """The named systems; without names all ranked ones (with --all all) and the baseline, ranked or not.

    Raises NotFitting.
    """
    scored = [system for system in board.items if system.scores]
    if rule.submissions:
        known_numbers = {number for system in scored for number in system.submissions}
        if strangers := [str(number) for number in rule.submissions if number not in known_numbers]:
            raise NotFitting(f"There is no submission {', '.join(strangers)} with scores")
        return [system for system in scored if set(system.submissions) & set(rule.submissions)]
    # Of two submissions of one system, its name means the one that is ranked.
    there = {name: each for each in sorted(scored, key=lambda each: each.ranked) for name in names_of(each)}
    wanted = list(dict.fromkeys([*rule.systems, *([baseline] if baseline else [])]))
    if missing := [name for name in wanted if name not in there]:
        known = summed_up(sorted(each.system or each.name for each in scored))
        raise NotFitting(f"there is no system {', '.join(missing)} with scores; there are {known}")
    named = {there[name].submission for name in wanted}
    others = not rule.systems
    return [each for each in scored if each.submission in named or (others and (each.ranked or rule.every))]


def names_of(system: BoardSystem | ComparedSystem) -> set[str]:
    """The names of a system that the command line accepts: its own, with its team, and as displayed."""
    names = {system.name}
    if system.system:
        names |= {system.system, f"{system.team}/{system.system}" if system.team else system.system}
    return names


def _of_document(board: LeaderboardResponse, made: ComparisonsResponse) -> Compared:
    """The tests in the form in which tables show them, as those of `score`."""
    from steelyard.resampling.paired import PairedResult
    from steelyard.tables.paired_tests import ComparedMetric, PairedTests

    place = {each.submission: number for number, each in enumerate(made.systems)}
    metrics = [
        ComparedMetric(each.metric, each.title, each.higher_is_better, scale_of(each))
        for each in made.systems[0].scores
    ]
    order = {metric.name: number for number, metric in enumerate(metrics)}
    results = [
        PairedResult(
            a=place[pair.a_submission],
            b=place[pair.b_submission],
            metric=order[pair.metric],
            difference=_number(pair.difference),
            p=_number(pair.p),
            p_corrected=_number(pair.p_corrected),
            interval=(pair.interval.low, pair.interval.high) if pair.interval else None,
        )
        for pair in made.pairs
    ]
    tests = PairedTests(
        results=results,
        systems=[each.name for each in made.systems],
        metrics=metrics,
        test=made.test,
        draws=made.trials,
        seed=board.seed,
        correction=made.correction,
        baseline=None if made.baseline is None else place[made.baseline],
        level=made.level,
        interval=made.interval,
        replicates=board.replicates,
        segments=board.segments,
        unit=made.resample,
        same_output={(place[pair.a_submission], place[pair.b_submission]) for pair in made.pairs if pair.same_output},
        alpha=made.alpha,
    )
    return Compared(made, tests, board.board)


def _number(value: float | None) -> float:
    return math.nan if value is None else value
