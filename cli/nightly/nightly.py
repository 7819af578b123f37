"""`steelyard nightly`: schedules of recurring evaluations, and the results of their runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cli.nightly import add
from cli.nightly import run as nightly_run
from cli.stored import add_database_option, read_settings, require_schema
from cli.terminal.writing import write_file
from steelyard.commands.errors import CommandError

if TYPE_CHECKING:
    import argparse

    from models.nightly.failed_deliveries import FailedDelivery
    from models.nightly.runs import NightlyRunCount
    from models.nightly.schedules import ScheduleInfo


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`nightly` and its own verbs."""
    parser = verbs.add_parser(
        "nightly",
        help="score the same systems every night and find regressions",
        description="A schedule defines when which outputs are fetched, how they are scored, and what they are "
        "compared with. `steelyard up`, or a scheduler with workers, runs it; `nightly run` runs one now.",
    )
    ours = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    add.add_verb(ours)
    listing = ours.add_parser("list", help="show the schedules with the next run and the result of the last run")
    listing.add_argument("--removed", action="store_true", help="include removed schedules")
    listing.add_argument("-f", "--format", choices=("text", "json"), default="text")
    add_database_option(listing)
    listing.set_defaults(run=run_list)
    remove = ours.add_parser("remove", help="remove a schedule")
    remove.add_argument("name", metavar="NAME")
    remove.add_argument(
        "--forget", action="store_true", help="also delete its history (scores stay in the campaign of its name)"
    )
    add_database_option(remove)
    remove.set_defaults(run=run_remove)
    nightly_run.add_verb(ours)
    history = ours.add_parser(
        "history",
        help="show the runs of a schedule and how its systems changed",
        description="Shows the scores of every system over the runs, lasting changes with their dates, and the "
        "runs with problems.",
    )
    history.add_argument("name", metavar="NAME")
    history.add_argument("-f", "--format", choices=("text", "json", "svg"), default="text")
    history.add_argument("--output", type=Path, metavar="FILE", help="write it to a file")
    add_database_option(history)
    history.set_defaults(run=run_history)


def run_list(options: argparse.Namespace) -> int:
    """Print the schedules."""
    from models.database.session import make_engine, reading
    from models.nightly.failed_deliveries import read_failed_deliveries
    from models.nightly.runs import count_nightly_runs
    from models.nightly.schedules import list_schedules
    from models.schema.base import database_time

    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url, pooled=False)
    with reading(engine) as connection:
        schedules = list_schedules(connection, removed=options.removed)
        nightly_runs = count_nightly_runs(connection, [each.id for each in schedules])
        untold = read_failed_deliveries(connection)
        at = database_time(connection)
    shown = [_listed(each, nightly_runs[each.id], untold.get(each.id), at) for each in schedules]
    if options.format == "json":
        print(json.dumps(shown, ensure_ascii=False, indent=2))
    else:
        print(_as_text(shown), end="")
    return 0


def _listed(
    schedule: ScheduleInfo, nightly_runs: NightlyRunCount, untold: FailedDelivery | None, at: float
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
        "untold": None if untold is None else asdict(untold),
        "runs": nightly_runs.count,
        "last": None if last is None else {"date": last.date, "state": str(last.state), "regressed": last.regressed},
    }


def _host(webhook: str | None) -> str | None:
    """The host of a webhook, without the parts of its address that may be secret."""
    from urllib.parse import urlsplit

    return None if webhook is None else urlsplit(webhook).hostname


def _as_text(shown: list[dict[str, Any]]) -> str:
    from steelyard.tables.text import aligned

    if not shown:
        return "There is no schedule. `steelyard nightly add` creates one.\n"
    rows = [["Schedule", "When", "Next run", "Last run", "Runs"]]
    for each in shown:
        following = each["next"] or ("never" if each["active"] else "removed")
        overdue = ", overdue: no scheduler runs it" if each["overdue"] else ""
        when = f"{each['cron']} {each['time_zone']}"
        rows.append([each["schedule"], when, following + overdue, _last(each["last"]), str(each["runs"])])
    return aligned(rows) + "".join(_untold(each["schedule"], each["untold"]) for each in shown if each["untold"])


def _untold(schedule: str, untold: dict[str, Any]) -> str:
    """A line about a failed webhook delivery."""
    from steelyard.text.wording import number_of

    end = "given up" if untold["given_up"] else "to be tried again"
    return (
        f"\n{schedule}: the webhook was not notified of the run of {untold['date']} "
        f"({number_of(untold['attempts'], 'attempt')}, {end}): {untold['reason']}\n"
    )


def _last(nightly_run: dict[str, Any] | None) -> str:
    if nightly_run is None:
        return "none yet"
    if nightly_run["state"] != "done":
        return f"{nightly_run['date']} {nightly_run['state']}"
    return f"{nightly_run['date']} {'REGRESSION' if nightly_run['regressed'] else 'fine'}"


def run_remove(options: argparse.Namespace) -> int:
    """Remove a schedule."""
    from models.database.session import make_engine, writing
    from scheduler.nightly.schedules import remove_schedule

    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url, pooled=False)
    with writing(engine, durable=True) as connection:
        kept = remove_schedule(connection, options.name, forget=options.forget)
    about = "its history is deleted" if options.forget else f"its history is kept ({kept} runs)"
    print(f'Schedule "{options.name}" is removed; {about}.')
    return 0


def run_history(options: argparse.Namespace) -> int:
    """Print the history of a schedule."""
    from analysis.nightly.verdict import read_history
    from cli.nightly.history import history_json, history_svg, history_text
    from models.database.session import make_engine, reading
    from models.nightly.schedules import find_schedule

    settings = read_settings(options)
    require_schema(settings, create=False)
    engine = make_engine(settings.database_url, pooled=False)
    with reading(engine) as connection:
        history = read_history(connection, find_schedule(connection, options.name).id)
    if options.format == "svg" and not history.nightly_runs:
        raise CommandError(f'The schedule "{options.name}" has had no run yet: there is nothing to plot.')
    made = {"text": history_text, "json": history_json, "svg": history_svg}[options.format](history)
    if options.output is None:
        print(made, end="" if made.endswith("\n") else "\n")
    else:
        write_file(options.output, made)
        print(f"Written: {options.output}")
    return 0
