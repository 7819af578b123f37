"""The link for the first account."""

import pytest
from sqlalchemy import insert, select

from campaigns.accounts.bootstrap_admin import LINK_SECONDS, bootstrap_link
from campaigns.accounts.principal import Principal
from campaigns.accounts.secrets import hash_of
from campaigns.errors import CampaignsError
from campaigns.invitations.sign_up import sign_up
from models.database.session import reading, writing
from models.schema.accounts import Account, AuditEntry, Invitation
from models.schema.base import now
from models.schema.roles import SiteRole
from tests.service.service import DAY, Service


def test_a_server_without_accounts_invites_an_administrator(service: Service) -> None:
    link = bootstrap_link(service.engine, service.settings, "https://mt.example.org")
    assert link is not None
    address, _, secret = link.rpartition("/")
    assert address == "https://mt.example.org/invitations"
    with reading(service.engine) as connection:
        (invitation,) = connection.execute(select(Invitation)).all()
        (entry,) = connection.execute(select(AuditEntry)).all()
    assert (invitation.role, invitation.secret_hash) == (SiteRole.ADMINISTRATOR, hash_of(secret))
    assert secret not in str(entry)


@pytest.mark.parametrize(("setting", "seconds"), [(14 * DAY, DAY), (3600.0, 3600.0)])
def test_the_link_lasts_a_day_and_no_longer_than_other_invitations(
    service: Service, setting: float, seconds: float
) -> None:
    assert LINK_SECONDS == DAY
    bootstrap_link(service.engine, service.settings.model_copy(update={"invitation_seconds": setting}), "")
    with reading(service.engine) as connection:
        (lasts,) = connection.scalars(select(Invitation.expires_at - Invitation.created_at)).all()
    assert lasts == pytest.approx(seconds, abs=60)


def test_a_new_link_takes_no_invitation_away(service: Service) -> None:
    """Those that somebody sent, to an address or by hand, and the one that was used."""
    others = [
        {"role": SiteRole.ADMINISTRATOR, "email": "ann@example.org"},
        {"role": SiteRole.ADMINISTRATOR, "used_at": 1.0},
        {"role": SiteRole.ORGANISER},
    ]
    with writing(service.engine) as connection:
        for number, values in enumerate(others):
            row = {"secret_hash": f"{number}", "expires_at": now() + DAY, **values}
            connection.execute(insert(Invitation).values(**row))
    for _ in range(2):
        bootstrap_link(service.engine, service.settings, "")
    with reading(service.engine) as connection:
        kept = connection.scalars(select(Invitation.secret_hash).order_by(Invitation.id)).all()
    assert (list(kept[:3]), len(kept)) == (["0", "1", "2"], 4)


def test_only_the_last_link_is_good(service: Service) -> None:
    links = [bootstrap_link(service.engine, service.settings, "") or "" for _ in range(2)]
    with reading(service.engine) as connection:
        hashes = connection.scalars(select(Invitation.secret_hash)).all()
    assert hashes == [hash_of(links[-1].rpartition("/")[2])]


def test_with_an_account_there_is_none(service: Service) -> None:
    service.account("mary")
    assert bootstrap_link(service.engine, service.settings, "") is None
    with reading(service.engine) as connection:
        assert connection.execute(select(Invitation)).all() == []


def test_who_has_the_link_becomes_the_administrator_and_nobody_else_does(service: Service) -> None:
    secret = (bootstrap_link(service.engine, service.settings, "") or "").rpartition("/")[2]
    state = service.app.state.steelyard

    def sign_up_as(name: str) -> None:
        sign_up(
            service.engine, service.settings, state.throttle, Principal(), email=f"{name}@example.org", name=name,
            password="a sloop named Ketch", invitation=secret,
        )  # fmt: skip

    sign_up_as("ann")
    with reading(service.engine) as connection:
        assert connection.execute(select(Account.email, Account.role)).all() == [("ann@example.org", "administrator")]
    with pytest.raises(CampaignsError):
        sign_up_as("eve")
