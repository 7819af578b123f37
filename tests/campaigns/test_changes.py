"""Changes by organisers: on what they have seen, one after the other, and only while they organise the campaign."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import Connection, delete, update

from campaigns import changes
from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, Principal
from campaigns.changes import check_version, lock_for_change, require_organiser, version_of
from campaigns.errors import Forbidden, OutOfDate
from campaigns.measures import MeasureRequest, add_measures
from campaigns.permissions import CampaignAccess
from campaigns.rules import Rules, set_rules
from campaigns.test_sets.stored import find_campaign_test_set, set_test_set
from models.database.session import reading, writing
from models.schema.campaigns import Campaign, CampaignMember
from models.schema.roles import PhaseKind, SiteRole
from runtime.settings import Settings
from tests.service.campaigns import given, with_test_set
from tests.service.service import DAY, Service

Change = Callable[[Connection, CampaignAccess], object]
CHANGES: dict[str, Change] = {
    "rules": lambda connection, access: set_rules(connection, access, Rules(anonymous=not access.anonymous)),
    "test sets": lambda connection, access: set_test_set(
        connection, access, find_campaign_test_set(connection, access, "news"), released=True, early=True
    ),
    "measures": lambda connection, access: add_measures(
        connection, Settings(), access, next(iter(access.test_sets)), MeasureRequest(("ter",), replicates=0)
    ),
}


@pytest.fixture
def site(service: Service) -> Service:
    """Two campaigns with a test set each, organised by the first account."""
    olga = service.account("olga")
    for number, name in enumerate(("wmt", "other")):
        service.campaign(name, organisers=(olga,))
        with_test_set(service.engine, name, given(b"%d\ny\nz\n" % number))
    return service


def version(site: Service, campaign: str) -> str:
    with reading(site.engine) as connection:
        return version_of(connection, site.campaign(campaign))


@pytest.mark.parametrize("what", [*CHANGES, "phases"])
def test_every_change_of_a_campaign_changes_its_version_and_that_of_no_other(site: Service, what: str) -> None:
    before = {name: version(site, name) for name in ("wmt", "other")}
    if what == "phases":
        site.phase(site.campaign("wmt"), "test", PhaseKind.BLIND, begins=DAY)
    else:
        with writing(site.engine) as connection:
            CHANGES[what](connection, lock_for_change(connection, COMMAND_LINE, "wmt"))
    assert version(site, "wmt") != before["wmt"]
    assert version(site, "other") == before["other"]


def test_which_headers_name_the_version_that_was_seen(site: Service) -> None:
    known, number = version(site, "wmt"), site.campaign("wmt")
    with reading(site.engine) as connection:
        for good in (None, "*", " * ", known, f'"{known}"', f'W/"{known}"', f'"x", "{known}"'):
            check_version(connection, number, good)
        for bad in ("", "x", f'"{known}x"', f'"{version(site, "other")}"', '"*"'):
            with pytest.raises(OutOfDate):
                check_version(connection, number, bad)


def test_what_has_changed_while_one_waited_for_the_lock_counts(site: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else's change is stored in the moment before the campaign is locked."""
    olga = Principal(1, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE)
    lock, locked = changes.lock_campaign, []

    def late(statement: object) -> Callable[[Connection, int], None]:
        def lock_after(connection: Connection, campaign: int) -> None:
            connection.execute(statement)  # type: ignore[call-overload]
            lock(connection, campaign)
            locked.append(campaign)

        return lock_after

    monkeypatch.setattr(changes, "lock_campaign", late(update(Campaign).values(title="Changed")))
    with writing(site.engine) as connection:
        assert lock_for_change(connection, olga, "wmt").title == "Changed"
    assert locked == [site.campaign("wmt")]
    seen = version(site, "wmt")
    monkeypatch.setattr(changes, "lock_campaign", late(update(Campaign).values(title="Changed again")))
    with writing(site.engine) as connection, pytest.raises(OutOfDate):
        lock_for_change(connection, olga, "wmt", seen)
    monkeypatch.setattr(changes, "lock_campaign", late(delete(CampaignMember)))
    with writing(site.engine) as connection, pytest.raises(Forbidden):
        lock_for_change(connection, olga, "wmt")


def test_who_does_not_organise_is_refused_before_anything_is_locked(
    site: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    mary = Principal(site.account("mary"), role=SiteRole.ORGANISER, scopes=EVERY_SCOPE)
    with pytest.raises(Forbidden):
        require_organiser(site.engine, mary, "wmt")
    monkeypatch.setattr(changes, "lock_campaign", lambda *_: pytest.fail("somebody else's campaign is locked"))
    with writing(site.engine) as connection, pytest.raises(Forbidden):
        lock_for_change(connection, mary, "wmt")
