"""Transactions that read or change a campaign."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from cli.stored import require_schema, settings_for
from steelyard.tables.rendering import render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess

CAMPAIGN = click.argument("campaign", metavar="CAMPAIGN", help="name of the campaign")


@contextmanager
def looking(database: str | None) -> Iterator[Connection]:
    """A read transaction on a database whose schema is up to date."""
    from models.database.session import make_engine, reading

    settings = settings_for(database)
    require_schema(settings, create=False)
    with reading(make_engine(settings.database_url, pooled=False)) as connection:
        yield connection


@contextmanager
def changing(database: str | None, *, create: bool = False) -> Iterator[Connection]:
    """A durable write transaction; with `create` the tables of a new SQLite file are created first."""
    from models.database.session import make_engine, writing

    settings = settings_for(database)
    require_schema(settings, create=create)
    with writing(make_engine(settings.database_url, pooled=False), durable=True) as connection:
        yield connection


def to_change(connection: Connection, campaign: str) -> CampaignAccess:
    """Access to a campaign, locked until the end of the transaction."""
    from campaigns import changes
    from campaigns.accounts.principal import COMMAND_LINE

    return changes.lock_for_change(connection, COMMAND_LINE, campaign)


def print_campaign(database: str | None, campaign: str, form: str = "text") -> int:
    """Print a campaign with its phases, test sets and corrections; the exit status."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.permissions import read_access
    from cli.campaigns.output import tables_of

    with looking(database) as connection:
        print(render(tables_of(connection, read_access(connection, COMMAND_LINE, campaign)), form, campaign), end="")
    return 0
