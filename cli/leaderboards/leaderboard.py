"""`steelyard leaderboard`: ranked leaderboards from the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cli.leaderboards.pair_tests import compute_missing_tests, ranked
from cli.options import add_format_option, add_test_options, add_width_option, check_trials
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
from steelyard.commands.errors import UsageError

if TYPE_CHECKING:
    import argparse

    from sqlalchemy import Engine

    from analysis.leaderboard.board import Board
    from steelyard.ranking.power import MetricPower


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`leaderboard`."""
    parser = verbs.add_parser(
        "leaderboard",
        help="show the systems in the database, ranked",
        description="Ranks the systems of every test set in the database, of each team its primary submission or else "
        "its last one, with rank ranges and clusters by WMT's rule on paired tests of all pairs. Only stored results "
        "are used: nothing is scored again.",
    )
    add_board_options(parser)
    add_sort_option(parser)
    add_test_options(parser, paired="bootstrap", correction="none")
    parser.add_argument(
        "--all-submissions", action="store_true", help="also show replaced submissions, each with its number"
    )
    parser.add_argument(
        "--power", action="store_true", help="also show which differences the test set is large enough to detect"
    )
    add_format_option(parser)
    add_width_option(parser, 1, " in all formats for people")
    add_database_option(parser)
    add_server_option(parser)
    add_account_option(parser)
    parser.set_defaults(run=run, run_on_server=run_on_server)


def run_on_server(options: argparse.Namespace) -> int:
    """The same command on a server; the exit status."""
    from cli.leaderboards.leaderboard_server import run

    return run(options)


def run(options: argparse.Namespace) -> int:
    """Read the boards, compute missing tests, print them ranked; the exit status."""
    from cli.leaderboards.board import as_csv, as_json, as_text, as_tsv, table_of
    from cli.leaderboards.power import as_object
    from cli.leaderboards.power import as_text as power_as_text
    from models.database.session import make_engine, reading
    from steelyard.tables.rendering import render

    if options.power and options.format not in ("text", "json"):
        raise UsageError(f"--power has no {options.format}. Choose -f json, or text.")
    check_trials(options)
    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    listed = find_boards(engine, options.name, options.references, every=options.all or options.all_submissions)
    boards = read_boards(
        engine, listed, options.level, options.sort, interval_kind=options.interval,
        ranked_only=not (options.all or options.all_submissions), all_submissions=options.all_submissions,
    )  # fmt: skip
    # Workers that compute missing tests are forked and must not inherit a connection.
    engine.dispose()
    contests = [board.only(board.ranked_rows) for board in boards]
    compute_missing_tests(settings, [(board, range(len(board.listed.metrics)), None) for board in contests], options)
    with reading(engine) as connection:
        boards = [ranked(connection, board, options) for board in boards]
    powers = [power_of(engine, board, options.alpha) for board in boards] if options.power else []
    engine.dispose()
    if options.format == "json":
        more = [{"power": as_object(board, *found)} for board, found in zip(boards, powers, strict=False)]
        print(as_json(boards, more), end="")
    elif options.format in ("tsv", "csv"):
        print((as_tsv if options.format == "tsv" else as_csv)(boards), end="")
    elif options.format != "text":
        print(render([table_of(board, options.width) for board in boards], options.format, "Leaderboard"), end="")
    else:
        texts = [as_text(board, options.width) for board in boards]
        for number, found in enumerate(powers):
            texts[number] += "\n" + power_as_text(boards[number], *found, options.width)
        print("\n".join(texts), end="")
    return 0


def power_of(engine: Engine, board: Board, alpha: float) -> tuple[list[MetricPower], int]:
    """The statistical power of the test set by every metric, and its number of segments."""
    from models.corpus.protocols import read_protocol
    from models.database.session import reading

    with reading(engine) as connection:
        segments = read_protocol(connection, board.listed.protocol_id).segments
    return [board.power(metric, segments, alpha=alpha) for metric in range(len(board.listed.metrics))], segments
