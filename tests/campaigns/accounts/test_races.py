"""What two people do at the same moment: one of them is first, on both databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from threading import Barrier

import pytest
from sqlalchemy import Connection, func, select

from campaigns.accounts.accounts import add_account, read_account, set_disabled
from campaigns.accounts.confirmations import make_confirmation, set_password_by_link
from campaigns.accounts.principal import COMMAND_LINE, NOBODY, Principal
from campaigns.accounts.teams import create_team, remove_from_team
from campaigns.errors import CampaignsError, Conflict, NotFound
from campaigns.invitations.invitations import accept_invitation, make_invitation
from models.database.session import reading, writing
from models.schema.accounts import Account, Membership
from models.schema.roles import SiteRole, TeamRole
from tests.service.people import CHEAPLY_HASHED, with_password
from tests.service.service import Service


@pytest.fixture
def both(database_url: str) -> Iterator[Service]:
    """The service on each kind of database."""
    with ExitStack() as stack:
        yield Service.start(database_url, stack)


def at_once(service: Service, *changes: Callable[[Connection], object]) -> list[type[CampaignsError] | None]:
    """What came of changes that begin at the same moment, each in its own transaction."""
    barrier = Barrier(len(changes))

    def run(change: Callable[[Connection], object]) -> type[CampaignsError] | None:
        barrier.wait()
        try:
            with writing(service.engine) as connection:
                change(connection)
        except CampaignsError as error:
            return type(error)
        return None

    with ThreadPoolExecutor(len(changes)) as threads:
        return list(threads.map(run, changes))


def principal(service: Service, account_id: int, **values: object) -> Principal:
    with reading(service.engine) as connection:
        known = read_account(connection, account_id)
    made = Principal(account_id=known.id, email=known.email, name=known.name, role=known.role)
    return replace(made, **values)  # type: ignore[arg-type]


def test_an_invitation_is_used_once(both: Service) -> None:
    both.team("harbour", both.account("mary"))
    with writing(both.engine) as connection:
        _, secret = make_invitation(connection, COMMAND_LINE, 60.0, team="harbour")
    people = [principal(both, both.account(name)) for name in ("zoe", "eve", "ada")]
    results = at_once(both, *(lambda connection, who=who: accept_invitation(connection, who, secret) for who in people))
    assert sorted(map(str, results)) == sorted(map(str, [None, NotFound, NotFound]))
    with reading(both.engine) as connection:
        assert connection.scalar(select(func.count()).select_from(Membership)) == 2


def test_the_last_two_leads_do_not_both_leave(both: Service) -> None:
    mary, zoe = both.account("mary"), both.account("zoe")
    both.team("harbour", mary)
    with writing(both.engine) as connection:
        connection.execute(
            Membership.__table__.insert().values(team_id=1, account_id=zoe, role=TeamRole.LEAD)  # type: ignore[attr-defined]
        )
    people = [principal(both, each, teams={"harbour": TeamRole.LEAD}) for each in (mary, zoe)]
    results = at_once(
        both,
        *(lambda connection, who=who: remove_from_team(connection, who, "harbour", who.account_id) for who in people),
    )
    assert sorted(map(str, results)) == sorted(map(str, [None, Conflict]))


def test_two_administrators_do_not_disable_each_other(both: Service) -> None:
    ids = [with_password(both, both.account(name, SiteRole.ADMINISTRATOR)) for name in ("root", "toor")]
    people = [principal(both, each) for each in ids]
    results = at_once(
        both,
        lambda connection: set_disabled(connection, people[0], ids[1], True),
        lambda connection: set_disabled(connection, people[1], ids[0], True),
    )
    assert sorted(map(str, results)) == sorted(map(str, [None, Conflict]))


def test_one_address_has_one_account_and_one_name_one_team(both: Service) -> None:
    results = at_once(
        both,
        *(lambda connection, name=name: add_account(connection, NOBODY, "Zoe@example.org", name) for name in "abc"),
    )
    assert results.count(None) == 1
    with reading(both.engine) as connection:
        assert connection.scalars(select(Account.email)).all() == ["zoe@example.org"]
    results = at_once(
        both,
        *(
            lambda connection, name=name: create_team(connection, COMMAND_LINE, name)
            for name in ("pier", "Pier", "PIER")
        ),
    )
    assert results.count(None) == 1
    assert results.count(Conflict) == 2


def test_a_link_sets_one_password(both: Service) -> None:
    mary = both.account("mary")
    with writing(both.engine) as connection:
        secret = make_confirmation(connection, mary, "password", 60.0)
    results = at_once(
        both, *([lambda connection: set_password_by_link(connection, NOBODY, secret, CHEAPLY_HASHED)] * 3)
    )
    assert sorted(map(str, results)) == sorted(map(str, [None, NotFound, NotFound]))
