"""Who sees and sets which quotas, and what the audit log says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, select

from campaigns.accounts.principal import COMMAND_LINE, NOBODY, Principal, principal_of_account
from campaigns.changes import lock_for_change
from campaigns.errors import Forbidden, NotSignedIn
from campaigns.permissions import read_access
from campaigns.quotas.organisers import (
    applicable_quotas,
    every_quota,
    remove_general_quota,
    remove_quota,
    set_general_quota,
    set_quota,
    set_quota_phase,
    team_quotas_in,
    teams_with_quotas,
    visible_team_quotas,
)
from campaigns.quotas.quotas import set_quotas
from campaigns.quotas.rules import QuotaScope
from models.audit import AuditEntry
from models.corpus.phases import read_phase
from models.database.session import reading, writing
from models.errors import NotFound
from models.schema.roles import Scope, SiteRole
from models.schema.states import QuotaKind
from tests.service.campaigns import submit_output, with_test_set
from tests.service.service import Service

PER_DAY, IN_FLIGHT, PER_PHASE = QuotaKind.PER_DAY, QuotaKind.IN_FLIGHT, QuotaKind.PER_PHASE
PEOPLE = ("nobody", "sam", "mary", "olga", "root", "reader")


@pytest.fixture
def people(service: Service) -> dict[str, Callable[[Connection], Principal]]:
    """Mary is in the team harbour, olga organises wmt, root administrates, as does the reader, who may only read."""
    accounts = {name: service.account(name) for name in ("sam", "mary", "olga")}
    accounts["root"] = service.account("root", SiteRole.ADMINISTRATOR)
    teams = (service.team("harbour", accounts["mary"]), service.team("Light", accounts["sam"]))
    for name, organisers in (("wmt", (accounts["olga"],)), ("iwslt", ())):
        service.campaign(
            name, organisers=organisers, teams=teams[:1] if name == "wmt" else teams, time_zone="Asia/Tokyo"
        )
        with_test_set(service.engine, name)
    found: dict[str, Callable[[Connection], Principal]] = {
        name: lambda connection, account=account: principal_of_account(connection, account, *Scope)  # type: ignore[misc]
        for name, account in accounts.items()
    }
    found["reader"] = lambda connection: principal_of_account(connection, accounts["root"], Scope.READ)
    found["nobody"] = lambda connection: NOBODY
    return found


def allowed(service: Service, people: dict[str, Any], act: Callable[[Connection, Principal], object]) -> set[str]:
    """Who may do something; everything is undone."""
    may = set()
    for name in PEOPLE:
        with service.engine.connect() as connection:
            try:
                act(connection, people[name](connection))
                may.add(name)
            except (NotSignedIn, Forbidden):
                pass
            connection.rollback()
    return may


def test_who_may_do_what(service: Service, people: dict[str, Any]) -> None:
    with writing(service.engine) as connection:
        set_quotas(connection, QuotaScope(), {PER_DAY: 5})
    submit_output(service.engine, "wmt", "harbour", "mast", b"a\nb\nc\n")

    def general(connection: Connection, who: Principal) -> object:
        return set_general_quota(connection, who, IN_FLIGHT, 3, None)

    assert allowed(service, people, every_quota) == {"root", "reader"}
    assert allowed(service, people, general) == {"root"}
    assert allowed(service, people, lambda c, who: remove_general_quota(c, who, PER_DAY)) == {"root"}
    assert allowed(service, people, lambda c, who: team_quotas_in(c, who, "harbour")) == {"mary", "root", "reader"}
    seen = allowed(service, people, lambda c, who: visible_team_quotas(c, read_access(c, who, "wmt"), "harbour"))
    assert seen == {
        "mary",
        "olga",
        "root",
        "reader",
    }
    seen = allowed(service, people, lambda c, who: visible_team_quotas(c, read_access(c, who, "iwslt"), "harbour"))
    assert seen == {"mary", "root", "reader"}, "not sam, whose own team takes part there, too"


def test_usage_of_a_team_is_nothing_for_others(service: Service, people: dict[str, Any]) -> None:
    submit_output(service.engine, "wmt", "harbour", "mast", b"a\nb\nc\n")
    with reading(service.engine) as connection:
        mary, sam, root = (people[name](connection) for name in ("mary", "sam", "root"))
        assert [(each.campaign, each.usage[0].used) for each in team_quotas_in(connection, mary, "harbour")] == [
            ("wmt", 1)
        ]
        # Nothing was submitted: no names of other teams are in the answer.
        assert team_quotas_in(connection, sam, "Light") == []
        with pytest.raises(NotFound, match="harbour"):
            team_quotas_in(connection, root, "Light")
        for name in ("sam", "nobody"):
            with pytest.raises(Forbidden):
                visible_team_quotas(connection, read_access(connection, people[name](connection), "wmt"), "harbour")


def test_quotas_of_a_campaign_are_those_that_apply_there(service: Service, people: dict[str, Any]) -> None:
    with writing(service.engine) as connection:
        root = people["root"](connection)
        assert set_general_quota(connection, root, PER_DAY, 9, "Europe/Prague").time_zone == "Europe/Prague"
        for name, amount in (("wmt", 2), ("iwslt", 3)):
            access = lock_for_change(connection, COMMAND_LINE, name)
            set_quota(connection, access, PER_DAY, amount)
            set_quota(connection, access, IN_FLIGHT, None, team="harbour")
        access = read_access(connection, people["olga"](connection), "wmt")
        found = [
            (each.campaign, each.scope.team, each.kind, each.amount) for each in applicable_quotas(connection, access)
        ]
        assert found == [("", "", PER_DAY, 9), ("wmt", "", PER_DAY, 2), ("wmt", "harbour", IN_FLIGHT, None)]
        zones = {
            each.campaign: each.time_zone for each in applicable_quotas(connection, access) if each.kind == PER_DAY
        }
        assert zones == {"": "Europe/Prague", "wmt": "Asia/Tokyo"}, "days are those of the campaign"
        assert len(every_quota(connection, root)) == 5
        # What is removed is of exactly this scope.
        locked = lock_for_change(connection, COMMAND_LINE, "wmt")
        assert [each.amount for each in remove_quota(connection, locked, PER_DAY)] == [2]
        with pytest.raises(NotFound):
            remove_quota(connection, locked, PER_DAY)
        remove_general_quota(connection, root, PER_DAY)
        left = [(each.campaign, each.scope.team, each.kind) for each in every_quota(connection, root)]
    assert left == [("iwslt", "", PER_DAY), ("iwslt", "harbour", IN_FLIGHT), ("wmt", "harbour", IN_FLIGHT)]


def test_teams_that_a_quota_can_be_for(service: Service, people: dict[str, Any]) -> None:
    submit_output(service.engine, "iwslt", "guests", "tent", b"a\nb\nc\n")
    with reading(service.engine) as connection:
        names = {
            name: teams_with_quotas(connection, read_access(connection, people["root"](connection), name))
            for name in ("wmt", "iwslt")
        }
    assert names == {"wmt": ["harbour"], "iwslt": ["guests", "harbour", "Light"]}


def test_the_audit_log_says_what_it_was_before(service: Service, people: dict[str, Any]) -> None:
    with writing(service.engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        set_quota_phase(connection, access, "dev")
        assert read_phase(connection, access.campaign_id) == "dev"
        for amount in (2, None):
            set_quota(connection, access, PER_PHASE, amount, team="harbour", phase="dev")
        set_quota(connection, access, PER_PHASE, 7)
        remove_quota(connection, access, PER_PHASE, team="harbour", phase="dev")
        set_general_quota(connection, people["root"](connection), IN_FLIGHT, 4, None)
        set_general_quota(connection, people["root"](connection), PER_DAY, 9, None)
        rows = connection.execute(
            select(AuditEntry)
            .where(AuditEntry.action.in_(("quota.set", "quota.remove", "campaign.phase")))
            .order_by(AuditEntry.id)
        ).all()
        told = [(row.action, row.subject, row.campaign_id, row.actor, row.details) for row in rows]
    harbour = "quota of harbour in campaign wmt"
    assert told == [
        ("campaign.phase", "campaign wmt", 1, "command line", {"phase": "dev"}),
        ("quota.set", harbour, 1, "command line", {"per_phase": [None, 2], "phase": "dev"}),
        ("quota.set", harbour, 1, "command line", {"per_phase": [2, "no limit"], "phase": "dev"}),
        ("quota.set", "quota of every team in campaign wmt", 1, "command line", {"per_phase": [None, 7]}),
        ("quota.remove", harbour, 1, "command line", {"per_phase": ["no limit", None], "phase": "dev"}),
        ("quota.set", "quota of every team in every campaign", None, "root@example.org", {"in_flight": [None, 4]}),
        ("quota.set", "quota of every team in every campaign", None, "root@example.org", {"per_day": [None, 9]}),
    ]
