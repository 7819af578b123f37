"""`steelyard schedule list` and `show`: schedules of recurring evaluations, and their history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from steelyard.commands.errors import UsageError
from steelyard.commands.options import format_option, option
from steelyard.commands.parsing import Noun, Value
from steelyard.commands.writing import write_file
from steelyard.tables.formatting import date_time
from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Kind, Table
from steelyard.text.wording import number_of
from steelyard_client.commands.backend import DATABASES, backend
from steelyard_client.commands.campaigns.schedule_history import SCORE_COLUMNS, history_tables, score_rows

if TYPE_CHECKING:
    from steelyard_client import Client
    from steelyard_client.documents.submissions.nightly import ScheduleHistoryResponse, ScheduleResponse

schedule = Noun(
    "schedule",
    help="Score the same systems every night and find regressions. A schedule defines when which outputs are fetched, "
    "how they are scored, and what they are compared with. `steelyard up`, or a scheduler with workers, runs it. "
    "Schedules are created, run and deleted where the database is, because they read its files and run commands; "
    "organisers can list and show them on a server.",
)


NAME = click.argument("name", metavar="NAME", help="name of the schedule")


@schedule.command(
    "list",
    help="List the schedules with the next run and the result of the last run.",
    example="steelyard schedule list -f json",
)
@option("--removed", is_flag=True, help="include deleted schedules whose history was kept; for administrators")
@format_option()
@backend()
def list_(client: Client, removed: bool, format: str) -> int:  # noqa: A002 - the option's name
    """Print the schedules."""
    found = list(client.list_schedules(removed=removed))
    table = _table(found)
    print(
        render_document(
            format,
            document=lambda: [each.model_dump(mode="json") for each in found],
            data=lambda: ([column.key for column in table.columns], table.rows),
            tables=lambda: [table],
            title="Schedules",
        ),
        end="",
    )
    return 0


@schedule.command(
    "show",
    help="Show the runs of a schedule and how its systems changed: the scores of every system over the runs, lasting "
    "changes with their dates, and the runs with problems.",
    example="steelyard schedule show gate -f json",
)
@NAME
@format_option()
@option("--output", type=Value(Path), metavar="FILE", help="write it to a file")
@option("--plot", type=Value(Path), metavar="FILE.svg", help="also draw the scores over the runs; needs a database")
@backend()
def show(client: Client, name: str, format: str, output: Path | None, plot: Path | None) -> int:  # noqa: A002
    """Print the history of a schedule."""
    here = DATABASES.get(client)
    if plot and here is None:
        raise UsageError("--plot needs a --database.")
    made = rendered_history(client.read_schedule_history(name), format)
    if output is None:
        print(made, end="")
    else:
        write_file(output, made)
        print(f"Written: {output}")
    if plot and here is not None:
        here.draw_schedule(name, plot)
    return 0


def rendered_history(history: ScheduleHistoryResponse, form: str) -> str:
    """Everything in JSON, as docs/reference/regressions.md describes it; in CSV and TSV a row for each score."""
    return render_document(
        form, document=lambda: history.model_dump(mode="json"), data=lambda: (SCORE_COLUMNS, score_rows(history)),
        tables=lambda: history_tables(history), title=history.schedule,
    )  # fmt: skip


def _table(shown: list[ScheduleResponse]) -> Table:
    columns = [
        Column("schedule", "Schedule", Kind.NAME),
        Column("when", "When"),
        Column("next", "Next run"),
        Column("last", "Last run"),
        Column("runs", "Runs", Kind.COUNT),
    ]
    rows = []
    for each in shown:
        following = "never" if each.active else "deleted"
        if each.next_at is not None:
            following = date_time(each.next_at.timestamp(), each.time_zone)
        overdue = ", overdue: no scheduler runs it" if each.overdue else ""
        rows.append([each.name, f"{each.cron} {each.time_zone}", following + overdue, _last(each), each.runs])
    notes = [_failed_delivery(each) for each in shown if each.failed_delivery]
    return Table(columns, rows, notes=notes, empty="There is no schedule. `steelyard schedule create` makes one.")


def _failed_delivery(schedule: ScheduleResponse) -> str:
    """A line about a message to a webhook that did not arrive."""
    failed = schedule.failed_delivery
    assert failed is not None
    end = "given up" if failed.given_up else "to be tried again"
    return (
        f"{schedule.name}: the webhook was not notified of the run of {failed.date} "
        f"({number_of(failed.attempts, 'attempt')}, {end}): {failed.reason}"
    )


def _last(schedule: ScheduleResponse) -> str:
    if schedule.last_date is None:
        return "none yet"
    if schedule.last_state != "done":
        return f"{schedule.last_date} {schedule.last_state}"
    return f"{schedule.last_date} {'REGRESSION' if schedule.last_regressed else 'fine'}"
