"""Who guesses a password slows down himself, and keeps the owner neither out nor in for ever."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import select, update

from campaigns.accounts.principal import principal_of_session, record_use
from campaigns.accounts.sessions import EVERYWHERE_FACTOR, UNDER_ATTACK, create_session
from models.database.session import reading, writing
from models.schema.accounts import Account, WebSession
from models.schema.base import now
from runtime.service_settings import Lifetime
from tests.service.people import PASSWORD, with_password
from tests.service.service import DAY, Service

pytestmark = pytest.mark.usefixtures("quick_hashing")
TRIES = 2
OWN, EVIL = "198.51.100.1", "192.0.2.1"


@pytest.fixture
def guessed(service_url: str) -> Iterator[Service]:
    """A server with the account of mary."""
    with ExitStack() as stack:
        service = Service.start(service_url, stack, sign_in_tries=TRIES)
        with_password(service, service.account("mary"))
        yield service


def tried(service: Service, password: str, address: str, email: str = "mary@example.org") -> Any:
    body = {"name": "x", "email": email, "password": password}
    return service.client(client=(address, 1)).post("/api/v1/tokens", json=body)


def test_who_guesses_is_slowed_down_and_the_owner_is_not(guessed: Service) -> None:
    assert [tried(guessed, "wrong", EVIL).status_code for _ in range(TRIES + 1)] == [401] * TRIES + [429]
    assert tried(guessed, PASSWORD, EVIL).status_code == 429
    assert tried(guessed, PASSWORD, OWN).status_code == 201


def test_guesses_from_everywhere_keep_nobody_out(guessed: Service) -> None:
    codes = {tried(guessed, "wrong", f"192.0.2.{n // TRIES}").status_code for n in range(EVERYWHERE_FACTOR * TRIES + 5)}
    assert codes == {401}
    # Each further network has a few tries; one that has the right password is in, and may err again.
    assert tried(guessed, "mistyped", OWN).status_code == 401
    assert tried(guessed, PASSWORD, OWN).status_code == 201
    fresh = "203.0.113.1"
    few = min(TRIES, UNDER_ATTACK.times)
    assert [tried(guessed, "wrong", fresh).status_code for _ in range(few + 1)] == [401] * few + [429]
    assert 0 < int(tried(guessed, "wrong", fresh).headers["Retry-After"]) <= 1800


def test_whether_there_is_an_account_is_not_revealed_by_when_one_has_to_wait(guessed: Service) -> None:
    seen = []
    for place, email in enumerate(("mary@example.org", "nobody@example.org")):
        answers = [
            tried(guessed, "wrong", f"192.0.{place}.{n // 3}", email) for n in range(EVERYWHERE_FACTOR * TRIES + 9)
        ]
        seen.append([(answer.status_code, answer.json()["error"]["message"]) for answer in answers])
        assert email not in "".join(answer.text for answer in answers)
    assert seen[0] == seen[1]


def test_a_stolen_session_does_not_keep_its_owner_from_a_new_password(guessed: Service) -> None:
    with reading(guessed.engine) as connection:
        mary = connection.execute(select(Account.id)).scalar_one()
    thief = guessed.client(client=(EVIL, 1), headers=dict(guessed.program(mary).headers))
    change = {"old": "wrong", "new": "another horse battery"}
    codes = [thief.put("/api/v1/account/password", json=change).status_code for _ in range(TRIES + 1)]
    assert codes == [422] * TRIES + [429]
    owner = guessed.client(client=(OWN, 1), headers=dict(guessed.program(mary).headers))
    assert owner.put("/api/v1/account/password", json={**change, "old": PASSWORD}).status_code == 200


def test_a_session_ends_however_much_it_is_used(guessed: Service) -> None:
    lifetime = Lifetime(14 * DAY, 90 * DAY)
    assert guessed.settings.session_lifetime == lifetime
    mary = guessed.account("zoe")
    who = principal_of(guessed, guessed.session(mary))
    with writing(guessed.engine) as connection:
        secret = create_session(connection, who, lifetime)
        new = WebSession.id == principal_of_session(connection, secret).session_id
        assert left(connection, new) == pytest.approx(14 * DAY, abs=60)
        for age, expected in ((10 * DAY, 14 * DAY), (80 * DAY, 10 * DAY), (91 * DAY, -DAY)):
            made = update(WebSession).where(new)
            connection.execute(made.values(created_at=now() - age, seen_at=now() - 100, expires_at=now() + DAY))
            record_use(connection, principal_of_session(connection, secret), lifetime)
            assert left(connection, new) == pytest.approx(expected, abs=60)
        assert not principal_of_session(connection, secret).signed_in
        short = create_session(connection, who, Lifetime(14 * DAY, DAY))
        mine = WebSession.id == principal_of_session(connection, short).session_id
        assert left(connection, mine) == pytest.approx(DAY, abs=60)


def left(connection: Any, which: Any) -> float:
    return float(connection.scalar(select(WebSession.expires_at - now()).where(which)))


def principal_of(service: Service, secret: str) -> Any:
    with reading(service.engine) as connection:
        return principal_of_session(connection, secret)
