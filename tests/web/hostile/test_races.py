"""Many ask for the same thing at the same moment: one has it, the others get an error, and no log says what it was."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Barrier
from typing import Any

import pytest
from httpx import Response
from sqlalchemy import func, insert, select
from sqlalchemy.exc import IntegrityError

from campaigns.accounts.teams import MAX_TEAMS
from campaigns.accounts.tokens import MAX_TOKENS
from models.database.session import reading, writing
from models.database.upsert import insert_new
from models.schema.accounts import Account, ApiToken, Membership, Team
from models.schema.campaigns import Campaign
from models.schema.roles import SiteRole, TeamRole
from scheduler.errors import BadIngest
from scheduler.ingest.campaigns import store_campaign
from tests.service.service import Service

AT_ONCE = 8
SECRET = "canaryvalue"


@pytest.fixture
def both(database_url: str) -> Iterator[Service]:
    """The service on each kind of database."""
    with ExitStack() as stack:
        yield Service.start(database_url, stack)


def at_once(asks: list[Callable[[], Response]]) -> list[int]:
    """The answers' codes, in order of size."""
    barrier = Barrier(len(asks))

    def run(ask: Callable[[], Response]) -> int:
        barrier.wait()
        return ask().status_code

    with ThreadPoolExecutor(len(asks)) as threads:
        return sorted(threads.map(run, asks))


def asking(service: Service, account: int, method: str, path: str, bodies: list[dict[str, Any]]) -> list[Any]:
    program = service.program(account)

    def ask(body: dict[str, Any]) -> Callable[[], Response]:
        client = service.client(headers=dict(program.headers))
        return lambda: client.request(method, f"/api/v1{path}", json=body)

    return [ask(body) for body in bodies]


NAMES = ("Wave", "wave", "WAVE", "Ｗave")
NAMED: dict[str, tuple[str, list[dict[str, Any]], Any]] = {
    "campaigns": ("/campaigns", [{"name": each} for each in NAMES * 2], Campaign),
    "teams": ("/teams", [{"name": each} for each in NAMES * 2], Team),
    "publication names": (
        "/teams",
        [{"name": f"t{n}", "publication_name": each} for n, each in enumerate(NAMES * 2)],
        Team,
    ),
    "accounts": (
        "/accounts",
        [{"email": f"{each}@example.org", "name": "x"} for each in ("Wave", "wave") * 4],
        Account,
    ),
}


@pytest.mark.parametrize("what", NAMED)
def test_one_of_many_has_a_name_and_the_others_are_refused(
    both: Service, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    anna = both.account("anna", SiteRole.ADMINISTRATOR)
    path, bodies, table = NAMED[what]
    codes = at_once(asking(both, anna, "POST", path, bodies))
    assert codes == [201] + [409] * (len(bodies) - 1)
    with reading(both.engine) as connection:
        there = connection.scalar(select(func.count()).select_from(table))
    assert there == (2 if table is Account else 1)
    assert "ave" not in caplog.text.replace("have", "")


def test_nobody_leads_more_teams_than_he_may(both: Service) -> None:
    mary = both.account("mary")
    for n in range(MAX_TEAMS - 2):
        both.team(f"team-{n}", mary)
    codes = at_once(asking(both, mary, "POST", "/teams", [{"name": f"new-{n}"} for n in range(AT_ONCE)]))
    assert codes == [201] * 2 + [409] * (AT_ONCE - 2)
    with reading(both.engine) as connection:
        led = select(func.count()).where(Membership.account_id == mary, Membership.role == TeamRole.LEAD)
        assert connection.scalar(led) == MAX_TEAMS


def test_nobody_has_more_tokens_than_he_may(both: Service) -> None:
    mary = both.account("mary")
    with writing(both.engine) as connection:
        row = {"account_id": mary, "name": "x", "scopes": ["read"], "expires_at": 1e12}
        rows = [{**row, "secret_hash": str(n)} for n in range(MAX_TOKENS - 2)]
        connection.execute(insert(ApiToken), rows)
    browsers = [both.browser(mary) for _ in range(5)]
    asks = [lambda each=each: each.post("/api/v1/tokens", json={"name": "new"}) for each in browsers]
    assert at_once(asks) == [201] * 2 + [409] * 3  # type: ignore[arg-type]


def test_errors_of_the_database_say_no_values(both: Service) -> None:
    """Whatever key or check a row breaks, and whoever writes it to a log."""
    row = {"email": SECRET, "name": SECRET}
    broken: list[Any] = [
        insert(Account).values(**row),
        insert(Account).values(email=f"{SECRET}2", name=SECRET, role=SECRET[:8]),
        insert(Membership).values(team_id=987654321, account_id=987654321),
        insert(Account).values(email=f"{SECRET}3"),
    ]
    with writing(both.engine) as connection:
        connection.execute(broken[0])
    for statement in broken:
        with pytest.raises(IntegrityError) as caught, writing(both.engine) as connection:
            connection.execute(statement)
        said = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(caught.value.orig)
        lines = [line for line in said.splitlines() if not line.lstrip().startswith(("insert(", "broken", "row ="))]
        assert SECRET not in "\n".join(lines)
        assert "987654321" not in "\n".join(lines)
        assert "constraint" in said


def test_a_name_like_another_is_refused_from_the_command_line_too(both: Service) -> None:
    with writing(both.engine) as connection:
        assert store_campaign(connection, "Wave") == store_campaign(connection, "Wave")
        with pytest.raises(BadIngest, match='"Wave", which looks like "wave"'):
            store_campaign(connection, "wave")
        assert insert_new(connection, Campaign, {"name": "WAVE", "folded_name": "wave"}) is None
