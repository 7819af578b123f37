"""`steelyard compare`: significance tests between stored systems."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.decorators import board_options, by_option, check_trials, test_options
from cli.leaderboards.pair_tests import compute_missing_tests, pairs_of, ranked, trials_of, with_draws
from cli.server import on_server
from cli.stored import find_boards, read_boards, read_settings, require_schema
from cli.terminal.writing import write_file
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.commands.options import format_option, many, option, width_option
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number
from steelyard_client.commands.backend import account_option, database_option, server_option

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Engine

    from analysis.leaderboard.board import Board
    from cli.leaderboards.comparison import Compared
    from models.results.boards import BoardSummary
    from steelyard.tables.paired_tests import PairedTests


@click.command(
    "compare",
    cls=ServerCommand,
    help="Test systems in pairs, all of a leaderboard or all against a baseline, two-sided, by the rule of the "
    "leaderboard unless other options are given, and show the differences. Only stored results are used: nothing is "
    "scored again.",
    example="steelyard compare wmt24 --baseline online-A -m bleu --correction holm",
)
@board_options()
@many("--systems", metavar="SYSTEM...", help="only these systems (default: all that are ranked)")
@many(
    "--submissions",
    parse=whole_number,
    metavar="NUMBER...",
    help="only these submissions, each by itself, also those that were replaced; `leaderboard --all-submissions` shows "
    "their numbers",
)
@option("--baseline", metavar="SYSTEM", help="test all others against this one (default: none, all pairs)")
@many("-m", "--metrics", metavar="METRIC...", help="only these metrics (default: all)")
@by_option()
@test_options()
@format_option()
@option(
    "--report",
    type=Value(Path),
    metavar="FILE",
    help="write a page, too: differences, and the segments, documents and n-grams behind them",
)
@width_option(1, " in text and LaTeX")
@database_option()
@server_option()
@account_option()
@collected
def compare(options: Options) -> int:
    """Print the tests of systems in the database or on a server; the exit status."""
    if not on_server(options):
        return run(options)
    from cli.leaderboards.compare_server import run as run_on_server

    return run_on_server(options)


def run(options: Options) -> int:
    """Read the boards, compute missing tests, print the comparison; the exit status."""
    from cli.leaderboards.comparison import rendered
    from models.database.session import make_engine
    from scheduler.embedded.wait import read_with_retries, with_retries

    if options.systems and options.submissions:
        raise UsageError("Give --systems or --submissions, not both.")
    check_trials(options)
    if options.baseline == "none":
        options.baseline = None
    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    every = options.all or bool(options.submissions)
    listed = with_retries(
        lambda: find_boards(engine, options.name, options.references, every=every, resample=options.resample)
    )
    boards = with_retries(lambda: chosen_boards(engine, listed, options))
    # Workers that compute missing tests are forked and must not inherit a connection.
    engine.dispose()
    compute_missing_tests(
        settings, [(board, metrics_of(board, options), baseline_of(board, options)) for board in boards], options
    )

    def read(connection: Connection) -> tuple[list[tuple[Board, PairedTests]], str]:
        drawn = [
            with_draws(connection, board, metrics_of(board, options), options, baseline=baseline_of(board, options))
            for board in boards
        ]
        compared = [(board, tests_of(connection, board, options)) for board in drawn]
        return compared, report(connection, compared, options) if options.report else ""

    compared, page = read_with_retries(engine, read)
    engine.dispose()
    if options.report:
        write_file(options.report, page)
    found = [document_of(board, tests, options) for board, tests in compared]
    print(rendered(found, options.format, options.width), end="", flush=True)
    if options.report:
        note([f"the report is in {options.report}"])
    return 0


def chosen_boards(engine: Engine, listed: Sequence[BoardSummary], options: Options) -> list[Board]:
    """The leaderboards with the requested systems or submissions, at least two each.

    Leaderboards without some of these systems or metrics are skipped. Raises CommandError where none is left.
    """
    from analysis.leaderboard.board import position_of_metric

    if options.submissions:
        # They may be of several campaigns, but a protocol is one.
        listed = list({each.protocol_id: each for each in listed}.values())
    sort = options.by
    if options.metrics and not sort:
        positions = [position_of_metric(each.metrics, options.metrics[0]) for each in listed]
        sort = options.metrics[0] if any(position is not None for position in positions) else None
    boards = read_boards(
        engine, listed, options.level, sort, interval_kind=options.interval, submissions=options.submissions or None
    )
    wanted = list(dict.fromkeys([*(options.systems or ()), *([options.baseline] if options.baseline else [])]))
    fitting: list[Board] = []
    faults: dict[str, list[str]] = {}
    for board in boards:
        chosen, fault = rows_of(board, options.systems, wanted, options.submissions or None, every=options.all)
        if not fault and not board.listed.replicates and options.test == "bootstrap":
            fault = "no replicates were stored (--confidence 0); choose --test randomization"
        if not fault and any(position is None for position in metric_positions(board, options)):
            fault = f"its metrics are {', '.join(board.listed.metrics)}"
        if fault:
            faults.setdefault(fault, []).append(board.title)
        else:
            fitting.append(board.only(chosen))
    if not fitting:
        found = [f"{'; '.join(titles)}: {fault}." for fault, titles in faults.items()]
        raise CommandError("There is nothing to compare. " + " ".join(found))
    return fitting


def rows_of(
    board: Board,
    systems: Sequence[str] | None,
    wanted: Sequence[str],
    submissions: Sequence[int] | None,
    *,
    every: bool,
) -> tuple[list[int], str]:
    """The selected rows with scores, and what is wrong with the selection, or "".

    Selected are the named systems; without names all ranked ones (with `every` all) and the baseline, ranked or not.
    """
    from steelyard.text.wording import listed as summed_up

    # Of two submissions of one system, its name means the one that is ranked.
    order = sorted(range(len(board.rows)), key=lambda number: board.rows[number].ranked)
    there = {name: number for number in order for name in names_of(board, number) if board.rows[number].scores}
    if strangers := [name for name in wanted if name not in there]:
        known = summed_up(sorted(row.system for row in board.rows if row.scores))
        return [], f"there is no system {', '.join(strangers)} with scores; there are {known}"
    if submissions is not None:
        found = {row.submissions[0] for row in board.rows if row.scores}
        if missing := [str(number) for number in submissions if number not in found]:
            return [], f"there is no submission {', '.join(missing)} with scores"
    named = {there[name] for name in wanted}
    ranked_ones = {number for number in there.values() if every or board.rows[number].ranked}
    rows = sorted(named if systems else named | ranked_ones)
    return rows, "" if len(rows) > 1 else "there are fewer than two systems with scores"


def names_of(board: Board, row: int) -> set[str]:
    """The names of a system that the command line accepts: its own, with its team, and as displayed."""
    found = board.rows[row]
    return {board.name(found), f"{found.team}/{found.system}" if found.team else found.system, found.system}


def baseline_of(board: Board, options: Options) -> int | None:
    """The row of the baseline; None without one."""
    rows = range(len(board.rows))
    return next((row for row in rows if options.baseline in names_of(board, row)), None) if options.baseline else None


def metric_positions(board: Board, options: Options) -> list[int | None]:
    """The positions of the requested metrics, in that order; None for one that the board does not have."""
    from analysis.leaderboard.board import position_of_metric

    metrics = board.listed.metrics
    return (
        [position_of_metric(metrics, name) for name in options.metrics] if options.metrics else [*range(len(metrics))]
    )


def metrics_of(board: Board, options: Options) -> list[int]:
    """The positions of the metrics to test by."""
    return list(dict.fromkeys(position for position in metric_positions(board, options) if position is not None))


def tests_of(connection: Connection, board: Board, options: Options) -> PairedTests:
    """The paired tests of a board's systems."""
    from analysis.leaderboard.board import same_output_pairs
    from steelyard.tables.paired_tests import ComparedMetric, PairedTests

    results, metrics = [], []
    for number, position in enumerate(metrics_of(board, options)):
        found = pairs_of(connection, board, position, options, baseline=baseline_of(board, options))
        results += [replace(result, metric=number) for result in found]
        first = board.rows[0].scores[position]
        metrics.append(ComparedMetric(first.specification, first.title, first.higher_is_better, first.scale))
    return PairedTests(
        results=results,
        systems=[board.name(row) for row in board.rows],
        metrics=metrics,
        test=options.test,
        draws=board.draws if options.test == "bootstrap" else trials_of(board, options, baseline_of(board, options)),
        seed=board.listed.seed,
        correction=options.correction,
        baseline=baseline_of(board, options),
        level=board.level,
        interval=board.interval_kind,
        replicates=board.listed.replicates,
        segments=board.listed.segments,
        unit=board.listed.resample,
        same_output=same_output_pairs(connection, board),
        alpha=options.alpha,
    )


