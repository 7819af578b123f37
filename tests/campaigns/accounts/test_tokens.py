"""API tokens: their scopes, how long they live, and who revokes them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from campaigns.accounts.principal import COMMAND_LINE, principal_of_token
from campaigns.accounts.secrets import hash_of, new_secret
from campaigns.accounts.tokens import MAX_TOKENS, check_scopes, list_tokens, make_token, revoke_token
from campaigns.errors import BadRequest, Conflict, NotFound
from models.database.session import writing
from models.schema.accounts import ApiToken, AuditEntry
from models.schema.base import now
from models.schema.roles import Scope
from tests.campaigns.accounts.owners import HOUR, mary_of
from tests.service.people import audited
from tests.service.service import Service


def test_what_scopes_there_are() -> None:
    assert check_scopes(["submit", "read", "read"]) == [each for each in Scope if each in ("read", "submit")]
    assert check_scopes(iter([*Scope])) == [*Scope]
    for wrong in ([], ["all"], ["read", "READ"]):
        with pytest.raises(BadRequest):
            check_scopes(wrong)


def test_how_long_a_token_lives(service: Service) -> None:
    mary = mary_of(service)
    with writing(service.engine) as connection:
        for days in (1, 30):
            number, secret = make_token(connection, mary, mary.account_id or 0, " x ", ["read"], days, 30)
            row = connection.execute(select(ApiToken).where(ApiToken.id == number)).one()
            assert row.expires_at - row.created_at == pytest.approx(days * 86400, abs=60)
            assert (row.name, row.scopes, row.account_id, row.revoked_at) == ("x", ["read"], mary.account_id, None)
            assert row.secret_hash == hash_of(secret)
            assert principal_of_token(connection, secret).token_id == number
        for days in (0, 31, -1):
            with pytest.raises(BadRequest):
                make_token(connection, mary, mary.account_id or 0, "x", ["read"], days, 30)
        details = connection.scalars(select(AuditEntry.details).order_by(AuditEntry.id)).first()
    assert details == {"name": "x", "scopes": ["read"], "days": 1}
    assert audited(service)[0] == ("mary@example.org", "token.make", "token 1 of account mary@example.org")


def test_an_account_has_fifty_tokens_that_are_good(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    row = {"name": "x", "scopes": ["read"], "expires_at": now() + HOUR}
    with writing(service.engine) as connection:

        def add(account: int, **values: Any) -> None:
            made = {"secret_hash": new_secret(), "account_id": account, **row, **values}
            connection.execute(ApiToken.__table__.insert().values(**made))

        assert MAX_TOKENS == 50
        for _ in range(MAX_TOKENS - 1):
            add(mary)
            add(zoe)
        add(mary, revoked_at=1.0)
        add(mary, expires_at=now() - HOUR)
        make_token(connection, COMMAND_LINE, mary, "x", ["read"], 1, 30)
        with pytest.raises(Conflict):
            make_token(connection, COMMAND_LINE, mary, "x", ["read"], 1, 30)
        make_token(connection, COMMAND_LINE, zoe, "x", ["read"], 1, 30)


def test_tokens_are_listed_and_revoked_by_their_owner(service: Service) -> None:
    mary, zoe = service.account("mary"), service.account("zoe")
    with writing(service.engine) as connection:
        for account in (mary, zoe, mary, mary, mary):
            make_token(connection, COMMAND_LINE, account, f"of {account}", ["submit", "read"], 1, 30)
        for number, values in ((3, {"revoked_at": 5.0}), (4, {"expires_at": now() - 1}), (5, {"expires_at": None})):
            connection.execute(update(ApiToken).where(ApiToken.id == number).values(**values))
        listed = list_tokens(connection, mary)
        assert [(each.id, each.alive) for each in listed] == [(5, True), (4, False), (3, False), (1, True)]
        assert {each.name for each in listed} == {f"of {mary}"}
        assert set(listed[0].scopes) == {Scope.READ, Scope.SUBMIT}
        for number in (2, 99):
            with pytest.raises(NotFound):
                revoke_token(connection, COMMAND_LINE, mary, number)
        before = len(audited(service))
        revoke_token(connection, COMMAND_LINE, mary, 1)
        revoke_token(connection, COMMAND_LINE, mary, 3)
        revoked = {row.id: row.revoked_at for row in connection.execute(select(ApiToken.id, ApiToken.revoked_at))}
    assert revoked.pop(1) is not None
    assert revoked == {2: None, 3: 5.0, 4: None, 5: None}
    assert [action for _, action, _ in audited(service)[before:]] == ["token.make"] * 5 + ["token.revoke"]
