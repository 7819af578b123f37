"""`steelyard health`: is a worker, a scheduler or the web service ready? For containers and supervisors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from cli.commands import Options, ServerCommand, collected
from cli.processes.http_option import address
from cli.stored import settings_for
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import option
from steelyard.commands.parsing import Value
from steelyard_client.commands.backend import database_option

if TYPE_CHECKING:
    from runtime.health import Check

SECONDS = 30.0
"""Timeout of a request: the process checks its database and its broker first."""

ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound here
"""A server that listens at all addresses of a machine can be reached at this one."""


@click.command(
    "health",
    cls=ServerCommand,
    help="Print the checks; the exit status is 0 if all passed, else 1. With --http the process "
    "itself is asked. Without it, the database shows whether a worker of this host sends "
    "heartbeats and whether a scheduler is active, and the web service is asked for a file.",
    example="steelyard health worker --http 9108",
)
@click.argument(
    "role",
    required=False,
    metavar="[ROLE]",
    type=click.Choice(("worker", "scheduler", "web")),
    help="with --http: reject any other role",
)
@option(
    "--http",
    is_flag=False,
    flag_value=(None, None),
    type=Value(address),
    metavar="[[HOST:]PORT]",
    help="ask the process there (default: STEELYARD_HTTP_HOST and STEELYARD_HTTP_PORT)",
)
@option("--live", is_flag=True, help="with --http: check liveness only, not readiness")
@database_option()
@collected
def health(options: Options) -> int:
    """Run the checks and print them; exit status 0 if all passed, else 1."""
    if options.http is not None:
        return _ask(options)
    if options.role is None or options.live:
        raise UsageError("Name a role (worker, scheduler or web), or give --http (--live is for --http).")
    return _look(options)


def _ask(options: Options) -> int:
    from http.client import HTTPConnection, HTTPException

    host, port = options.http
    if host is None or port is None:
        settings = settings_for(options.database)
        host, port = host or settings.http_host, port or settings.http_port
    if port is None:
        raise UsageError("Which port? Give --http PORT, or set STEELYARD_HTTP_PORT.")
    connection = HTTPConnection(ANYWHERE.get(host, host), port, timeout=SECONDS)
    try:
        connection.request("GET", "/health/live" if options.live else "/health/ready")
        found = json.loads(connection.getresponse().read())
        role, ok = found["role"], found["ok"]
        checks = {name: (each["ok"], each["reason"]) for name, each in found["checks"].items()}
    except (OSError, HTTPException) as error:
        raise CommandError(f"No answer from {host}:{port}: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CommandError(f"The server at {host}:{port} is not a Steelyard process.") from error
    finally:
        connection.close()
    # `up` is all of them.
    if options.role not in (None, role) and role != "up":
        raise CommandError(f"At {host}:{port} is a {role}, not a {options.role}.")
    return _printed(role, ok, checks)


def _look(options: Options) -> int:
    import socket

    from runtime.health import run_checks
    from scheduler.health import check_leader_exists
    from worker.health_checks import check_database, check_workers

    settings = settings_for(options.database)
    database = check_database(settings.database_url)
    if not database.ok:
        return _printed(options.role, False, {database.name: (False, database.reason)})
    own: Check
    if options.role == "web":
        own = _check_pages(options)
    elif options.role == "scheduler":
        own = check_leader_exists(settings)
    else:
        own = check_workers(settings, socket.gethostname())
    health = run_checks((lambda: database, lambda: own))
    return _printed(options.role, health.ok, {each.name: (each.ok, each.reason) for each in health.checks})


def _check_pages(options: Options) -> Check:
    """Whether the web service answers at the address in the settings."""
    from http.client import HTTPConnection, HTTPException

    from runtime.health import Check
    from runtime.service_settings import WebSettings

    settings = settings_for(options.database, WebSettings)
    host, port = ANYWHERE.get(settings.web_host, settings.web_host), settings.web_port
    connection = HTTPConnection(host, port, timeout=SECONDS)
    try:
        connection.request("HEAD", "/static/site.css")
        status = connection.getresponse().status
    except (OSError, HTTPException) as error:
        return Check("pages", False, f"no answer from {host}:{port}: {error}")
    finally:
        connection.close()
    return Check("pages", status == 200, f"{host}:{port} answers with status {status}")


def _printed(role: str, ok: bool, checks: dict[str, tuple[bool, str]]) -> int:
    print(f"{role}: {'well' if ok else 'not well'}")
    for name, (fine, reason) in checks.items():
        print(f"  {name}: {'' if fine else 'NO, '}{reason}")
    return 0 if ok else 1
