"""`steelyard compare`: significance tests between stored systems."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.leaderboards.pair_tests import compute_missing_tests, pairs_of, ranked, trials_of, with_draws
from cli.options import add_format_option, add_test_options, add_width_option, check_trials, whole_number
from cli.server import add_account_option, add_server_option
from cli.stored import (
    add_board_options,
    add_database_option,
    add_sort_option,
    find_boards,
    read_boards,
    read_settings,
    require_schema,
)
from cli.terminal.writing import write_file
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note
from steelyard.tables import rendering
from steelyard.tables.formatting import PLAIN, digits
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from sqlalchemy import Connection, Engine

    from analysis.leaderboard.board import Board
    from models.results.boards import BoardSummary
    from steelyard.tables.delimited import Cell
    from steelyard.tables.paired_tests import PairedTests

Compared = tuple["Board", "PairedTests"]


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`compare`."""
    parser = verbs.add_parser(
        "compare",
        help="test the systems in the database against each other",
        description="Tests systems in pairs, all of a leaderboard or all against a baseline, two-sided, by the rule of "
        "the leaderboard unless other options are given, and shows the differences. Only stored results are used: "
        "nothing is scored again.",
    )
    add_board_options(parser)
    parser.add_argument(
        "--systems", nargs="+", metavar="SYSTEM", help="only these systems (default: all that are ranked)"
    )
    parser.add_argument(
        "--submissions", nargs="+", type=whole_number, metavar="NUMBER",
        help="only these submissions, each by itself, also those that were replaced; `leaderboard --all-submissions` "
        "shows their numbers",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", metavar="SYSTEM", help="test all others against this one (default: none, all pairs)"
    )
    parser.add_argument("--metrics", "-m", nargs="+", metavar="METRIC", help="only these metrics (default: all)")
    add_test_options(parser, paired="bootstrap", correction="none")
    add_sort_option(parser)
    add_format_option(parser)
    parser.add_argument(
        "--report", type=Path, metavar="FILE",
        help="write a page, too: differences, and the segments, documents and n-grams behind them",
    )  # fmt: skip
    add_width_option(parser, 1, " in text and LaTeX")
    add_database_option(parser)
    add_server_option(parser)
    add_account_option(parser)
    parser.set_defaults(run=run, run_on_server=run_on_server)


def run_on_server(options: argparse.Namespace) -> int:
    """The same command on a server; the exit status."""
    from cli.leaderboards.compare_server import run

    return run(options)


def run(options: argparse.Namespace) -> int:
    """Read the boards, compute missing tests, print the comparison; the exit status."""
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
    every = options.all or options.submissions is not None
    listed = with_retries(lambda: find_boards(engine, options.name, options.references, every=every))
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
    print(rendered(compared, options), end="", flush=True)
    if options.report:
        note([f"the report is in {options.report}"])
    return 0


def chosen_boards(engine: Engine, listed: Sequence[BoardSummary], options: argparse.Namespace) -> list[Board]:
    """The leaderboards with the requested systems or submissions, at least two each.

    Leaderboards without some of these systems or metrics are skipped. Raises CommandError where none is left.
    """
    from analysis.leaderboard.board import position_of_metric

    if options.submissions:
        # They may be of several campaigns, but a protocol is one.
        listed = list({each.protocol_id: each for each in listed}.values())
    sort = options.sort
    if options.metrics and not sort:
        positions = [position_of_metric(each.metrics, options.metrics[0]) for each in listed]
        sort = options.metrics[0] if any(position is not None for position in positions) else None
    boards = read_boards(
        engine, listed, options.level, sort, interval_kind=options.interval, submissions=options.submissions
    )
    wanted = list(dict.fromkeys([*(options.systems or ()), *([options.baseline] if options.baseline else [])]))
    fitting: list[Board] = []
    faults: dict[str, list[str]] = {}
    for board in boards:
        chosen, fault = rows_of(board, options.systems, wanted, options.submissions, every=options.all)
        if not fault and not board.listed.replicates and options.paired == "bootstrap":
            fault = "no replicates were stored (--confidence 0); choose --paired randomization"
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


def baseline_of(board: Board, options: argparse.Namespace) -> int | None:
    """The row of the baseline; None without one."""
    rows = range(len(board.rows))
    return next((row for row in rows if options.baseline in names_of(board, row)), None) if options.baseline else None


def metric_positions(board: Board, options: argparse.Namespace) -> list[int | None]:
    """The positions of the requested metrics, in that order; None for one that the board does not have."""
    from analysis.leaderboard.board import position_of_metric

    metrics = board.listed.metrics
    return (
        [position_of_metric(metrics, name) for name in options.metrics] if options.metrics else [*range(len(metrics))]
    )


def metrics_of(board: Board, options: argparse.Namespace) -> list[int]:
    """The positions of the metrics to test by."""
    return list(dict.fromkeys(position for position in metric_positions(board, options) if position is not None))


def tests_of(connection: Connection, board: Board, options: argparse.Namespace) -> PairedTests:
    """The paired tests of a board's systems."""
    from dataclasses import replace

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
        test=options.paired,
        draws=board.draws if options.paired == "bootstrap" else trials_of(board, options, baseline_of(board, options)),
        seed=board.listed.seed,
        correction=options.correction,
        baseline=baseline_of(board, options),
        level=board.level,
        interval=board.interval_kind,
        replicates=board.listed.replicates,
        segments=board.listed.segments,
        same_output=same_output_pairs(connection, board),
        alpha=options.alpha,
    )


