"""`steelyard schedule`: schedules of recurring evaluations, and the results of their runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cli.commands import noun
from cli.schedules.create import create
from cli.schedules.run import run
from cli.stored import require_schema, settings_for
from cli.terminal.writing import write_file
from steelyard.commands.errors import CommandError
from steelyard.commands.options import format_option, option, yes_option
from steelyard.commands.parsing import Value
from steelyard.commands.prompts import confirm
from steelyard.tables.rendering import render_document
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from models.nightly.failed_deliveries import FailedDelivery
    from models.nightly.runs import NightlyRunCount
    from models.nightly.schedules import ScheduleInfo

schedule = noun(
    "schedule",
    "Score the same systems every night and find regressions. A schedule defines when which outputs are fetched, how "
    "they are scored, and what they are compared with. `steelyard up`, or a scheduler with workers, runs it.",
)
schedule.add_command(create)
NAME = click.argument("name", metavar="NAME", help="name of the schedule")


def opened(database: str | None) -> Engine:
    """An engine of a database whose schema is up to date."""
    from models.database.session import make_engine

    settings = settings_for(database)
    require_schema(settings, create=False)
    return make_engine(settings.database_url, pooled=False)


@schedule.command(
    "list",
    help="List the schedules with the next run and the result of the last run.",
    example="steelyard schedule list -f json",
)
@option("--removed", is_flag=True, help="include removed schedules")
@format_option()
@database_option()
def list_(removed: bool, format: str, database: str | None) -> int:  # noqa: A002 - the option's name
    """Print the schedules."""
    from models.database.session import reading
    from models.nightly.failed_deliveries import read_failed_deliveries
    from models.nightly.runs import count_nightly_runs
    from models.nightly.schedules import list_schedules
    from models.schema.base import database_time

    with reading(opened(database)) as connection:
        schedules = list_schedules(connection, removed=removed)
        nightly_runs = count_nightly_runs(connection, [each.id for each in schedules])
        failed = read_failed_deliveries(connection)
        at = database_time(connection)
    shown = [_listed(each, nightly_runs[each.id], failed.get(each.id), at) for each in schedules]
    table = _table(shown)
    print(
        render_document(
            format,
            document=lambda: shown,
            data=lambda: ([column.key for column in table.columns], table.rows),
            tables=lambda: [table],
            title="Schedules",
        ),
        end="",
    )
    return 0


def _listed(
    schedule: ScheduleInfo, nightly_runs: NightlyRunCount, failed: FailedDelivery | None, at: float
) -> dict[str, Any]:
    """A schedule as the object that `-f json` prints."""
    from dataclasses import asdict

    from scheduler.nightly.cron import Calendar
    from scheduler.nightly.plan import LATE_SECONDS
    from scheduler.nightly.sources import Source

    last = nightly_runs.last
    following = None
    if schedule.next_at is not None:
        following = Calendar(schedule.cron, schedule.time_zone).clock(schedule.next_at)
    return {
        "schedule": schedule.name,
        "active": schedule.active,
        "cron": schedule.cron,
        "time_zone": schedule.time_zone,
        "next": following,
        "overdue": schedule.next_at is not None and at > schedule.next_at + LATE_SECONDS,
        "source": str(Source.from_json(schedule.source)),
        "metrics": list(schedule.metrics),
        "baseline": schedule.baseline.as_json(),
        "webhook": _host(schedule.webhook),
        "failed_delivery": None if failed is None else asdict(failed),
        "runs": nightly_runs.count,
        "last": None if last is None else {"date": last.date, "state": str(last.state), "regressed": last.regressed},
    }


def _host(webhook: str | None) -> str | None:
    """The host of a webhook, without the parts of its address that may be secret."""
    from urllib.parse import urlsplit

    return None if webhook is None else urlsplit(webhook).hostname


def _table(shown: list[dict[str, Any]]) -> Table:
    columns = [
        Column("schedule", "Schedule", Kind.NAME),
        Column("when", "When"),
        Column("next", "Next run"),
        Column("last", "Last run"),
        Column("runs", "Runs", Kind.COUNT),
    ]
    rows = []
    for each in shown:
        following = each["next"] or ("never" if each["active"] else "removed")
        overdue = ", overdue: no scheduler runs it" if each["overdue"] else ""
        when = f"{each['cron']} {each['time_zone']}"
        rows.append([each["schedule"], when, following + overdue, _last(each["last"]), each["runs"]])
    notes = [_failed_delivery(each["schedule"], each["failed_delivery"]) for each in shown if each["failed_delivery"]]
    return Table(columns, rows, notes=notes, empty="There is no schedule. `steelyard schedule create` makes one.")


def _failed_delivery(schedule: str, failed: dict[str, Any]) -> str:
    """A line about a failed webhook delivery."""
    from steelyard.text.wording import number_of

    end = "given up" if failed["given_up"] else "to be tried again"
    return (
        f"{schedule}: the webhook was not notified of the run of {failed['date']} "
        f"({number_of(failed['attempts'], 'attempt')}, {end}): {failed['reason']}"
    )


def _last(nightly_run: dict[str, Any] | None) -> str:
    if nightly_run is None:
        return "none yet"
    if nightly_run["state"] != "done":
        return f"{nightly_run['date']} {nightly_run['state']}"
    return f"{nightly_run['date']} {'REGRESSION' if nightly_run['regressed'] else 'fine'}"


@schedule.command(
    "show",
    help="Show the runs of a schedule and how its systems changed: the scores of every system over the runs, lasting "
    "changes with their dates, and the runs with problems.",
    example="steelyard schedule show gate -f json",
)
@NAME
@format_option()
@option("--output", type=Value(Path), metavar="FILE", help="write it to a file")
@option("--plot", type=Value(Path), metavar="FILE.svg", help="also draw the scores over the runs")
@database_option()
def show(
    name: str,
    format: str,  # noqa: A002 - the option's name
    output: Path | None,
    plot: Path | None,
    database: str | None,
) -> int:
    """Print the history of a schedule."""
    from analysis.nightly.verdict import read_history
    from cli.schedules.history import history_svg, rendered_history
    from models.database.session import reading
    from models.nightly.schedules import find_schedule

    with reading(opened(database)) as connection:
        history = read_history(connection, find_schedule(connection, name).id)
    if plot and not history.nightly_runs:
        raise CommandError(f'The schedule "{name}" has had no run yet: there is nothing to plot.')
    made = rendered_history(history, format)
    if output is None:
        print(made, end="")
    else:
        write_file(output, made)
        print(f"Written: {output}")
    if plot:
        write_file(plot, history_svg(history))
    return 0


schedule.add_command(run)


@schedule.command(
    "delete",
    help="Delete a schedule. Its history is kept, and so are the scores in the campaign of its name.",
    example="steelyard schedule delete gate --yes",
)
@NAME
@option("--history", is_flag=True, help="delete its history, too")
@yes_option()
@database_option()
def delete(name: str, history: bool, yes: bool, database: str | None) -> int:
    """Delete a schedule."""
    from models.database.session import reading, writing
    from models.nightly.schedules import find_schedule
    from scheduler.nightly.schedules import remove_schedule

    engine = opened(database)
    with reading(engine) as connection:
        find_schedule(connection, name)
    confirm(f'Delete the schedule "{name}"{" and its history" if history else ""}?', yes=yes)
    with writing(engine, durable=True) as connection:
        kept = remove_schedule(connection, name, forget=history)
    about = "its history is deleted" if history else f"its history is kept ({kept} runs)"
    print(f'Schedule "{name}" is deleted; {about}.')
    return 0
