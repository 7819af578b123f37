"""The texts of e-mails, and the links in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from runtime.mail import Email
from runtime.service_settings import site_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from campaigns.invitations.invitations import InvitationInfo
    from runtime.service_settings import WebSettings

HOUR = 3600.0
MAX_QUOTED_LENGTH = 40
"""Characters of a user-chosen name: enough to recognise it, too few for a message."""
_LINKING = re.compile(r"([.:/@\\])(?=\S)")
"""What mail programs look for to make a link."""


def invitation_link(settings: WebSettings, secret: str) -> str:
    """Return the link to accept an invitation."""
    return f"{site_url(settings)}/invitations/{quote(secret, safe='')}"


def password_link(settings: WebSettings, secret: str) -> str:
    """Return the link to set a new password."""
    return f"{site_url(settings)}/password/{quote(secret, safe='')}"


def address_link(settings: WebSettings, secret: str) -> str:
    """Return the link to confirm an address."""
    return f"{site_url(settings)}/account/confirm/{quote(secret, safe='')}"


def address_email(settings: WebSettings, to: str, secret: str) -> Email:
    """Return the e-mail that asks to confirm the address of an account."""
    text = f"""\
Please confirm your e-mail address for your account at
{site_url(settings)}

Sign in and open this link within {_hours(settings.confirmation_seconds)}:
{address_link(settings, secret)}

If this was not you, ignore this message.
"""
    return Email(to, "Confirm your e-mail address", text)


def password_email(settings: WebSettings, to: str, secret: str) -> Email:
    """Return the e-mail that allows setting a new password."""
    text = f"""\
We received a request to reset the password of the account with this address at
{site_url(settings)}

To set a new one, open this link within {_hours(settings.confirmation_seconds)}. It works once:
{password_link(settings, secret)}

If this was not you, ignore this message; your password stays unchanged.
"""
    return Email(to, "Reset your password", text)


def already_known_email(settings: WebSettings, to: str) -> Email:
    """Return the e-mail for a sign-up with an address that has an account already."""
    text = f"""\
We received a request to sign up with this address at
{site_url(settings)}

There is already an account with this address. Sign in, or set a new password. If somebody else created the account,
setting a new password signs them out everywhere.
{site_url(settings)}/sign-in
{site_url(settings)}/password/forgotten

If this was not you, ignore this message.
"""
    return Email(to, "You already have an account", text)


def invitation_email(settings: WebSettings, known: InvitationInfo, secret: str) -> Email:
    """Return the e-mail with an invitation."""
    who = f"The account {quoted_name(known.made_by)}" if known.made_by else "An administrator"
    text = f"""\
{who} invites you {invited_to(known, quoted_name)} at
{site_url(settings)}

To accept, open this link within {_days(settings.invitation_seconds)}. It works once:
{invitation_link(settings, secret)}

Quoted names were chosen by users of the server. If you did not expect this invitation, ignore this message.
"""
    return Email(known.email, "Invitation to Steelyard", text)


def quoted_name(name: str | None) -> str:
    """Return a user-chosen name for e-mails: quoted, shortened, and with nothing that becomes a link."""
    text = _LINKING.sub(r"\1 ", " ".join((name or "").replace('"', "'").split()))
    return f'"{text}"' if len(text) <= MAX_QUOTED_LENGTH else f'"{text[:MAX_QUOTED_LENGTH]}..."'


def invited_to(known: InvitationInfo, named: Callable[[str | None], str | None] = lambda name: name) -> str:
    """Return what an invitation is for, to follow "invites you". `named` formats the names, such as `quoted_name`."""
    if known.team is not None and known.campaign is not None:
        return f"to participate in the campaign {named(known.campaign_title)} with the team {named(known.team)}"
    if known.team is not None:
        return f"to {'lead' if known.team_role == 'lead' else 'join'} the team {named(known.team)}"
    if known.campaign is None:
        return f"to create an account ({known.role})"
    if known.campaign_role is None:
        return f"to participate in the campaign {named(known.campaign_title)} with a team"
    doing = "organise" if known.campaign_role == "organiser" else "view"
    return f"to {doing} the campaign {named(known.campaign_title)}"


def _hours(seconds: float) -> str:
    hours = round(seconds / HOUR)
    return f"{hours} hours" if hours > 1 else "an hour"


def _days(seconds: float) -> str:
    days = round(seconds / HOUR / 24)
    return f"{days} days" if days > 1 else _hours(seconds)
