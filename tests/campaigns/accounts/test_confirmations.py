"""Links that confirm an address or set a password: good once, for a while, for their owner."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from campaigns.accounts.confirmations import (
    confirm_address,
    find_confirmation,
    issue_password_link,
    make_confirmation,
    set_password_by_link,
)
from campaigns.accounts.principal import COMMAND_LINE, NOBODY, Principal
from campaigns.accounts.secrets import new_secret
from campaigns.errors import Conflict, Forbidden, NotFound
from models.database.session import reading, writing
from models.schema.accounts import Account, ApiToken, Confirmation, Invitation
from models.schema.base import now
from models.schema.roles import SiteRole
from tests.campaigns.accounts.owners import HOUR, mary_of, owners
from tests.service.people import audited
from tests.service.service import Service


def link(service: Service, account: int, purpose: Any = "address", sent_to: str = "", seconds: float = HOUR) -> str:
    with writing(service.engine) as connection:
        return make_confirmation(connection, account, purpose, seconds, sent_to=sent_to)


def test_a_new_link_is_instead_of_the_old_one_for_the_same(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    old = link(service, mary)
    other = link(service, mary, "password"), link(service, zoe)
    new = link(service, mary, sent_to="mary@example.org")
    with reading(service.engine) as connection:
        found = find_confirmation(connection, new, "address")
        assert (found.account_id, found.email, found.name, found.sent_to) == (
            *(mary, "mary@example.org", "mary", "mary@example.org"),
        )
        assert find_confirmation(connection, other[0], "password").account_id == mary
        assert find_confirmation(connection, other[1], "address").account_id == zoe
        for secret, purpose in ((old, "address"), (new, "password"), (other[0], "address"), ("", "address")):
            with pytest.raises(NotFound):
                find_confirmation(connection, secret, purpose)  # type: ignore[arg-type]
        expires = connection.scalars(select(Confirmation.expires_at - Confirmation.created_at)).first()
    assert expires == pytest.approx(HOUR, abs=60)


@pytest.mark.parametrize(
    ("table", "values"),
    [(Confirmation, {"used_at": 1.0}), (Confirmation, {"expires_at": now() - 1}), (Account, {"disabled_at": 1.0})],
)
def test_a_link_is_good_once_and_not_for_ever(service: Service, table: Any, values: dict[str, Any]) -> None:
    secret = link(service, service.account("mary"))
    with writing(service.engine) as connection:
        find_confirmation(connection, secret, "address")
        connection.execute(update(table).values(**values))
        with pytest.raises(NotFound):
            find_confirmation(connection, secret, "address")


def test_an_address_is_confirmed_by_its_owner(service: Service) -> None:
    mary, zoe = mary_of(service), service.account("zoe")
    with writing(service.engine) as connection:
        connection.execute(update(Account).values(verified_at=None))
    others = link(service, zoe)
    secret = link(service, mary.account_id or 0, sent_to="mary@example.org")
    with writing(service.engine) as connection:
        for who in (Principal(zoe, "zoe@example.org"), NOBODY):
            with pytest.raises(Forbidden):
                confirm_address(connection, who, secret)
        confirm_address(connection, mary, secret)
        verified = {row.id: row.verified_at for row in connection.execute(select(Account.id, Account.verified_at))}
        assert (verified[mary.account_id or 0] is not None, verified[zoe]) == (True, None)
        assert find_confirmation(connection, others, "address").account_id == zoe
        with pytest.raises(NotFound):
            confirm_address(connection, mary, secret)
        connection.execute(update(Account).where(Account.id == mary.account_id).values(verified_at=5.0))
    again, elsewhere = (
        link(service, mary.account_id or 0, sent_to=to) for to in ("mary@example.org", "old@example.org")
    )
    with writing(service.engine) as connection:
        with pytest.raises(NotFound, match="Request a new one"):
            confirm_address(connection, mary, elsewhere)
        with pytest.raises(NotFound):
            confirm_address(connection, mary, again)
    last = link(service, mary.account_id or 0, sent_to="mary@example.org")
    with writing(service.engine) as connection:
        confirm_address(connection, mary, last)
        assert connection.scalar(select(Account.verified_at).where(Account.id == mary.account_id)) == 5.0
    assert audited(service) == [("mary@example.org", "account.verify", "account mary@example.org")] * 2


@pytest.mark.parametrize(
    ("sent_to", "before", "verified"),
    [
        ("mary@example.org", None, True),
        ("mary@example.org", 5.0, True),
        ("", None, False),
    ],
)
def test_a_password_by_a_link_shuts_out_who_knew_the_old_one(
    service: Service, sent_to: str, before: float | None, verified: bool
) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    for account in (mary, zoe):
        service.session(account)
        service.program(account)
        service.program(account)
    with writing(service.engine) as connection:
        connection.execute(update(Account).values(verified_at=before))
        connection.execute(update(ApiToken).where(ApiToken.id == 2).values(revoked_at=7.0))
        for maker, values in ((mary, {}), (zoe, {}), (mary, {"used_at": 5.0}), (mary, {"expires_at": 9.0})):
            row = {"secret_hash": new_secret(), "made_by": maker, "expires_at": now() + HOUR, **values}
            connection.execute(Invitation.__table__.insert().values(**row))
        others = connection.execute(select(Account).where(Account.id == zoe)).one()
    secret = link(service, mary, "password", sent_to)
    with writing(service.engine) as connection:
        with pytest.raises(NotFound):
            set_password_by_link(connection, NOBODY, secret + "x", "hash")
        assert set_password_by_link(connection, NOBODY, secret, "hash").account_id == mary
        row = connection.execute(select(Account).where(Account.id == mary)).one()
        assert (row.password_hash, row.verified_at is not None) == ("hash", verified)
        assert before is None or row.verified_at == before
        assert connection.execute(select(Account).where(Account.id == zoe)).one() == others
        assert owners(connection) == [zoe]
        revoked = list(connection.scalars(select(ApiToken.revoked_at).order_by(ApiToken.id)))
        assert (revoked[0] is not None, revoked[1], revoked[2:]) == (True, 7.0, [None, None])
        ends = select(Invitation.expires_at, Invitation.expires_at > now()).order_by(Invitation.id)
        expires, alive = zip(*connection.execute(ends), strict=True)
        assert (alive, expires[3]) == ((False, True, True, False), 9.0), "those that he made and nobody has used"
        with pytest.raises(NotFound):
            set_password_by_link(connection, NOBODY, secret, "other")
    assert audited(service) == [("nobody", "account.password", "account mary@example.org")]


def test_administrators_hand_out_links_for_passwords(service: Service) -> None:
    mary, disabled = service.account("mary"), service.account("zoe")
    with writing(service.engine) as connection:
        connection.execute(update(Account).where(Account.id == disabled).values(disabled_at=1.0))
        with pytest.raises(Forbidden):
            issue_password_link(connection, Principal(mary, role=SiteRole.ORGANISER), mary, HOUR)
        with pytest.raises(Conflict):
            issue_password_link(connection, COMMAND_LINE, disabled, HOUR)
        secret = issue_password_link(connection, COMMAND_LINE, mary, HOUR)
        assert find_confirmation(connection, secret, "password").sent_to == ""
    assert audited(service) == [("command line", "account.password_link", "account mary@example.org")]
