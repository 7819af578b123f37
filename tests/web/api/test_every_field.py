"""Every field of a change, alone: what is sent is changed, and what is not sent stays as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import insert, select

from models.database.session import reading, writing
from models.schema.base import now
from models.schema.corpus import System
from models.schema.roles import PhaseKind, SiteRole
from models.schema.systems import SystemDescription
from tests.service.port import ADDRESS, Port
from tests.service.service import DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastapi.testclient import TestClient

FIRST: dict[str, dict[str, Any]] = {
    "submission": {"kind": "contrastive", "constrained": True, "description": "ours"},
    "phase": {"feedback": "rounded", "feedback_step": 0.5, "late": "flag", "grace_seconds": 60.0},
    "campaign": {"title": "Of ships", "description": "Old", "time_zone": "Asia/Tokyo", "anonymous": True},
    "system": {
        "description": "Old",
        "affiliation": "A college",
        "parameters": 7,
        "weights": "open",
        "constrained": True,
    },
    "team": {"publication_name": "Harbour Lab", "affiliation": "The Sea"},
    "account": {"name": "Mary"},
}
"""What is said before."""
THEN: dict[str, dict[str, Any]] = {
    "submission": {"kind": "primary", "constrained": False, "description": "theirs"},
    "phase": {
        "name": "test", "kind": "blind", "ends": "", "starts": "2031-03-01T10:00", "grace_seconds": 0.0,
        "late": "refuse", "feedback": "none", "feedback_step": 0.25,
    },
    "campaign": {
        "title": "Of boats", "description": "New", "time_zone": "Europe/Prague", "visibility": "private",
        "joining": "open", "anonymous": False, "verified_only": True, "ranked_by": "chrf", "embeddable": True,
    },
    "system": {
        "description": "New", "affiliation": "Another", "paper_url": "https://example.org/p", "url": "https://example.org",
        "parameters": None, "weights": "closed", "constrained": None, "origin": "online",
    },
    "team": {"publication_name": "Quay", "affiliation": "A lake"},
    "account": {"name": "Maria"},
}  # fmt: skip
FOLLOWS = {"starts": {"starts_at"}, "ends": {"ends_at"}, "time_zone": {"at", "deadline"}, "kind": {"feedback"}}
"""What else a field is told by; a submission's kind by what its team is told of its scores."""


@pytest.fixture
def changed(port: Port) -> dict[str, tuple[TestClient, str]]:
    """Who changes what, and where."""
    mary, ann = port.program("mary"), port.program("ann")
    submission = port.submit(mary, kind="contrastive", constrained="true", description="ours").json()["id"]
    # What a submission says goes before what is said of its system: this one says nothing.
    port.submit(mary, system="keel")
    port.service.campaign("port 1", **FIRST["campaign"])
    later = port.service.phase(port.campaign, "later", PhaseKind.OPEN, begins=40 * DAY, ends=50 * DAY, **FIRST["phase"])
    with writing(port.service.engine) as connection:
        system = connection.execute(select(System.id).where(System.name == "keel")).scalar_one()
        key = {"campaign_id": port.campaign, "system_id": system, "changed_at": now()}
        connection.execute(insert(SystemDescription).values(**key, **FIRST["system"]))
    mary.patch("/api/v1/teams/harbour", json=FIRST["team"])
    mary.patch("/api/v1/account", json=FIRST["account"])
    return {
        "submission": (mary, f"/api/v1/submissions/{submission}"),
        "phase": (ann, f"{ADDRESS}/phases/{later}"),
        "campaign": (ann, ADDRESS),
        "system": (ann, f"{ADDRESS}/systems/{system}"),
        "team": (mary, "/api/v1/teams/harbour"),
        "account": (mary, "/api/v1/account"),
    }


def read(client: TestClient, address: str) -> dict[str, Any]:
    """What is known of it; phases are read as a list."""
    found: Any
    if "/phases/" in address:
        listed = client.get(address.rpartition("/")[0]).json()["items"]
        found = next(each for each in listed if each["id"] == int(address.rpartition("/")[2]))
    else:
        found = client.get(address).json()
    return {name: value for name, value in found.items() if name != "at"}


@pytest.mark.parametrize("what", THEN)
def test_each_field_alone(changed: dict[str, tuple[TestClient, str]], what: str) -> None:
    client, address = changed[what]
    for name, value in THEN[what].items():
        before = read(client, address)
        answer = client.patch(address, json={name: value})
        assert answer.status_code == 200, (name, answer.text)
        after = read(client, address)
        different = {each for each in after if after[each] != before.get(each)}
        assert name in different or different & FOLLOWS.get(name, set()), (name, before, after)
        assert different <= {name} | FOLLOWS.get(name, set()), (name, before, after)
        if name == "ranked_by":
            assert after[name].startswith(value)
        elif name in after and name not in ("starts", "ends"):
            assert after[name] == value
        # An empty change changes nothing, and neither does the same one again.
        for same in ({}, {name: value}):
            assert client.patch(address, json=same).status_code == 200
            assert read(client, address) == after


ACCOUNTS: list[Callable[[str], dict[str, Any]]] = [
    lambda name: {},
    lambda name: {"role": "organiser"},
    lambda name: {"verified": True},
    lambda name: {"password": "correct horse battery"},
    lambda name: {"role": "viewer", "verified": True},
]


def test_an_account_is_what_it_was_said_to_be(port: Port) -> None:
    root = port.service.program(port.service.account("root", SiteRole.ADMINISTRATOR))
    for number, said in enumerate(ACCOUNTS):
        new = {"email": f"new{number}@example.org", "name": f"New {number}", **said("")}
        made = root.post("/api/v1/accounts", json=new).json()
        assert (made["email"], made["name"]) == (new["email"], new["name"])
        assert made["role"] == new.get("role", "participant")
        assert (made["verified_at"] is not None, made["has_password"]) == ("verified" in new, "password" in new)
        assert root.get(f"/api/v1/accounts/{made['id']}").json() == made
        for change, column, is_set in (
            *(
                ({"disabled": True}, "disabled_at", True),
                ({}, "disabled_at", True),
                ({"role": "viewer"}, "disabled_at", True),
            ),
            *(({"disabled": False}, "disabled_at", False), ({"verified": True}, "verified_at", True)),
        ):
            after = root.patch(f"/api/v1/accounts/{made['id']}", json=change).json()
            assert (after[column] is not None) == is_set
    with reading(port.service.engine) as connection:
        assert connection.execute(select(System.id)).all()
