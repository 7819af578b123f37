"""Accounts made by an invitation to an address: for that address alone, and the invitation stays good until then."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE, NOBODY
from campaigns.accounts.throttle import Throttle
from campaigns.errors import BadRequest
from campaigns.invitations.invitations import make_invitation
from campaigns.invitations.sign_up import sign_up
from models.database.session import reading, writing
from models.schema.accounts import Account, Invitation
from tests.service.people import PASSWORD
from tests.service.service import Service


@pytest.mark.usefixtures("quick_hashing")
def test_an_invitation_to_an_address_makes_no_account_of_another(service: Service) -> None:
    with writing(service.engine) as connection:
        _, secret = make_invitation(connection, COMMAND_LINE, 3600.0, email="zoe@example.org")

    def signed_up(email: str) -> None:
        sign_up(
            service.engine, service.settings, Throttle("memory://"), NOBODY, email=email, name="Zoe", password=PASSWORD,
            invitation=secret,
        )  # fmt: skip

    with pytest.raises(BadRequest) as refused:
        signed_up("eve@example.org")
    assert str(refused.value) == "This invitation is for another e-mail address. Sign up with that one."
    with reading(service.engine) as connection:
        assert connection.scalars(select(Account.email)).all() == []
        assert connection.scalars(select(Invitation.used_at)).all() == [None]
    signed_up("Zoe@Example.org")
    with reading(service.engine) as connection:
        assert connection.scalars(select(Account.email)).all() == ["zoe@example.org"]
        assert None not in connection.scalars(select(Invitation.used_at)).all()
