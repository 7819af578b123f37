"""`steelyard user`: accounts of the server and their permissions."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from cli.commands import noun
from cli.decorators import database_option
from cli.stored import require_schema, settings_for
from cli.terminal.prompts import ask_secret
from steelyard.commands.errors import CommandError, UsageError
from steelyard.commands.options import format_option, option
from steelyard.tables.rendering import render
from steelyard.tables.table import Column, Kind, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection, Engine

    from campaigns.accounts.accounts import AccountInfo
    from runtime.service_settings import WebSettings

ROLES = ("administrator", "organiser", "participant", "viewer")
"""As `models.schema.roles.SiteRole`."""

user = noun(
    "user",
    "Create accounts of the web service and set their permissions. These commands work on the database and may do "
    'everything; the audit log says "command line". Links use the address in STEELYARD_PUBLIC_URL.',
)
EMAIL = click.argument("email", metavar="EMAIL", help="the address of the account")


@user.command(
    "create",
    help="Create an account and print a link for its owner to set a password.",
    example='steelyard user create mary@example.org --name "Mary Miller" --role organiser',
)
@EMAIL
@option("--name", required=True, metavar="NAME", help="the person's name")
@option("--role", type=click.Choice(ROLES), default="participant", help="on the whole server (default: participant)")
@option("--set-password", is_flag=True, help="ask for the password instead (or read a line of input)")
@option("--verified", is_flag=True, help="mark the address as confirmed")
@database_option()
def create(email: str, name: str, role: str, set_password: bool, verified: bool, database: str | None) -> int:
    """Create an account."""
    from campaigns.accounts.accounts import add_account
    from campaigns.accounts.confirmations import issue_password_link
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.invitations.email_texts import password_link
    from campaigns.invitations.sign_up import hash_checked_password
    from models.database.session import writing
    from models.schema.roles import SiteRole

    settings, engine = opened(database)
    stored = hash_checked_password(_asked_password(), email=email, name=name) if set_password else None
    link = ""
    with writing(engine, durable=True) as connection:
        account_id = add_account(
            connection, COMMAND_LINE, email, name, password_hash=stored, role=SiteRole(role), verified=verified
        )
        if stored is None:
            secret = issue_password_link(connection, COMMAND_LINE, account_id, settings.confirmation_seconds)
            link = password_link(settings, secret)
    print(f"{email.strip()} has an account ({role}).")
    if link:
        print(f"This link sets the password. It works once, within {_hours(settings.confirmation_seconds)}:\n{link}")
    return 0


@user.command("list", help="List accounts with their roles and states.", example="steelyard user list example.org")
@click.argument("search", default="", metavar="[TEXT]", help="only accounts whose name or address contains this text")
@format_option()
@database_option()
def list_(search: str, format: str, database: str | None) -> int:  # noqa: A002 - the option's name
    """Print all accounts."""
    from campaigns.accounts.accounts import list_accounts
    from models.database.session import reading

    _, engine = opened(database)
    with reading(engine) as connection:
        known = list_accounts(connection, search=search)
    nothing = "There is no such account." if search else "There are no accounts. `steelyard user create` makes one."
    print(render([_table(known, nothing)], format, "Accounts"), end="")
    return 0


@user.command("show", help="Show one account.", example="steelyard user show mary@example.org")
@EMAIL
@format_option()
@database_option()
def show(email: str, format: str, database: str | None) -> int:  # noqa: A002
    """Print one account."""
    from campaigns.accounts.accounts import find_account
    from models.database.session import reading

    _, engine = opened(database)
    with reading(engine) as connection:
        known = find_account(connection, email)
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
@database_option()
def update(email: str, role: str | None, disabled: bool | None, verified: bool, database: str | None) -> int:
    """Change an account."""
    from campaigns.accounts.accounts import find_account, set_disabled, set_role, set_verified
    from campaigns.accounts.principal import COMMAND_LINE
    from models.schema.roles import SiteRole

    if role is None and disabled is None and not verified:
        raise UsageError("Say what to change: --role, --disable, --enable or --verified.")
    with changed(database) as connection:
        known = find_account(connection, email)
        told = []
        if role is not None:
            set_role(connection, COMMAND_LINE, known.id, SiteRole(role))
            told.append(f"{role} (was {known.role})")
        if disabled is not None:
            set_disabled(connection, COMMAND_LINE, known.id, disabled)
            told.append("disabled" if disabled else "enabled")
        if verified:
            set_verified(connection, COMMAND_LINE, known.id)
            told.append("the address is confirmed")
    print(f"{known.email}: {', '.join(told)}.")
    return 0


@user.command(
    "password",
    help="Set the password of an account and end its sessions. The password is asked for, or read from a line of "
    "standard input, and never an argument.",
    example="steelyard user password mary@example.org --link",
)
@EMAIL
@option("--link", is_flag=True, help="print a link for its owner to set it")
@database_option()
def password(email: str, link: bool, database: str | None) -> int:
    """Set a password, or print a link for its owner to set it."""
    from campaigns.accounts.accounts import find_account, set_password
    from campaigns.accounts.confirmations import issue_password_link
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.invitations.email_texts import password_link
    from campaigns.invitations.sign_up import hash_checked_password
    from models.database.session import reading, writing

    settings, engine = opened(database)
    with reading(engine) as connection:
        known = find_account(connection, email)
    if link:
        with writing(engine, durable=True) as connection:
            secret = issue_password_link(connection, COMMAND_LINE, known.id, settings.confirmation_seconds)
        address = password_link(settings, secret)
        print(f"This link works once, within {_hours(settings.confirmation_seconds)}:\n{address}")
        return 0
    stored = hash_checked_password(_asked_password(), email=known.email, name=known.name)
    with writing(engine, durable=True) as connection:
        ended = set_password(connection, COMMAND_LINE, known.id, stored)
    print(f"{known.email}: the password is set" + (f", and {ended} browsers are signed out." if ended else "."))
    return 0


@user.command(
    "invite",
    help="Print a link with which one person can create an account.",
    example="steelyard user invite --email mary@example.org --team harbour --lead",
)
@option("--email", default="", metavar="EMAIL", help="only this address can use the link")
@option("--role", type=click.Choice(ROLES), default="participant", help="of the account (default: participant)")
@option("--team", default="", metavar="NAME", help="and to join this team")
@option("--lead", is_flag=True, help="and to lead it")
@option("--campaign", default="", metavar="NAME", help="or to join this campaign with a team")
@option("--as", "campaign_role", type=click.Choice(("organiser", "viewer")), help="or in this role, without a team")
@database_option()
def invite(
    email: str, role: str, team: str, lead: bool, campaign: str, campaign_role: str | None, database: str | None
) -> int:
    """Print the link of a new invitation."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.invitations.email_texts import invited_to
    from campaigns.invitations.send import invite
    from models.database.session import writing
    from models.schema.roles import CampaignRole, SiteRole, TeamRole

    if lead and not team:
        raise UsageError("--lead is for --team NAME.")
    if campaign_role and not campaign:
        raise UsageError("--as is for --campaign NAME.")
    settings, engine = opened(database)
    with writing(engine, durable=True) as connection:
        made = invite(
            connection,
            settings,
            COMMAND_LINE,
            email=email,
            role=SiteRole(role),
            team=team,
            team_role=TeamRole.LEAD if lead else TeamRole.MEMBER,
            campaign=campaign,
            campaign_role=CampaignRole(campaign_role) if campaign_role else None,
        )
    whom = made.known.email or "anyone with the link"
    days = round(settings.invitation_seconds / 86400, 1)
    print(f"Invites {whom} {invited_to(made.known)}, once, within {days:g} days:\n{made.link}")
    return 0


