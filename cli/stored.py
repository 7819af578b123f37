"""Options, settings and queries of commands that use the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, overload

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.notices import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from analysis.leaderboard.board import Board
    from cli.commands import Options
    from models.results.boards import BoardSummary
    from runtime.settings import Settings

AnySettings = TypeVar("AnySettings", bound="Settings")
"""`Settings` or a subclass."""


@overload
def read_settings(options: Options) -> Settings: ...


@overload
def read_settings(options: Options, kind: type[AnySettings]) -> AnySettings: ...


def read_settings(options: Options, kind: type[Settings] | None = None) -> Settings:
    """As `settings_for` the database of the options."""
    database = getattr(options, "database", None)
    return settings_for(database) if kind is None else settings_for(database, kind)


@overload
def settings_for(database: str | None) -> Settings: ...


@overload
def settings_for(database: str | None, kind: type[AnySettings]) -> AnySettings: ...


def settings_for(database: str | None, kind: type[Settings] | None = None) -> Settings:
    """The settings of the environment, with the database of the command line; those of the queue without `kind`.

    Raises UsageError for an invalid value.
    """
    from pydantic import ValidationError

    from runtime.redaction import redacted
    from runtime.settings import Settings

    try:
        settings = (kind or Settings)()
    except ValidationError as error:
        first = error.errors()[0]
        # An error about two settings has no location, and its message names them.
        found = ""
        if first["loc"]:
            setting, *within = map(str, first["loc"])
            # What has a password in it may have it anywhere if it is invalid, and so may any URL.
            hidden = within or setting.endswith("_url") or not (kind or Settings).model_fields[setting].repr
            given = "" if hidden else f"={first['input']!r}"
            found = f"{' '.join((f'STEELYARD_{setting.upper()}', *within))}{given}: "
        raise UsageError(redacted(f"{found}{first['msg']}.")) from None
    return settings.model_copy(update={"database_url": database}) if database else settings


def require_schema(settings: Settings, *, create: bool) -> None:
    """Raise CommandError unless the tables exist and this release can work with them.

    With `create` the tables of a new SQLite file are created, so that the default needs no setup. Everything else is
    upgraded only on demand, by `steelyard db upgrade`.
    """
    from models.database import migrate
    from models.database.session import sqlite_file

    tables = migrate.schema_status(settings.database_url)
    if create and sqlite_file(settings.database_url) is not None and tables.revision is None:
        migrate.create(settings.database_url)
    elif problem := tables.problem(migrate.REVISION):
        raise CommandError(problem)


def note_without_workers(settings: Settings) -> None:
    """Print a note if no worker is alive."""
    from models.database.session import make_engine
    from models.queue.workers import count_processes
    from scheduler.embedded.wait import read_with_retries

    engine = make_engine(settings.database_url, pooled=False)
    if not read_with_retries(engine, lambda connection: count_processes(connection, settings.silent_seconds)):
        note(["No worker is alive. Start `steelyard worker` and `steelyard scheduler`; this command waits."])


def shown_database(settings: Settings) -> str:
    """The database for people: a file's path, or a URL without its password."""
    from models.database.session import parse_url, sqlite_file
    from runtime.redaction import shown_url

    return sqlite_file(settings.database_url) or shown_url(parse_url(settings.database_url))


def read_boards(engine: Engine, listed: Sequence[BoardSummary], level: float, sort: str | None) -> list[Board]:
    """These leaderboards without rank ranges and clusters; those without the metric to sort by are left out.

    Raises CommandError where no leaderboard has the metric.
    """
    from analysis.leaderboard.board import read_board
    from models.database.session import reading

    with reading(engine) as connection:
        read = [read_board(connection, each, level, sort) for each in listed]
    boards = [board for board in read if board is not None]
    if not boards:
        check_sort(sorted({metric for each in listed for metric in each.metrics}), sort)
    return boards


def check_sort(metrics: Sequence[str], sort: str | None) -> None:
    """Raise CommandError where the metric to sort by is none of these."""
    from analysis.leaderboard.board import position_of_metric

    if position_of_metric(metrics, sort) is None:
        raise CommandError(f'There is no metric "{sort}" to sort by. There are: {", ".join(metrics)}.')