def report(connection: Connection, compared: Sequence[Compared], options: argparse.Namespace) -> str:
    """An HTML page with the differences of these systems and the segments behind them."""
    from analysis.leaderboard.significance import compared_to_leaderboard, ranked_by_bootstrap
    from campaigns.reports.campaign import BoardTests, render_report
    from campaigns.reports.leaderboard import CORRECTIONS
    from steelyard.resampling.draws_needed import smallest_p
    from steelyard.resampling.paired import TITLES_OF_TESTS

    boards, tests, pairs = [], [], []
    kind = {"bootstrap": "replicates", "randomization": "trials"}[options.paired]
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
                f"{TITLES_OF_TESTS[made.test]} with {made.draws:,} {kind}, two-sided, {corrected}",
                smallest_p(made.draws, max(map(len, by_metric), default=0), options.correction),
                options.alpha,
                compared_to_leaderboard(options.paired, options.correction),
            )
        )
        if made.baseline is not None:
            others = [name for row, name in enumerate(made.systems) if row != made.baseline]
            pairs += [(made.systems[made.baseline], name) for name in others]
    title = boards[0].title if len(boards) == 1 else "Comparison"
    return render_report(connection, boards, title=title, pairs=pairs or None, tests=tests)


def tables_of(compared: Sequence[Compared], options: argparse.Namespace) -> list[Table]:
    """Every leaderboard with the runs of its systems, its matrices and lists of tests."""
    from analysis.leaderboard.significance import compared_to_leaderboard
    from steelyard.tables import paired_tests

    found: list[Table] = []
    for board, tests in compared:
        spreads = run_table(board, options)
        of_board = [*([spreads] if spreads.rows else []), *paired_tests.tables_of(tests, options.width)]
        last = of_board[-1]
        of_board[-1] = replace(last, notes=[*last.notes, compared_to_leaderboard(tests.test, tests.correction)])
        found += [replace(each, title=f"{board.title}: {each.title}") for each in of_board]
    return found


def run_table(board: Board, options: argparse.Namespace) -> Table:
    """s_sel, s_opt and run scores of each system by every metric; without rows where no system has runs."""
    from analysis.leaderboard.board import spread_of_runs
    from steelyard.tables import paired_tests

    columns = [Column("system", "System", Kind.NAME), Column("metric", "Metric"), *paired_tests.RUN_COLUMNS]
    rows = []
    for row in board.rows if any(any(row.runs) for row in board.rows) else ():
        for position in metrics_of(board, options):
            score = row.scores[position]
            spread, places = spread_of_runs(score), digits(score.scale, options.width)
            deviations = (spread.selection, spread.optimization) if spread else (None, None)
            # The decimals are those of the metric.
            cells = [PLAIN.number(number, places) for number in (score.score, *deviations)]
            runs = zip(row.runs, score.run_scores, strict=True)
            of_runs = ", ".join(f"{run} {PLAIN.number(each, places)}".lstrip() for run, each in runs)
            rows.append([board.name(row), board.titles[position], *cells, of_runs])
    notes = [paired_tests.RUN_SPREADS]
    notes += [paired_tests.ONE_RUN] if any(len(row.runs) == 1 for row in board.rows) else []
    return Table(columns, rows, "runs", notes=notes)


def as_json(compared: Sequence[Compared], options: argparse.Namespace) -> str:
    """Every leaderboard with its systems and tests; numbers at full precision, null where undefined."""
    objects = [_object(board, tests, metrics_of(board, options)) for board, tests in compared]
    return rendering.as_json(objects)


def _object(board: Board, tests: PairedTests, metrics: Sequence[int]) -> dict[str, Any]:
    from analysis.leaderboard.board import spread_of_runs
    from steelyard.tables.paired_tests import as_objects

    systems = []
    for name, row in zip(tests.systems, board.rows, strict=True):
        scores = []
        for position in metrics:
            score = row.scores[position]
            entry: dict[str, Any] = {
                "metric": score.specification,
                "signature": score.signature,
                "higher_is_better": score.higher_is_better,
                "score": score.score,
            }
            if any(row.runs):
                spread = spread_of_runs(score)
                entry["runs"] = [*score.run_scores]
                entry["s_sel"] = known(spread.selection) if spread else None
                entry["s_opt"] = known(spread.optimization) if spread else None
            scores.append(entry)
        runs = [run for run in row.runs if run]
        described = {"name": name, "system": row.system, "team": row.team, "runs": runs}
        systems.append({**described, "submissions": list(row.submissions), "scores": scores})
    listed = board.listed
    return {
        "campaign": listed.campaign,
        "test_set": listed.test_set,
        "version": listed.version,
        "references": list(listed.references),
        "systems": systems,
        "paired": as_objects(tests),
    }


def known(value: float) -> float | None:
    """None for NaN."""
    return None if math.isnan(value) else value


def data_rows(compared: Sequence[Compared]) -> tuple[Sequence[str], list[tuple[Cell, ...]]]:
    """Columns and rows for programs: a row per leaderboard, metric and pair; None where undefined."""
    from steelyard.tables.paired_tests import TSV_COLUMNS, tsv_rows

    rows: list[tuple[Cell, ...]] = []
    for board, tests in compared:
        listed = board.listed
        begin = (listed.campaign, listed.test_set, listed.version, "+".join(listed.references))
        rows += [(*begin, *row) for row in tsv_rows(tests)]
    return ("campaign", "test_set", "version", "references", *TSV_COLUMNS), rows


def rendered(compared: Sequence[Compared], options: argparse.Namespace) -> str:
    """The comparison in the format of the options."""
    from steelyard.tables import delimited

    if options.format == "json":
        return as_json(compared, options)
    if options.format in ("tsv", "csv"):
        return (delimited.as_tsv if options.format == "tsv" else delimited.as_csv)(*data_rows(compared))
    return rendering.render(tables_of(compared, options), options.format, "Comparison")
