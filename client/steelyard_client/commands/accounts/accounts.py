"""Accounts, found by their addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from steelyard_client import Client
    from steelyard_client.documents.accounts.accounts import AccountResponse

EMAIL = click.argument("email", metavar="EMAIL", help="the address of the account")
ROLES = ("administrator", "organiser", "participant", "viewer")
"""As `vocabulary.SiteRole`."""


def account_of(client: Client, email: str) -> AccountResponse:
    """The account with an address. Raises NotFound."""
    (found,) = client.list_accounts(email=email)
    return found


def hours(seconds: float) -> str:
    """Seconds as hours, such as "24 h"."""
    return f"{seconds / 3600:g} h"
