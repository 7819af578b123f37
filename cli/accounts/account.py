"""`steelyard account`: accounts of the server and their permissions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from cli.options import whole_number
from cli.stored import add_database_option, read_settings, require_schema
from cli.terminal.prompts import ask_secret
from steelyard.commands.errors import CommandError, UsageError

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from campaigns.accounts.accounts import AccountInfo
    from runtime.service_settings import WebSettings

ROLES = ("administrator", "organiser", "participant", "viewer")
SCOPES = ("read", "submit", "organise")
"""As `models.schema.roles.SiteRole` and `Scope`."""


def add_verbs(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """`account` and its own verbs."""
    parser = verbs.add_parser(
        "account",
        help="create accounts of the web service and set their permissions",
        description="Accounts of the web service. These commands work on the database directly and may do everything; "
        'the audit log says "command line". Links use the address in STEELYARD_PUBLIC_URL.',
    )
    ours = parser.add_subparsers(title="verbs", metavar="VERB", required=True)

    def verb(name: str, help_: str, *, email: bool = True) -> argparse.ArgumentParser:
        made = ours.add_parser(name, help=help_)
        if email:
            made.add_argument("email", metavar="EMAIL", help="the address of the account")
        add_database_option(made)
        made.set_defaults(run=globals()[f"run_{name.replace('-', '_')}"])
        return made

    add = verb("add", "create an account and print a link for its owner to set a password")
    add.add_argument("--name", required=True, metavar="NAME", help="the person's name")
    add.add_argument("--role", choices=ROLES, default="participant", help="(default: participant)")
    add.add_argument(
        "--set-password", action="store_true", help="ask for the password instead (or read a line of input)"
    )
    add.add_argument("--verified", action="store_true", help="mark the address as confirmed")
    listing = verb("list", "show all accounts", email=False)
    listing.add_argument(
        "search", nargs="?", default="", metavar="TEXT", help="only accounts whose name or address contains this text"
    )
    role = verb("role", "set the role of an account on the whole server")
    role.add_argument("role", choices=ROLES)
    verb("disable", "disable an account and end its sessions")
    verb("enable", "re-enable an account")
    verb("verify", "mark the address of an account as confirmed")
    password = verb("password", "set the password of an account and end its sessions")
    password.add_argument("--link", action="store_true", help="print a link for its owner to set it")
    invite = verb("invite", "print a link with which one person can create an account", email=False)
    invite.add_argument("--email", default="", metavar="EMAIL", help="only this address can use the link")
    invite.add_argument("--role", choices=ROLES, default="participant", help="of the account (default: participant)")
    invite.add_argument("--team", default="", metavar="NAME", help="and to join this team")
    invite.add_argument("--lead", action="store_true", help="and to lead it")
    invite.add_argument("--campaign", default="", metavar="NAME", help="or to join this campaign with a team")
    invite.add_argument(
        "--as", dest="campaign_role", choices=("organiser", "viewer"), help="or in this role, without a team"
    )
    token = verb("token", "create an API token for an account and print it")
    token.add_argument(
        "--name", default="command line", metavar="NAME", help='what it is for (default: "command line")'
    )
    token.add_argument(
        "--scope", action="append", choices=SCOPES, help="read, submit, organise (default: read, submit)"
    )
    token.add_argument("--days", type=whole_number, default=90, metavar="N", help="days until it expires (default: 90)")
    tokens = verb("tokens", "show the tokens of an account")
    tokens.add_argument("--revoke", type=whole_number, metavar="ID", help="revoke this token")


def run_add(options: argparse.Namespace) -> int:
    """Create an account."""
    from campaigns.accounts.accounts import add_account
    from campaigns.accounts.confirmations import issue_password_link
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.invitations.email_texts import password_link
    from campaigns.invitations.sign_up import hash_checked_password
    from models.database.session import writing
    from models.schema.roles import SiteRole

    settings, engine = opened(options)
    stored = None
    if options.set_password:
        stored = hash_checked_password(_asked_password(), email=options.email, name=options.name)
    link = ""
    with writing(engine, durable=True) as connection:
        account_id = add_account(
            connection,
            COMMAND_LINE,
            options.email,
            options.name,
            password_hash=stored,
            role=SiteRole(options.role),
            verified=options.verified,
        )
        if stored is None:
            secret = issue_password_link(connection, COMMAND_LINE, account_id, settings.confirmation_seconds)
            link = password_link(settings, secret)
    print(f"{options.email.strip()} has an account ({options.role}).")
    if link:
        print(f"This link sets the password. It works once, within {_hours(settings.confirmation_seconds)}:\n{link}")
    return 0


def run_list(options: argparse.Namespace) -> int:
    """Print all accounts."""
    from campaigns.accounts.accounts import list_accounts
    from models.database.session import reading
    from steelyard.tables.text import aligned

    _, engine = opened(options)
    with reading(engine) as connection:
        known = list_accounts(connection, search=options.search)
    if not known:
        print(
            "There is no such account."
            if options.search
            else "There are no accounts. `steelyard account add` makes one."
        )
        return 0
    rows = [["Address", "Name", "Role", "State", "Since"]]
    rows += [[each.email, each.name, each.role, _state(each), day(each.created_at)] for each in known]
    print(aligned(rows), end="")
    return 0


def run_role(options: argparse.Namespace) -> int:
    """Set the role of an account."""
    from campaigns.accounts.accounts import find_account, set_role
    from campaigns.accounts.principal import COMMAND_LINE
    from models.database.session import writing
    from models.schema.roles import SiteRole

    _, engine = opened(options)
    with writing(engine, durable=True) as connection:
        known = find_account(connection, options.email)
        set_role(connection, COMMAND_LINE, known.id, SiteRole(options.role))
    print(f"{known.email}: {options.role} (was {known.role}).")
    return 0


def run_disable(options: argparse.Namespace) -> int:
    """Disable an account."""
    return _set_disabled(options, True)


def run_enable(options: argparse.Namespace) -> int:
    """Re-enable an account."""
    return _set_disabled(options, False)


def run_verify(options: argparse.Namespace) -> int:
    """Mark the address of an account as confirmed."""
    from campaigns.accounts.accounts import find_account, set_verified
    from campaigns.accounts.principal import COMMAND_LINE
    from models.database.session import writing

    _, engine = opened(options)
    with writing(engine, durable=True) as connection:
        known = find_account(connection, options.email)
        set_verified(connection, COMMAND_LINE, known.id)
    print(f"{known.email}: the address is confirmed.")
    return 0


def run_password(options: argparse.Namespace) -> int:
    """Set a password, or print a link for its owner to set it."""
    from campaigns.accounts.accounts import find_account, set_password
    from campaigns.accounts.confirmations import issue_password_link
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.invitations.email_texts import password_link
    from campaigns.invitations.sign_up import hash_checked_password
    from models.database.session import reading, writing

    settings, engine = opened(options)
    with reading(engine) as connection:
        known = find_account(connection, options.email)
    if options.link:
        with writing(engine, durable=True) as connection:
            secret = issue_password_link(connection, COMMAND_LINE, known.id, settings.confirmation_seconds)
        print(
            f"This link works once, within {_hours(settings.confirmation_seconds)}:\n{password_link(settings, secret)}"
        )
        return 0
    stored = hash_checked_password(_asked_password(), email=known.email, name=known.name)
    with writing(engine, durable=True) as connection:
        ended = set_password(connection, COMMAND_LINE, known.id, stored)
    print(f"{known.email}: the password is set" + (f", and {ended} browsers are signed out." if ended else "."))
    return 0


def run_invite(options: argparse.Namespace) -> int:
    """Print the link of a new invitation."""
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.invitations.email_texts import invited_to
    from campaigns.invitations.send import invite
    from models.database.session import writing
    from models.schema.roles import CampaignRole, SiteRole, TeamRole

    if options.lead and not options.team:
        raise UsageError("--lead is for --team NAME.")
    if options.campaign_role and not options.campaign:
        raise UsageError("--as is for --campaign NAME.")
    settings, engine = opened(options)
    with writing(engine, durable=True) as connection:
        made = invite(
            connection,
            settings,
            COMMAND_LINE,
            email=options.email,
            role=SiteRole(options.role),
            team=options.team,
            team_role=TeamRole.LEAD if options.lead else TeamRole.MEMBER,
            campaign=options.campaign,
            campaign_role=CampaignRole(options.campaign_role) if options.campaign_role else None,
        )
    whom = made.known.email or "anyone with the link"
    days = round(settings.invitation_seconds / 86400, 1)
    print(f"Invites {whom} {invited_to(made.known)}, once, within {days:g} days:\n{made.link}")
    return 0


def run_token(options: argparse.Namespace) -> int:
    """Create a token and print it alone, so that a script can read it."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.tokens import make_token
    from models.database.session import writing

    settings, engine = opened(options)
    with writing(engine, durable=True) as connection:
        known = find_account(connection, options.email)
        scopes = options.scope or ["read", "submit"]
        days, longest = options.days, settings.token_days
        _, secret = make_token(connection, COMMAND_LINE, known.id, options.name, scopes, days, longest)
    print(secret)
    return 0