def opened(database: str | None) -> tuple[WebSettings, Engine]:
    """The settings of the web service and an engine. Raises CommandError where the schema is not up to date."""
    from models.database.session import make_engine
    from runtime.service_settings import WebSettings

    settings = settings_for(database, WebSettings)
    require_schema(settings, create=True)
    return settings, make_engine(settings.database_url, pooled=False)


@contextmanager
def changed(database: str | None) -> Iterator[Connection]:
    """A durable write transaction."""
    from models.database.session import writing

    _, engine = opened(database)
    with writing(engine, durable=True) as connection:
        yield connection


def _table(known: Sequence[AccountInfo], nothing: str = "") -> Table:
    columns = [
        Column("email", "Address", Kind.NAME),
        Column("name", "Name"),
        Column("role", "Role"),
        Column("state", "State"),
        Column("created_at", "Since", Kind.DATE),
    ]
    rows = [[each.email, each.name, str(each.role), _state(each), each.created_at] for each in known]
    return Table(columns, rows, empty=nothing)


def _asked_password() -> str:
    password, again = ask_secret("Password (it is not shown): ", "Again: ")
    if password != again:
        raise CommandError("The two passwords are not the same. Nothing was changed.")
    return password


def _state(known: AccountInfo) -> str:
    said = [] if known.has_password else ["no password"]
    said += [] if known.verified_at is not None else ["not confirmed"]
    said += [] if known.disabled_at is None else ["disabled"]
    return ", ".join(said) or "good"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:g} h"
