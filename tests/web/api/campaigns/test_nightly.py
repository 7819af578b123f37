"""Schedules and their runs by the API: each organiser sees those of campaigns that they see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from models.database.session import writing
from models.schema.base import now
from models.schema.nightly import NightlyRun
from models.schema.roles import SiteRole, Visibility
from models.schema.states import NightlyRunState
from tests.analysis.nightly_runs import add_nightly_run, add_schedule
from tests.service.service import Service

NIGHTLY = "/api/v1/nightly"


@dataclass
class Gates:
    """Two private campaigns with a schedule each, and who may see them."""

    organiser: TestClient
    administrator: TestClient
    runs: dict[str, list[int]]


@pytest.fixture
def gates(service: Service) -> Gates:
    olga, zoe = service.account("olga", SiteRole.ORGANISER), service.account("zoe", SiteRole.ORGANISER)
    runs = {}
    for name, organiser, late in (("ours", olga, 3600.0), ("theirs", zoe, -3600.0)):
        campaign = service.campaign(name, organisers=(organiser,), visibility=Visibility.PRIVATE)
        schedule = add_schedule(service.engine, campaign, name=f"{name} gate", next_at=now() - late)
        runs[name] = [add_nightly_run(service.engine, schedule, number, {}) for number in (1, 2)]
        with writing(service.engine) as connection:
            ended = {"state": NightlyRunState.FAILED, "reason": "no folder /srv/out", "finished_at": now()}
            connection.execute(update(NightlyRun).where(NightlyRun.id == runs[name][-1]).values(**ended))
    administrator = service.account("ada", SiteRole.ADMINISTRATOR)
    return Gates(service.program(olga), service.program(administrator), runs)


def listed(client: TestClient, **asked: Any) -> list[tuple[Any, ...]]:
    items = client.get(NIGHTLY, params=asked).json()["items"]
    return [(each["name"], each["overdue"], each["runs"], each["last_date"], each["last_state"]) for each in items]


def test_schedules_are_listed_with_their_last_run(gates: Gates) -> None:
    ours, theirs = (("ours gate", True, 2, "2027-03-03", "failed"), ("theirs gate", False, 2, "2027-03-03", "failed"))
    assert listed(gates.organiser) == [ours]
    assert listed(gates.administrator) == [ours, theirs]
    first = gates.administrator.get(NIGHTLY, params={"limit": 1}).json()
    assert listed(gates.administrator, after=first["next"]) == [theirs]


def test_a_run_is_found_in_its_own_schedule_alone(gates: Gates) -> None:
    for client, name, run, status in (
        (gates.organiser, "ours", gates.runs["ours"][0], 200),
        (gates.organiser, "ours", gates.runs["theirs"][0], 404),
        (gates.organiser, "theirs", gates.runs["theirs"][0], 404),
        (gates.administrator, "theirs", gates.runs["theirs"][0], 200),
        (gates.administrator, "theirs", gates.runs["ours"][0], 404),
    ):
        assert client.get(f"{NIGHTLY}/{name} gate/runs/{run}").status_code == status


def test_reasons_are_for_administrators(gates: Gates) -> None:
    run = gates.runs["ours"][-1]
    for client, reason in ((gates.organiser, None), (gates.administrator, "no folder /srv/out")):
        history = client.get(f"{NIGHTLY}/ours gate").json()
        assert [each["reason"] for each in history["runs"]] == [None, reason]
        assert client.get(f"{NIGHTLY}/ours gate/runs/{run}").json()["reason"] == reason
