"""`steelyard user`: accounts of the server and their permissions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import format_option, option, yes_option
from steelyard.commands.parsing import Noun
from steelyard.commands.prompts import ask_secret, confirm
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table
from steelyard_client.commands.accounts.accounts import EMAIL, ROLES, account_of, hours
from steelyard_client.commands.backend import backend

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard_client import Client
    from steelyard_client.documents.accounts.accounts import AccountResponse

user = Noun(
    "user",
    help="Create accounts and set their permissions, as administrators do. On a database, links use the address in "
    "STEELYARD_PUBLIC_URL.",
)


@user.command(
    "create",
    help="Create an account and print a link for its owner to set a password. The first account of a server is created "
    "on its database.",
    example='steelyard user create mary@example.org --name "Mary Miller" --role organiser',
)
@EMAIL
@option("--name", required=True, metavar="NAME", help="the person's name")
@option("--role", type=click.Choice(ROLES), default="participant", help="on the whole server (default: participant)")
@option("--set-password", is_flag=True, help="ask for the password instead (or read a line of input)")
@option("--verified", is_flag=True, help="mark the address as confirmed")
@backend()
def create(client: Client, email: str, name: str, role: str, set_password: bool, verified: bool) -> int:
    """Create an account."""
    from steelyard_client.documents.accounts.accounts import AccountCreate
    from steelyard_client.vocabulary import SiteRole

    password = _asked_password() if set_password else ""
    made = client.create_account(
        AccountCreate(email=email, name=name, role=SiteRole(role), password=password, verified=verified)
    )
    print(f"{made.email} has an account ({role}).")
    if not password:
        link = client.create_password_link(made.id)
        print(f"This link sets the password. It works once, within {hours(link.seconds)}:\n{link.link}")
    return 0


@user.command("list", help="List accounts with their roles and states.", example="steelyard user list example.org")
@click.argument("search", default="", metavar="[TEXT]", help="only accounts whose name or address contains this text")
@format_option()
@backend()
def list_(client: Client, search: str, format: str) -> int:  # noqa: A002 - the option's name
    """Print all accounts."""
    nothing = "There is no such account." if search else "There are no accounts. `steelyard user create` makes one."
    print(render([_table(client.list_accounts(search=search), nothing)], format, "Accounts"), end="")
    return 0


@user.command("show", help="Show one account.", example="steelyard user show mary@example.org")
@EMAIL
@format_option()
@backend()
def show(client: Client, email: str, format: str) -> int:  # noqa: A002
    """Print one account."""
    known = account_of(client, email)
    print(render([_table([known])], format, known.email), end="")
    return 0


@user.command(
    "update",
    help="Change the role of an account, disable it (which ends its sessions) or enable it again, or mark its address "
    "as confirmed.",
    example="steelyard user update mary@example.org --role administrator",
)
@EMAIL
@option("--role", type=click.Choice(ROLES), help="new role on the whole server")
@option("--disable/--enable", "disabled", default=None, help="whether its owner can sign in")
@option("--verified", is_flag=True, help="mark the address as confirmed")
@yes_option()
@backend()
def update(client: Client, email: str, role: str | None, disabled: bool | None, verified: bool, yes: bool) -> int:
    """Change an account."""
    from steelyard_client.documents.accounts.accounts import AccountRightsUpdate

    given: dict[str, Any] = {"role": role, "disabled": disabled, "verified": verified or None}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        raise UsageError("Say what to change: --role, --disable, --enable or --verified.")
    known = account_of(client, email)
    if disabled:
        confirm(f"Disable the account {known.email}?", yes=yes)
    client.update_account(known.id, AccountRightsUpdate(**given))
    changes = [] if role is None else [f"{role} (was {known.role})"]
    changes += [] if disabled is None else ["disabled" if disabled else "enabled"]
    changes += ["the address is confirmed"] if verified else []
    print(f"{known.email}: {', '.join(changes)}.")
    return 0


@user.command(
    "delete",
    help="Delete an account, after showing what goes with it. The audit log keeps what it did, without its address "
    "and name.",
    example="steelyard user delete mary@example.org",
)
@EMAIL
@yes_option()
@backend()
def delete(client: Client, email: str, yes: bool) -> int:
    """Delete an account."""
    from steelyard_client.commands.deleting import delete_after_question

    number = account_of(client, email).id
    return delete_after_question(lambda dry: client.delete_account(number, dry_run=dry), yes=yes)


@user.command(
    "password",
    help="Set the password of an account and end its sessions. The password is asked for, or read from a line of "
    "standard input, and never an argument.",
    example="steelyard user password mary@example.org --link",
)
@EMAIL
@option("--link", is_flag=True, help="print a link for its owner to set it")
@backend()
def password(client: Client, email: str, link: bool) -> int:
    """Set a password, or print a link for its owner to set it."""
    from steelyard_client.documents.accounts.accounts import AccountPasswordUpdate

    known = account_of(client, email)
    if link:
        made = client.create_password_link(known.id)
        print(f"This link works once, within {hours(made.seconds)}:\n{made.link}")
        return 0
    ended = client.update_account_password(known.id, AccountPasswordUpdate(password=_asked_password())).ended
    print(f"{known.email}: the password is set" + (f", and {ended} browsers are signed out." if ended else "."))
    return 0


def _table(known: Iterable[AccountResponse], nothing: str = "") -> Table:
    columns = [
        Column("email", "Address", Kind.NAME),
        Column("name", "Name"),
        Column("role", "Role"),
        Column("state", "State"),
        Column("created_at", "Since", Kind.DATE),
    ]
    rows = [[each.email, each.name, str(each.role), _state(each), each.created_at.timestamp()] for each in known]
    return Table(columns, rows, empty=nothing)


def _asked_password() -> str:
    password, again = ask_secret("Password (it is not shown): ", "Again: ")
    if password != again:
        raise CommandError("The two passwords are not the same. Nothing was changed.")
    if not password:
        raise CommandError("The password is empty. Nothing was changed.")
    return password


def _state(known: AccountResponse) -> str:
    said = [] if known.has_password else ["no password"]
    said += [] if known.verified_at is not None else ["not confirmed"]
    said += [] if known.disabled_at is None else ["disabled"]
    return ", ".join(said) or "good"
