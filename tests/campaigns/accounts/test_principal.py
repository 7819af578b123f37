"""Who asks: what a session and a token are good for, from when to when, and what is noted of their use."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, update

from campaigns.accounts.principal import (
    COMMAND_LINE,
    EVERY_SCOPE,
    NOBODY,
    Principal,
    principal_of_account,
    principal_of_session,
    principal_of_token,
    record_use,
)
from campaigns.errors import Forbidden, NotSignedIn
from models.database.session import reading, writing
from models.schema.accounts import Account, ApiToken, AuditEntry, WebSession
from models.schema.base import now
from models.schema.roles import Scope, SiteRole, TeamRole
from runtime.service_settings import Lifetime
from tests.service.service import Service

TABLES = {"session": WebSession, "token": ApiToken}


def secret_of(service: Service, kind: str, account: int, *scopes: Scope) -> str:
    if kind == "session":
        return service.session(account)
    return service.program(account, *scopes).headers["Authorization"].removeprefix("Bearer ")


def who(service: Service, kind: str, secret: str) -> Principal:
    find = principal_of_session if kind == "session" else principal_of_token
    with reading(service.engine) as connection:
        return find(connection, secret, "192.0.2.1")


def change(service: Service, table: Any, **values: Any) -> None:
    with writing(service.engine) as connection:
        connection.execute(update(table).values(**values))


@pytest.mark.parametrize("kind", TABLES)
def test_who_has_a_good_secret(service: Service, kind: str) -> None:
    eve, mary = service.account("eve"), service.account("mary", SiteRole.ORGANISER)
    service.team("zebra", mary, eve)
    service.team("ants", eve, mary)
    service.team("bees", eve)
    secret_of(service, kind, eve)
    found = who(service, kind, secret_of(service, kind, mary, Scope.READ, Scope.SUBMIT))
    assert (found.account_id, found.email, found.name) == (mary, "mary@example.org", "mary")
    assert (found.role, found.verified, found.address) == (SiteRole.ORGANISER, True, "192.0.2.1")
    assert (found.signed_in, found.administrates, found.may_create_campaigns) == (True, False, True)
    assert list(found.teams.items()) == [("ants", TeamRole.MEMBER), ("zebra", TeamRole.LEAD)]
    assert found.scopes == (EVERY_SCOPE if kind == "session" else {Scope.READ, Scope.SUBMIT})
    assert (found.session_id, found.token_id) == ((2, None) if kind == "session" else (None, 2))
    change(service, Account, verified_at=None)
    assert not who(service, kind, secret_of(service, kind, mary)).verified


@pytest.mark.parametrize("kind", TABLES)
def test_a_secret_of_the_other_kind_or_of_nobody_is_good_for_nothing(service: Service, kind: str) -> None:
    mary = service.account("mary")
    secrets = {each: secret_of(service, each, mary) for each in TABLES}
    (other,) = TABLES.keys() - {kind}
    for secret in (secrets[other], secrets[kind] + "x", secrets[kind][:-1], ""):
        found = who(service, kind, secret)
        assert found == Principal(address="192.0.2.1")
        assert not found.signed_in


@pytest.mark.parametrize(
    ("kind", "table", "values", "good"),
    [
        ("session", WebSession, {"expires_at": now() + 60}, True),
        ("session", WebSession, {"expires_at": now()}, False),
        ("session", WebSession, {"expires_at": now() - 60}, False),
        ("token", ApiToken, {"expires_at": now() + 60}, True),
        ("token", ApiToken, {"expires_at": now() - 60}, False),
        ("token", ApiToken, {"expires_at": now() + 60, "revoked_at": now() - 5}, False),
        ("token", ApiToken, {"revoked_at": now() - 5}, False),
        ("session", Account, {"disabled_at": now() - 5}, False),
        ("token", Account, {"disabled_at": now() - 5}, False),
    ],
)
def test_until_when_a_secret_is_good(
    service: Service, kind: str, table: Any, values: dict[str, Any], good: bool
) -> None:
    secret = secret_of(service, kind, service.account("mary"))
    change(service, table, **values)
    assert who(service, kind, secret).signed_in == good


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize(("ago", "noted"), [(30.0, False), (90.0, True), (-30.0, False), (3600.0, True)])
def test_use_is_noted_once_a_minute(service: Service, kind: str, ago: float, noted: bool) -> None:
    secret = secret_of(service, kind, service.account("mary"))
    table, column = (WebSession, "seen_at") if kind == "session" else (ApiToken, "used_at")
    change(service, table, **{column: now() - ago, "expires_at": now() + 50})
    before = moments(service, table, column)
    with writing(service.engine) as connection:
        record_use(connection, who(service, kind, secret), Lifetime(1000.0, 1e6))
    after = moments(service, table, column)
    if not noted:
        assert after == before
        return
    assert after[0] - before[0] == pytest.approx(ago, abs=30)
    # A session lives on from now; a token as long as it was made for.
    assert after[1] - before[1] == pytest.approx(950 if kind == "session" else 0, abs=30 if kind == "session" else 1e-9)


@pytest.mark.parametrize("kind", TABLES)
def test_use_of_one_says_nothing_of_others(service: Service, kind: str) -> None:
    table, column = (WebSession, "seen_at") if kind == "session" else (ApiToken, "used_at")
    mary, eve = service.account("mary"), service.account("eve")
    secrets = [secret_of(service, kind, each) for each in (mary, mary, eve)]
    change(service, table, **{column: 1.0, "expires_at": now() + 50})
    with writing(service.engine) as connection:
        record_use(connection, who(service, kind, secrets[1]), Lifetime(1000.0, 1e6))
    with reading(service.engine) as connection:
        rows = connection.execute(select(getattr(table, column)).order_by(table.id))
        assert [row[0] == 1.0 for row in rows] == [True, False, True]


def moments(service: Service, table: Any, column: str) -> tuple[float, float]:
    with reading(service.engine) as connection:
        row = connection.execute(select(getattr(table, column), table.expires_at)).one()
    return row[0], row[1]


def test_an_account_as_the_command_line_sees_for_it(service: Service) -> None:
    mary, eve = service.account("mary", SiteRole.ORGANISER), service.account("eve")
    service.team("zebra", mary, eve)
    change(service, Account, verified_at=None)

    def found(account: int) -> Principal:
        with reading(service.engine) as connection:
            return principal_of_account(connection, account, Scope.READ)

    teams = {"zebra": TeamRole.LEAD}
    known = Principal(mary, "mary@example.org", "mary", SiteRole.ORGANISER, scopes=frozenset({Scope.READ}), teams=teams)
    assert found(mary) == known
    assert found(eve + 1) == NOBODY
    change(service, Account, verified_at=now())
    assert found(mary).verified
    change(service, Account, disabled_at=now())
    assert found(mary) == NOBODY


def test_nobody_and_the_command_line() -> None:
    assert (NOBODY.signed_in, NOBODY.administrates, NOBODY.may_create_campaigns) == (False, False, False)
    assert (NOBODY.verified, NOBODY.scopes, dict(NOBODY.teams), NOBODY.role) == (False, frozenset(), {}, None)
    assert (COMMAND_LINE.administrates, COMMAND_LINE.may_create_campaigns) == (True, True)
    assert (COMMAND_LINE.signed_in, COMMAND_LINE.account_id, COMMAND_LINE.scopes) == (True, None, frozenset(Scope))
    for scope in Scope:
        for ask in (NOBODY.require, NOBODY.require_account):
            with pytest.raises(NotSignedIn):
                ask(scope)
        COMMAND_LINE.require(scope)
        with pytest.raises(Forbidden, match="Only an account can do that"):
            COMMAND_LINE.require_account(scope)


@pytest.mark.parametrize("role", SiteRole)
def test_what_each_role_may(role: SiteRole) -> None:
    principal = Principal(7, role=role, scopes=frozenset({Scope.READ}))
    assert principal.administrates == (role == SiteRole.ADMINISTRATOR)
    assert principal.may_create_campaigns == (role in (SiteRole.ADMINISTRATOR, SiteRole.ORGANISER))
    principal.require(Scope.READ)
    assert principal.require_account(Scope.READ) == 7
    for ask in (principal.require, principal.require_account):
        with pytest.raises(Forbidden, match=f"cannot be used to {Scope.SUBMIT}"):
            ask(Scope.SUBMIT)


def test_the_audit_log_says_who_it_was(service: Service) -> None:
    mary, campaign = service.account("mary"), service.campaign("wmt")
    signed_in = Principal(mary, "mary@example.org", address="192.0.2.7")
    with writing(service.engine) as connection:
        signed_in.audit(connection, "thing.change", "thing 1", campaign_id=campaign, why="so")
        NOBODY.audit(connection, "thing.see", "thing 2")
        COMMAND_LINE.audit(connection, "thing.make", "thing 3")
    with reading(service.engine) as connection:
        entries = connection.execute(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [
        (each.actor, each.account_id, each.address, each.action, each.subject, each.campaign_id, each.details)
        for each in entries
    ] == [
        ("mary@example.org", mary, "192.0.2.7", "thing.change", "thing 1", campaign, {"why": "so"}),
        ("nobody", None, "", "thing.see", "thing 2", None, {}),
        ("command line", None, "", "thing.make", "thing 3", None, {}),
    ]
