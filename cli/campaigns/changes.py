"""Transactions that read or change a campaign, for `steelyard campaign`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli.stored import read_settings, require_schema

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from campaigns.permissions import CampaignAccess


@contextmanager
def looking(options: argparse.Namespace) -> Iterator[Connection]:
    """A read transaction on a database whose schema is up to date."""
    from models.database.session import make_engine, reading

    settings = read_settings(options)
    require_schema(settings, create=False)
    with reading(make_engine(settings.database_url, pooled=False)) as connection:
        yield connection


@contextmanager
def changing(options: argparse.Namespace, *, create: bool = False) -> Iterator[Connection]:
    """A durable write transaction; with `create` the tables of a new SQLite file are created first."""
    from models.database.session import make_engine, writing

    settings = read_settings(options)
    require_schema(settings, create=create)
    with writing(make_engine(settings.database_url, pooled=False), durable=True) as connection:
        yield connection


def to_change(connection: Connection, options: argparse.Namespace) -> CampaignAccess:
    """Access to the campaign of the options, locked until the end of the transaction."""
    from campaigns import changes
    from campaigns.accounts.principal import COMMAND_LINE

    return changes.lock_for_change(connection, COMMAND_LINE, options.campaign)


def show_campaign(options: argparse.Namespace) -> int:
    """Print a campaign with its phases, test sets and corrections; the exit status."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.permissions import read_access
    from cli.campaigns.output import campaign_as_text

    with looking(options) as connection:
        print(campaign_as_text(connection, read_access(connection, COMMAND_LINE, options.campaign)), end="")
    return 0
