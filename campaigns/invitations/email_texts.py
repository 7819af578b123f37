"""What is written in mails, and the links in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from campaigns.accounts.mail import Letter

if TYPE_CHECKING:
    from collections.abc import Callable

    from campaigns.invitations.invitations import KnownInvitation
    from runtime.service_settings import WebSettings

HOUR = 3600.0
LONGEST_NAMED = 40
"""Characters of a name that somebody has chosen: enough to know it by, too few for a message."""
_LINKING = re.compile(r"([.:/@\\])(?=\S)")
"""What programs that show mails look for to make a link."""


def site_url(settings: WebSettings) -> str:
    """Where the server is for people. Never what a request says of its host: anybody can say that."""
    if settings.public_url:
        return settings.public_url.rstrip("/")
    return f"http://{settings.web_host}:{settings.web_port}"


def invitation_link(settings: WebSettings, secret: str) -> str:
    """Where an invitation is accepted."""
    return f"{site_url(settings)}/invitations/{quote(secret, safe='')}"


def password_link(settings: WebSettings, secret: str) -> str:
    """Where a new password is set."""
    return f"{site_url(settings)}/password/{quote(secret, safe='')}"


def address_link(settings: WebSettings, secret: str) -> str:
    """Where an address is confirmed."""
    return f"{site_url(settings)}/account/confirm/{quote(secret, safe='')}"


def address_letter(settings: WebSettings, to: str, secret: str) -> Letter:
    """Asks whether an address is that of an account."""
    text = f"""\
Somebody, we think you, has an account with this address at
{site_url(settings)}

To confirm that the address is yours, sign in and open this link within {_hours(settings.confirmation_seconds)}:
{address_link(settings, secret)}

If it was not you, do nothing.
"""
    return Letter(to, "Confirm your address", text)


def password_letter(settings: WebSettings, to: str, secret: str) -> Letter:
    """Lets a new password be set."""
    text = f"""\
Somebody, we think you, has forgotten the password of the account with this address at
{site_url(settings)}

To set a new one, open this link within {_hours(settings.confirmation_seconds)}. It is good once:
{password_link(settings, secret)}

If it was not you, do nothing: the old password stays.
"""
    return Letter(to, "A new password", text)


def known_already_letter(settings: WebSettings, to: str) -> Letter:
    """Tells somebody who signs up again that he has an account."""
    text = f"""\
Somebody, we think you, wants to sign up with this address at
{site_url(settings)}

There is an account with it already. Sign in to it, or set a new password: if somebody else has made the account, that
signs him out everywhere, and it is yours.
{site_url(settings)}/sign-in
{site_url(settings)}/password/forgotten

If it was not you, do nothing.
"""
    return Letter(to, "You have an account", text)


def invitation_letter(settings: WebSettings, known: KnownInvitation, secret: str) -> Letter:
    """Brings an invitation."""
    who = f"The account {named(known.made_by)}" if known.made_by else "An administrator"
    text = f"""\
{who} invites you {invited_to(known, named)} at
{site_url(settings)}

To accept, open this link within {_days(settings.invitation_seconds)}. It is good once:
{invitation_link(settings, secret)}

What stands in quotes was chosen by those who use the server. If you do not know what this is about, do nothing.
"""
    return Letter(known.email, "An invitation", text)


def named(name: str | None) -> str:
    """A name that somebody has chosen, as mails say it: in quotes, cut, and without anything that becomes a link."""
    text = _LINKING.sub(r"\1 ", " ".join((name or "").replace('"', "'").split()))
    return f'"{text}"' if len(text) <= LONGEST_NAMED else f'"{text[:LONGEST_NAMED]}..."'


def invited_to(known: KnownInvitation, named: Callable[[str | None], str | None] = lambda name: name) -> str:
    """What an invitation is for, after "invites you". `named` says how names are written."""
    if known.team is not None and known.campaign is not None:
        return f"to take part in the campaign {named(known.campaign_title)} with the team {named(known.team)}"
    if known.team is not None:
        return f"to {'lead' if known.team_role == 'lead' else 'join'} the team {named(known.team)}"
    if known.campaign is None:
        return f"to have an account ({known.role})"
    if known.campaign_role is None:
        return f"to take part in the campaign {named(known.campaign_title)} with a team"
    doing = "organise" if known.campaign_role == "organiser" else "look at"
    return f"to {doing} the campaign {named(known.campaign_title)}"


def _hours(seconds: float) -> str:
    hours = round(seconds / HOUR)
    return f"{hours} hours" if hours > 1 else "an hour"


def _days(seconds: float) -> str:
    days = round(seconds / HOUR / 24)
    return f"{days} days" if days > 1 else _hours(seconds)
