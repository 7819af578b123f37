"""`steelyard doctor`: whether this installation is set up well, and what to do if it is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.stored import settings_for
from steelyard.commands.options import format_option, option
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from cli.doctor.finding import Finding
    from runtime.service_settings import WebSettings


@click.command(
    "doctor",
    cls=ServerCommand,
    help="Check settings, database, broker, workers, resources and the web service of this installation, and say how "
    "to fix what is wrong. It changes nothing, except that it writes one small object to a store of statistics. Run it "
    "with the environment of the process that you want to check. The exit status is 1 if something does not work.",
    example="steelyard doctor",
)
@option("--no-web", is_flag=True, help="leave out the checks of the web service, on a machine that has none")
@database_option()
@format_option()
@collected
def doctor(options: Options) -> int:
    """Print what was found; exit status 1 if something does not work."""
    from cli.doctor.finding import Level
    from runtime.service_settings import WebSettings
    from steelyard.tables.rendering import render
    from steelyard.tables.table import Column, Kind, Table

    found = list(examine(settings_for(options.database, WebSettings), web=not options.no_web))
    columns = [
        Column("check", "Check", Kind.NAME),
        Column("level", "Level"),
        Column("found", "Found"),
        Column("fix", "What to do"),
    ]
    rows = [[each.check, each.level.value, each.found, each.fix or None] for each in found]
    counts = {level: sum(each.level is level for each in found) for level in Level}
    problems, warnings = counts[Level.PROBLEM], counts[Level.WARNING]
    summary = "All is well." if not problems + warnings else f"Problems: {problems}, warnings: {warnings}."
    print(render([Table(columns, rows, notes=[summary])], options.format, "Doctor"), end="")
    return 1 if problems else 0


def examine(settings: WebSettings, *, web: bool) -> Iterator[Finding]:
    """Run all checks that make sense once those before them are passed."""
    from cli.doctor import database, environment, processes
    from cli.doctor.finding import Level

    yield from environment.check_environment(settings)
    tables = database.check_tables(settings)
    yield tables
    yield from processes.check_broker(settings)
    yield from processes.check_collector(settings)
    yield from processes.check_resources(settings)
    yield processes.check_store(settings)
    if tables.level is Level.OK:
        yield from _examine_database(settings, web=web)
    if web:
        from cli.doctor.web import check_documentation, check_mails, check_public_address

        yield from check_public_address(settings)
        yield check_mails(settings)
        yield check_documentation()


def _examine_database(settings: WebSettings, *, web: bool) -> Iterator[Finding]:
    from cli.doctor import database, processes
    from cli.doctor.web import check_accounts
    from models.database.session import make_engine, reading

    engine = make_engine(settings.database_url, pooled=False)
    yield from database.check_database_server(settings, engine)
    yield from processes.check_processes(settings, engine)
    with reading(engine) as connection:
        yield from processes.check_webhooks(connection)
        if web:
            yield check_accounts(connection)
