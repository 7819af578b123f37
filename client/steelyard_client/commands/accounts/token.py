"""`steelyard token`: API tokens of accounts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.commands.options import format_option, option, yes_option
from steelyard.commands.parsing import Noun, Value
from steelyard.commands.prompts import confirm
from steelyard.commands.values import whole_number
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.accounts.accounts import EMAIL, account_of
from steelyard_client.commands.backend import backend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard_client import Client

SCOPES = ("read", "submit", "organise")
"""As `vocabulary.Scope`."""

token = Noun("token", help="Create, list and revoke API tokens of accounts, for programs and `steelyard login`.")


@token.command(
    "create",
    help="Create an API token for an account and print it alone, so that a script can read it. For a database: on a "
    "server a token cannot create tokens; its owner does on the page /account/tokens.",
    example="steelyard token create mary@example.org --scope read --scope submit --days 30",
)
@EMAIL
@option("--name", default="command line", metavar="NAME", help='what it is for (default: "command line")')
@option(
    "--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="may be repeated (default: read and submit)"
)
@option("--days", type=Value(whole_number), default=90, metavar="N", help="days until it expires (default: 90)")
@backend()
def create(client: Client, email: str, name: str, scopes: Sequence[str], days: int) -> int:
    """Create a token."""
    from steelyard_client.documents.accounts.tokens import AccountTokenCreate

    wanted = list(scopes) or ["read", "submit"]
    known = account_of(client, email)
    print(client.create_account_token(known.id, AccountTokenCreate(name=name, scopes=wanted, days=days)).token)
    return 0


@token.command(
    "list",
    help="List the tokens of an account, without their secrets: of your own, or for administrators of another one.",
    example="steelyard token list mary@example.org",
)
@click.argument("email", default="", metavar="[EMAIL]", help="the address of the account (default: your own)")
@format_option()
@backend()
def list_(client: Client, email: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print the tokens of an account."""
    known = client.list_account_tokens(account_of(client, email).id) if email else client.list_own_tokens()
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
        used_at = None if each.used_at is None else each.used_at.timestamp()
        rows.append([each.id, each.name, list(each.scopes), each.created_at.timestamp(), used_at, state])
    title = f"Tokens of {email}" if email else "Tokens"
    print(render([Table(columns, rows, empty="The account has no tokens.")], format, title), end="")
    return 0


@token.command(
    "delete",
    help="Revoke a token: requests with it are refused from now on.",
    example="steelyard token delete mary@example.org 3",
)
@EMAIL
@click.argument("number", type=Value(whole_number), metavar="ID", help="its number in `steelyard token list`")
@yes_option()
@backend()
def delete(client: Client, email: str, number: int, yes: bool) -> int:
    """Revoke a token."""
    confirm(f"Revoke token {number} of {email}?", yes=yes)
    me = client.read_me()
    if me.email == email.casefold():
        client.revoke_own_token(number)
    else:
        client.revoke_account_token(account_of(client, email).id, number)
    print(f"Token {number} of {email} is revoked.")
    return 0
