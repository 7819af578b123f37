"""`steelyard schedule run`: one run of a schedule, now."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.decorators import processes_option
from cli.stored import note_without_workers, read_settings, require_schema
from steelyard.commands.notices import note
from steelyard.commands.options import option
from steelyard.commands.parsing import Value
from steelyard.commands.writing import write_file
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from models.nightly.runs import NightlyRunProgress
    from runtime.settings import Settings


@click.command(
    "run",
    cls=ServerCommand,
    help="Run a schedule now: fetch, score and judge, and print the report. Exit status: 0 success, 1 a regression or "
    "a failed run, 2 wrong usage.",
    example="steelyard schedule run gate --junit report.xml",
)
@click.argument("name", metavar="NAME", help="name of the schedule")
@option("--date", metavar="YYYY-MM-DD", help="date of the run (default: today, in the schedule's time zone)")
@option("--junit", type=Value(Path), metavar="FILE", help="write the report as JUnit XML, too")
@option("--json", type=Value(Path), metavar="FILE", help="write the report as JSON, too")
@processes_option()
@database_option()
@collected
def run(options: Options) -> int:
    """Request the run, wait for it and print the report; the exit status."""
    from analysis.nightly.verdict import read_report
    from cli.schedules.junit import nightly_run_junit
    from cli.schedules.output import nightly_run_json, nightly_run_text
    from models.database.session import make_engine, writing
    from scheduler.embedded.wait import read_with_retries
    from scheduler.nightly.cron import parse_date
    from scheduler.nightly.schedules import request_nightly_run

    settings = read_settings(options)
    if options.date:
        parse_date(options.date)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url, pooled=False)
    with writing(engine, durable=True) as connection:
        nightly_run = request_nightly_run(connection, options.name, options.date)
    if settings.embedded:
        _work(settings, options.processes or None, nightly_run, _shown())
    else:
        from models.nightly.runs import read_nightly_run_progress
        from scheduler.embedded.wait import wait_until

        note_without_workers(settings)
        wait_until(engine, settings, lambda connection: read_nightly_run_progress(connection, nightly_run), _shown())
    report = read_with_retries(engine, lambda connection: read_report(connection, nightly_run))
    print(nightly_run_text(report), end="")
    for path, made in ((options.junit, nightly_run_junit), (options.json, nightly_run_json)):
        if path is not None:
            write_file(path, made(report))
            print(f"Written: {path}")
    return 1 if report.wrong else 0


def _work(
    settings: Settings, processes: int | None, nightly_run: int, on_progress: Callable[[NightlyRunProgress], None]
) -> None:
    """Do the work with own workers, or wait for another process that already works on this database."""
    from models.nightly.runs import read_nightly_run_progress
    from scheduler.embedded.shared import SharedEmbedded
    from scheduler.nightly.runner import NightlyRunner

    nightly_runs = NightlyRunner(settings, only=nightly_run)
    with SharedEmbedded(settings, processes, lambda message: note([message])) as turn:
        try:
            turn.run_until(
                lambda connection: read_nightly_run_progress(connection, nightly_run), on_progress, nightly_runs
            )
            turn.finish()
            nightly_runs.deliver()
        finally:
            nightly_runs.stop()


def _shown() -> Callable[[NightlyRunProgress], None]:
    """A function that prints the progress of the run, a line for each step."""
    last = ""

    def show(progress: NightlyRunProgress) -> None:
        nonlocal last
        line = str(progress.state)
        if progress.evaluations:
            line += f": {progress.evaluations_done} of {progress.evaluations} evaluations have ended"
        if line != last and progress.open:
            print(f"run of {progress.date}: {line}", file=sys.stderr)
        last = line

    return show