def run_tokens(options: argparse.Namespace) -> int:
    """Print the tokens of an account, without their secrets."""
    from campaigns.accounts.accounts import find_account
    from campaigns.accounts.principal import COMMAND_LINE
    from campaigns.accounts.tokens import list_tokens, revoke_token
    from models.database.session import reading, writing
    from steelyard.tables.text import aligned

    _, engine = opened(options)
    if options.revoke is not None:
        with writing(engine, durable=True) as connection:
            revoke_token(connection, COMMAND_LINE, find_account(connection, options.email).id, options.revoke)
    with reading(engine) as connection:
        known = list_tokens(connection, find_account(connection, options.email).id)
    rows = [["Id", "Name", "Scopes", "Made", "Last used", "State"]]
    for each in known:
        state = "good" if each.alive else "revoked" if each.revoked_at is not None else "over"
        used = "never" if each.used_at is None else day(each.used_at)
        rows.append([str(each.id), each.name, ", ".join(each.scopes), day(each.created_at), used, state])
    print(aligned(rows) if known else "The account has no tokens.\n", end="")
    return 0


def opened(options: argparse.Namespace) -> tuple[WebSettings, Engine]:
    """The settings of the web service and an engine. Raises CommandError where the schema is not up to date."""
    from models.database.session import make_engine
    from runtime.service_settings import WebSettings

    settings = read_settings(options, WebSettings)
    require_schema(settings, create=True)
    return settings, make_engine(settings.database_url, pooled=False)


def day(seconds: float) -> str:
    """The date in UTC of a time in seconds since 1970."""
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d}"


def _set_disabled(options: argparse.Namespace, disabled: bool) -> int:
    from campaigns.accounts.accounts import find_account, set_disabled
    from campaigns.accounts.principal import COMMAND_LINE
    from models.database.session import writing

    _, engine = opened(options)
    with writing(engine, durable=True) as connection:
        known = find_account(connection, options.email)
        set_disabled(connection, COMMAND_LINE, known.id, disabled)
    print(f"{known.email} is {'disabled' if disabled else 'enabled'}.")
    return 0


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
