"""`steelyard team`, on a database and on a server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import select

from cli.main import main
from models.database.session import reading, writing
from models.schema.campaigns import Campaign, Participation
from steelyard_client.commands import backend
from tests.cli.backends import Run
from tests.cli.backends import live as live
from tests.cli.backends import run as run
from tests.client.live import Live


def test_teams_are_made_filled_and_take_part(run: Run, live: Live) -> None:
    assert "There are no teams" in run("team", "list")
    for name in ("mary", "zoe"):
        live.service.account(name)
    told = run("team", "create", "harbour", "--lead", "mary@example.org", "--affiliation", "Port")
    assert told == "The team harbour is created.\n"
    assert "already" in run("team", "create", "Harbour", status=1)
    assert "member of" in run("team", "update", "harbour", "--member", "zoe@example.org")
    assert "last lead" in run("team", "update", "harbour", "--remove", "mary@example.org", status=1)
    assert "lead of" in run("team", "update", "harbour", "--lead", "zoe@example.org")
    assert "not in" in run("team", "update", "harbour", "--remove", "mary@example.org")
    with writing(live.service.engine) as connection:
        connection.execute(Campaign.__table__.insert().values(name="regatta"))  # type: ignore[attr-defined]
    assert "takes part in regatta" in run("team", "join", "harbour", "regatta")
    assert "regatta" in run("team", "join", "harbour", "regatta", status=1) + run("team", "show", "harbour")
    assert "Port" in run("team", "list")
    document = json.loads(run("team", "show", "harbour", "-f", "json"))
    assert document["team"][0] | {"members": 0} == {
        "name": "harbour", "publication_name": "", "affiliation": "Port", "members": 0,
    }  # fmt: skip
    assert document["members"] == [{"email": "zoe@example.org", "name": "zoe", "role": "lead"}]
    assert document["campaigns"] == [{"campaign": "regatta"}]
    run("team", "update", "harbour", "--affiliation", "Pier")
    assert "Pier" in run("team", "list", "-f", "csv")
    # On a server whoever creates a team leads it.
    led = "root@" in run("user", "list")
    assert ("Nobody leads it yet" in run("team", "create", "pier", "--affiliation", "Pier")) is not led
    with reading(live.service.engine) as connection:
        assert len(connection.execute(select(Participation)).all()) == 1


def test_leads_come_first_and_members_leave_last(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A lead may become a member once there is another one. Addresses are as people type them."""
    names = ("ann", "bob", "eve")
    people = [SimpleNamespace(email=f"{name}@b.c", account_id=number) for number, name in enumerate(names)]
    done: list[tuple[Any, ...]] = []
    client = SimpleNamespace(
        read_team=lambda _: SimpleNamespace(people=people),
        update_team_member=lambda team, number, change: done.append(("change", team, number, str(change.role))),
        add_team_member=lambda team, new: done.append(("add", team, new.email, str(new.role))),
        remove_team_member=lambda team, number: done.append(("remove", team, number)),
        update_team=lambda team, change: done.append(("describe", team, change.model_dump(exclude_unset=True))),
    )

    @contextmanager
    def connected(*_: Any) -> Iterator[Any]:
        yield client

    monkeypatch.setattr(backend, "connected", connected)
    words = ["--remove", "EVE@b.c", "--member", "Ann@b.c", "--lead", "Bob@b.c", "zoe@b.c", "--affiliation", ""]
    assert main(["team", "update", "crew", *words]) == 0
    assert done == [
        ("change", "crew", 1, "lead"), ("add", "crew", "zoe@b.c", "lead"), ("change", "crew", 0, "member"),
        ("describe", "crew", {"affiliation": ""}), ("remove", "crew", 2),
    ]  # fmt: skip
    done.clear()
    assert main(["team", "update", "crew", "--remove", "tom@b.c"]) == 1
    assert "tom@b.c is not in the team crew." in capsys.readouterr().err
    assert not done
