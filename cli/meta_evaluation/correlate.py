"""`steelyard campaign correlate`: how well metrics agree with human judgments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.stored import read_settings, require_schema
from cli.terminal.writing import write_file
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
from steelyard.commands.parsing import Value
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from analysis.leaderboard.board import Board
    from analysis.meta_evaluation.metrics_and_human import BoardCorrelation, JudgedBoard


@click.command(
    "correlate",
    cls=ServerCommand,
    help="How well the metrics of a leaderboard agree with human judgments of its systems: correlations and pairwise "
    "accuracy, by system and by segment, with bootstrap intervals, and tests of every metric against the best one. "
    "Nothing is scored again. Human translations among the systems are left out. `steelyard correlate` does the same "
    "with files of scores.",
    example="steelyard campaign correlate wmt24 --granularity system --leave-out online-A",
)
@click.argument("name", required=False, metavar="[NAME]", help="only this test set, or this campaign")
@option("--references", metavar="A,B", help="only the leaderboard against exactly these references")
@option(
    "--human",
    metavar="NAME[@VERSION]",
    help="which human judgments (default: the only ones of the test set; the newest version)",
)
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
@option("--baseline", metavar="METRIC", help="test the others against this metric, not the best one")
@permutation_option()
@correction_option("holm")
@format_option()
@width_option(3, " in all formats for people")
@option("--plot", type=Value(Path), metavar="FILE.svg", help="plot the systems by the best metric and by human score")
@option("--report", type=Value(Path), metavar="FILE.html", help="write everything as one HTML page with scatter plots")
@database_option()
@collected
def correlate(options: Options) -> int:
    """Read the judged leaderboards, compute the correlations and print them; the exit status."""
    from cli.meta_evaluation.correlation_output import rendered
    from cli.terminal.progress import working
    from models.database.session import make_engine, reading
    from steelyard.meta_evaluation.correlation import LEVELS
    from steelyard.meta_evaluation.statistics import chosen_statistics

    by_level = chosen_statistics(
        options.statistics, LEVELS if options.granularity == "both" else (options.granularity,)
    )
    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url)
    with reading(engine) as connection:
        boards = judged_boards(connection, options)
    engine.dispose()
    tables: list[BoardCorrelation] = []
    # Some formats can be printed at once, because the next table may take a while.
    at_once = options.format in ("text", "markdown", "latex")
    for board in boards:
        of_board = agreement_tables(board, by_level, options)
        while True:
            with working(f"comparing metrics with people: {board.board.title}"):
                table = next(of_board, None)
            if table is None:
                break
            if at_once:
                print(("\n" if tables else "") + rendered([table], options.format, options.width), end="", flush=True)
            tables.append(table)
    if not tables:
        raise CommandError("Nothing can be compared: none of the systems with scores has human judgments.")
    if not at_once:
        print(rendered(tables, options.format, options.width), end="")
    if options.plot:
        draw(tables, options.plot)
    if options.report:
        from cli.meta_evaluation.correlation_report import page

        write_file(options.report, page(tables, options.width))
        note([f"the report is in {options.report}"])
    return 0


def judged_boards(connection: Connection, options: Options) -> list[JudgedBoard]:
    """The requested leaderboards that have human judgments. Raises CommandError and NotFound where there is none."""
    from analysis.leaderboard.board import read_board
    from analysis.meta_evaluation.metrics_and_human import read_judged
    from models.errors import NotFound
    from models.results.boards import list_boards

    labels = options.references.split(",") if options.references else None
    listed = list_boards(connection, name=options.name, references=labels)
    if not listed:
        there = sorted({f"{each.name} ({','.join(each.references)})" for each in list_boards(connection)})
        known = f"There are: {'; '.join(there)}." if there else "Nothing was evaluated here yet."
        raise CommandError(f"There is no such leaderboard. {known}")
    found, missing = [], None
    for each in listed:
        board = read_board(connection, each, options.level)
        assert board is not None
        try:
            board = board.excluding(options.leave_out)
            found.append(read_judged(connection, board, options.human, chosen_metrics(board, options.metrics)))
        except NotFound as error:
            missing = missing or error
    if not found and missing:
        raise CommandError(str(missing)) from missing
    left_out = {name for each in found for name in each.board.without}
    if strangers := [name for name in options.leave_out if not any(is_called(known, name) for known in left_out)]:
        present = ", ".join(sorted({each.board.name(row) for each in found for row in each.board.rows}))
        raise UsageError(f'--leave-out: there is no system "{strangers[0]}". There are: {present}.')
    note(dict.fromkeys(told for each in found for told in reference_outputs(each)))
    return found


def is_called(known: str, name: str) -> bool:
    """Whether the name, with or without a team, means the system."""
    return name in (known, known.partition("/")[2])


def reference_outputs(judged: JudgedBoard) -> Iterator[str]:
    """Warnings about judged systems whose output is a reference."""
    board = judged.board
    for row in board.rows:
        reference = board.same_as_reference.get(row.evaluations)
        if reference and {row.system, board.name(row)} & set(judged.systems):
            yield (
                f"{board.name(row)}: the output is reference {reference}, which makes correlations too high; "
                f"--leave-out {row.system} leaves it out."
            )


def chosen_metrics(board: Board, names: Sequence[str] | None) -> list[int] | None:
    """The positions of the requested metrics; None for all. Raises CommandError."""
    if not names:
        return None
    return list(dict.fromkeys(metric_position(board.listed.metrics, name) for name in names))


def metric_position(metrics: Sequence[str], name: str) -> int:
    """The position of a metric in a list of specifications. Raises CommandError."""
    from analysis.leaderboard.board import position_of_metric

    position = position_of_metric(metrics, name)
    if position is None:
        raise CommandError(f'There is no metric "{name}" on this leaderboard. There are: {", ".join(metrics)}.')
    return position


def agreement_tables(
    judged: JudgedBoard, by_level: dict[str, list[str]], options: Options
) -> Iterator[BoardCorrelation]:
    """A table for each requested level that has human scores, computed lazily."""
    from steelyard.meta_evaluation.correlation import (
        SEGMENT,
        SYSTEM,
        CorrelationOptions,
        correlate_segments,
        correlate_systems,
    )

    baseline = None
    if options.baseline:
        baseline = metric_position([metric.specification for metric in judged.metrics], options.baseline)
    asked = CorrelationOptions(options.replicates, options.level, options.trials, options.correction, baseline)
    if SYSTEM in by_level and judged.has_systems:
        yield correlate_systems(judged, by_level[SYSTEM], asked)
    if SEGMENT in by_level and judged.has_segments:
        yield correlate_segments(judged, by_level[SEGMENT], asked)


def draw(tables: Sequence[BoardCorrelation], file: Path) -> None:
    """Plot the first system-level table: its best metric against human scores. Raises CommandError."""
    from campaigns.charts import scatter
    from steelyard.meta_evaluation.correlation import SYSTEM

    table = next((table for table in tables if table.level == SYSTEM), None)
    if table is None:
        raise CommandError("There is nothing to plot: no human scores of systems are stored.")
    if len(tables) > 1:
        note(
            [f"{file} shows {table.judged.board.title}, {table.rows[0].metric.title}; see --references and --metrics."]
        )
    judged, metric = table.judged, table.rows[0].metric
    values = metric.systems if metric.higher_is_better else -metric.systems
    points = list(zip(judged.systems, values.tolist(), judged.human_systems.tolist(), strict=True))
    title = f"{judged.board.title}: {metric.title} and people"
    write_file(file, scatter(points, metric.title, f"human scores ({judged.human.title})", title=title))
