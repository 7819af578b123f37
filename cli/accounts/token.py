"""`steelyard token`: API tokens of accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cli.accounts.user import EMAIL, changed, opened
from cli.commands import noun
from cli.decorators import database_option, yes_option
from cli.terminal.prompts import confirm
from steelyard.commands.options import format_option, option
from steelyard.commands.parsing import Value
from steelyard.commands.values import whole_number
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

SCOPES = ("read", "submit", "organise")
"""As `models.schema.roles.Scope`."""

token = noun("token", "Create, list and revoke API tokens of accounts, for programs and `steelyard login`.")


@token.command(
    "create",
    help="Create an API token for an account and print it alone, so that a script can read it.",
    example="steelyard token create mary@example.org --scope read --scope submit --days 30",
)
@EMAIL
@option("--name", default="command line", metavar="NAME", help='what it is for (default: "command line")')
@option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="may be repeated (default: read and submit)"
)
@option("--days", type=Value(whole_number), default=90, metavar="N", help="days until it expires (default: 90)")
@database_option()
def create(email: str, name: str, scopes: Sequence[str], days: int, database: str | None) -> int:
    """Create a token."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.tokens import make_token
    from models.database.session import writing

    settings, engine = opened(database)
    with writing(engine, durable=True) as connection:
        known = find_account(connection, email)
        wanted = list(scopes) or ["read", "submit"]
        _, secret = make_token(connection, COMMAND_LINE, known.id, name, wanted, days, settings.token_days)
    print(secret)
    return 0


@token.command(
    "list",
    help="List the tokens of an account, without their secrets.",
    example="steelyard token list mary@example.org",
)
@EMAIL
@format_option()
@database_option()
def list_(email: str, format: str, database: str | None) -> int:  # noqa: A002 - the option's name
    """Print the tokens of an account."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.tokens import list_tokens
    from models.database.session import reading

    _, engine = opened(database)
    with reading(engine) as connection:
        known = list_tokens(connection, find_account(connection, email).id)
    columns = [
        Column("id", "Id", Kind.ID),
        Column("name", "Name", Kind.NAME),
        Column("scopes", "Scopes"),
        Column("created_at", "Created", Kind.DATE),
        Column("used_at", "Last used", Kind.DATE, missing="never"),
        Column("state", "State"),
    ]
    rows = []
    for each in known:
        state = "good" if each.alive else "revoked" if each.revoked_at is not None else "expired"
        rows.append([each.id, each.name, list(each.scopes), each.created_at, each.used_at, state])
    print(render([Table(columns, rows, empty="The account has no tokens.")], format, f"Tokens of {email}"), end="")
    return 0


@token.command(
    "delete",
    help="Revoke a token: requests with it are refused from now on.",
    example="steelyard token delete mary@example.org 3",
)
@EMAIL
@click.argument("number", type=Value(whole_number), metavar="ID", help="its number in `steelyard token list`")
@yes_option()
@database_option()
def delete(email: str, number: int, yes: bool, database: str | None) -> int:
    """Revoke a token."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.tokens import revoke_token

    confirm(f"Revoke token {number} of {email}?", yes=yes)
    with changed(database) as connection:
        revoke_token(connection, COMMAND_LINE, find_account(connection, email).id, number)
    print(f"Token {number} of {email} is revoked.")
    return 0
