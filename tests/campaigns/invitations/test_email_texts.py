"""What mails say: which link they have, and how long it is good."""

from __future__ import annotations

import pytest

from campaigns.invitations.email_texts import (
    address_email,
    already_known_email,
    invitation_email,
    invited_to,
    password_email,
    quoted_name,
)
from campaigns.invitations.invitations import InvitationInfo
from models.schema.roles import CampaignRole, SiteRole, TeamRole
from runtime.service_settings import WebSettings

HOUR = 3600.0
SITE = "https://steelyard.example.org"
LINKING = "see evil.example/x"
"""A name from which mail programs would make a link."""


def settings(confirmation: float = 2 * HOUR, invitation: float = 72 * HOUR) -> WebSettings:
    return WebSettings(public_url=SITE, confirmation_seconds=round(confirmation), invitation_seconds=round(invitation))


def invitation(**what: object) -> InvitationInfo:
    known = dict.fromkeys(InvitationInfo.__dataclass_fields__)
    known |= {"id": 1, "email": "mary@example.org", "role": SiteRole.PARTICIPANT, "made_by": "olga", "alive": True}
    return InvitationInfo(**{**known, **what})  # type: ignore[arg-type]


def test_each_mail_has_its_own_link_and_says_how_long_it_is_good() -> None:
    for mail, link, within in (
        (address_email(settings(), "mary@example.org", "s/1"), f"{SITE}/account/confirm/s%2F1", "within 2 hours"),
        (password_email(settings(), "mary@example.org", "s/1"), f"{SITE}/password/s%2F1", "within 2 hours"),
        (invitation_email(settings(), invitation(), "s/1"), f"{SITE}/invitations/s%2F1", "within 3 days"),
    ):
        lines = mail.text.splitlines()
        assert link in lines
        assert [line for line in lines if within in line], mail.text
        assert mail.to == "mary@example.org"
    known = already_known_email(settings(), "mary@example.org").text.splitlines()
    assert {f"{SITE}/sign-in", f"{SITE}/password/forgotten"} <= {*known}


@pytest.mark.parametrize(
    ("hours", "of_address", "of_invitation"),
    [
        (1, "within an hour", "within an hour"),
        (2, "within 2 hours", "within 2 hours"),
        (24, "within 24 hours", "within 24 hours"),
        (48, "within 48 hours", "within 2 days"),
    ],
)
def test_times_are_said_in_hours_or_days(hours: int, of_address: str, of_invitation: str) -> None:
    chosen = settings(hours * HOUR, hours * HOUR)
    assert f"{of_address}:" in address_email(chosen, "mary@example.org", "x").text
    assert f"{of_invitation}." in invitation_email(chosen, invitation(), "x").text


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ({}, "to create an account (participant)"),
        ({"team": LINKING, "team_role": TeamRole.LEAD}, "to lead the team"),
        ({"team": LINKING, "team_role": TeamRole.MEMBER}, "to join the team"),
        ({"campaign": "wmt", "campaign_title": LINKING}, "to participate in the campaign"),
        ({"campaign": "wmt", "campaign_title": LINKING, "team": LINKING}, "to participate in the campaign"),
        ({"campaign": "wmt", "campaign_title": LINKING, "campaign_role": CampaignRole.ORGANISER}, "to organise the"),
        ({"campaign": "wmt", "campaign_title": LINKING, "campaign_role": CampaignRole.VIEWER}, "to view the campaign"),
        ({"made_by": LINKING}, "to create an account"),
    ],
)
def test_an_invitation_says_what_for_and_no_name_becomes_a_link(what: dict[str, object], said: str) -> None:
    known = invitation(**what)
    text = invitation_email(settings(), known, "x").text
    assert f" invites you {said}" in text
    assert LINKING not in text
    assert text.count('"see evil. example/ x"') == list(what.values()).count(LINKING)
    assert invited_to(known).startswith(said)


def test_names_are_quoted_and_not_longer_than_needed() -> None:
    assert quoted_name('a "b"\n c') == "\"a 'b' c\""
    assert quoted_name("x" * 40) == f'"{"x" * 40}"'
    assert quoted_name("x" * 41) == f'"{"x" * 40}..."'
    assert quoted_name(None) == '""'
    for linking in ("a.b", "a:b", "a/b", "a@b", "a\\b"):
        assert quoted_name(linking) == f'"{linking[:2]} {linking[2:]}"'
    assert quoted_name("The end.") == '"The end."'


def test_who_invites_is_named_unless_the_command_line_did() -> None:
    by_somebody, by_nobody = invitation(made_by="olga"), invitation(made_by=None)
    assert invitation_email(settings(), by_somebody, "x").text.startswith('The account "olga" invites you')
    assert invitation_email(settings(), by_nobody, "x").text.startswith("An administrator invites you")
