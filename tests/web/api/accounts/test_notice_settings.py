"""What the API says of an account's notices: whether mails reach it at all."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from sqlalchemy import update

from models.database.session import writing
from models.schema.accounts import Account
from models.schema.base import now
from tests.service.service import Service


@pytest.mark.parametrize("sends", [True, False])
def test_mails_are_sent_to_confirmed_addresses_alone(service_url: str, sends: bool) -> None:
    with ExitStack() as stack:
        settings = {"mail_url": "smtp://localhost"} if sends else {}
        service = Service.start(service_url, stack, **settings)
        mary = service.account("mary")
        program = service.program(mary)
        for confirmed in (True, False):
            with writing(service.engine) as connection:
                mine = update(Account).where(Account.id == mary)
                connection.execute(mine.values(verified_at=now() if confirmed else None))
            assert program.get("/api/v1/notices/settings").json()["mails"] is (sends and confirmed)
