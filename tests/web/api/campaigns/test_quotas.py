"""Quotas are set and deleted for whom they are meant, and no others."""

from __future__ import annotations

import pytest

from models.schema.roles import PhaseKind
from tests.service.service import DAY, Service
from tests.web.api.campaigns.people import HERE, People, error


@pytest.fixture
def people(service: Service) -> People:
    return People(service)


WHOSE = [{}, {"team": "harbour"}, {"phase": "test"}, {"team": "harbour", "phase": "test"}]


@pytest.mark.parametrize("deleted", range(len(WHOSE)))
def test_a_quota_is_deleted_where_it_was_set(people: People, deleted: int) -> None:
    people.found(visibility="public", joining="open")
    people.service.phase(people.service.campaign("wmt"), "test", PhaseKind.OPEN, ends=DAY)
    assert people.lead.post(f"{HERE}/teams", json={"team": "harbour"}).status_code == 201
    for amount, whose in enumerate(WHOSE, 1):
        made = people.organiser.put(f"{HERE}/quotas", json={"kind": "per_phase", "amount": amount, **whose})
        assert made.status_code == 200, made.text
    whose = WHOSE[deleted]
    for program, status in ((people.lead, 403), (people.organiser, 204)):
        assert program.delete(f"{HERE}/quotas/per_phase", params=whose).status_code == status
    left = people.organiser.get(f"{HERE}/quotas").json()["items"]
    assert sorted((each["amount"], each["team"], each["phase"]) for each in left) == [
        (amount, each.get("team", ""), each.get("phase", "")) for amount, each in enumerate(WHOSE, 1) if each != whose
    ]
    assert error(people.organiser.delete(f"{HERE}/quotas/per_phase", params=whose)) == (404, "not_found")