def report(connection: Connection, compared: Sequence[tuple[Board, PairedTests]], options: Options) -> str:
    """An HTML page with the differences of these systems and the segments behind them."""
    from analysis.leaderboard.significance import compared_to_leaderboard, ranked_by_bootstrap
    from campaigns.reports.campaign import BoardTests, render_report
    from campaigns.reports.leaderboard import CORRECTIONS
    from steelyard.resampling.draws_needed import smallest_p
    from steelyard.resampling.paired import TITLES_OF_TESTS
    from steelyard.text.wording import of_documents

    boards, tests, pairs = [], [], []
    kinds = {"bootstrap": "replicates", "randomization": "trials"}
    corrected = CORRECTIONS[options.correction]
    for board, made in compared:
        # A baseline's pairs alone are too few to rank by.
        whole = made.baseline is None and len(made.metrics) == len(board.listed.metrics)
        boards.append(ranked(connection, board, options) if whole else ranked_by_bootstrap(board, alpha=options.alpha))
        by_metric = [made.of(number) for number in range(len(made.metrics))]
        of_position = dict(zip(metrics_of(board, options), by_metric, strict=True))
        tests.append(
            BoardTests(
                [of_position.get(metric, []) for metric in range(len(board.listed.metrics))],
                f"{TITLES_OF_TESTS[made.test]} with {made.draws:,} {kinds[options.test]}{of_documents(made.unit)}, "
                f"two-sided, {corrected}",
                smallest_p(made.draws, max(map(len, by_metric), default=0), options.correction),
                options.alpha,
                compared_to_leaderboard(options.test, options.correction),
            )
        )
        if made.baseline is not None:
            others = [name for row, name in enumerate(made.systems) if row != made.baseline]
            pairs += [(made.systems[made.baseline], name) for name in others]
    title = boards[0].title if len(boards) == 1 else "Comparison"
    return render_report(connection, boards, title=title, pairs=pairs or None, tests=tests)


def document_of(board: Board, tests: PairedTests, options: Options) -> Compared:
    """What is shown of a board of the database and its tests, with the spread of runs where there are several."""
    from analysis.leaderboard.board import spread_of_runs
    from campaigns.leaderboards.documents import run_spread_document
    from campaigns.leaderboards.stored import stored_document
    from cli.leaderboards.comparison import Compared

    named = board.rows if any(any(row.runs) for row in board.rows) else ()
    spreads = {}
    for row in named:
        for position in metrics_of(board, options):
            score, submission = row.scores[position], max(row.submissions)
            spreads[submission, score.specification] = run_spread_document(
                submission, score.specification, spread_of_runs(score)
            )
    return Compared(stored_document(board, every=options.all), tests, spreads)
