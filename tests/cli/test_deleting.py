"""What is deleted is said first, and nothing goes before it is confirmed; limits go with their own scope alone."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from models.database.session import reading, writing
from models.schema.campaigns import Quota
from steelyard.commands.errors import CommandError
from steelyard_client.commands.deleting import delete_after_question
from steelyard_client.documents.campaigns.deletions import DeletionResponse
from tests.cli.backends import Run
from tests.cli.backends import live as live
from tests.cli.backends import run as run
from tests.client.live import Live


@pytest.mark.parametrize("yes", [True, False])
def test_it_is_only_asked_what_would_go_until_it_is_confirmed(capsys: pytest.CaptureFixture[str], *, yes: bool) -> None:
    asked: list[bool] = []

    def ask(dry_run: bool) -> DeletionResponse:
        asked.append(dry_run)
        removed = {"submissions": 1234, "scores": 2}
        return DeletionResponse(subject="team harbour", removed=removed, kept=["The log stays."], deleted=not dry_run)

    if yes:
        assert delete_after_question(ask, yes=True) == 0
    else:
        with pytest.raises(CommandError, match="no terminal"):
            delete_after_question(ask, yes=False)
    assert asked == [True, False][: 1 + yes]
    printed = capsys.readouterr().out.splitlines()
    said = ["The team harbour. With it goes: 1,234 submissions, 2 scores.", "The log stays."]
    assert printed == said + ["The team harbour is deleted."] * yes


def test_teams_accounts_and_campaigns_are_deleted_once_that_is_confirmed(run: Run, live: Live) -> None:
    live.service.account("mary")
    live.service.campaign("regatta")
    run("team", "create", "harbour")
    for noun, name in (("team", "harbour"), ("user", "mary@example.org"), ("campaign", "regatta")):
        assert "no terminal" in run(noun, "delete", name, status=1)
        assert name in run(noun, "list")
        assert "is deleted." in run(noun, "delete", name, "--yes")
        assert name not in run(noun, "list")


def test_a_limit_is_deleted_with_its_own_scope_alone(run: Run, live: Live) -> None:
    campaign = live.service.campaign("regatta")
    scopes = [("", "", "per_day"), ("", "final", "per_day"), ("harbour", "", "per_day"), ("", "", "in_flight")]
    with writing(live.service.engine) as connection:
        for team, phase, kind in scopes:
            row = {"campaign_id": campaign, "team": team, "phase": phase, "kind": kind, "amount": 3}
            connection.execute(Quota.__table__.insert().values(**row))  # type: ignore[attr-defined]
        row = {"campaign_id": None, "kind": "per_day", "amount": 3}
        connection.execute(Quota.__table__.insert().values(**row))  # type: ignore[attr-defined]

    def left() -> list[tuple[str, str, str]]:
        with reading(live.service.engine) as connection:
            rows = select(Quota.team, Quota.phase, Quota.kind).where(Quota.campaign_id == campaign).order_by(Quota.id)
            return [tuple(row) for row in connection.execute(rows)]

    assert "no terminal" in run("quota", "delete", "--campaign", "regatta", "--per-day", status=1)
    assert left() == scopes
    run("quota", "delete", "--campaign", "regatta", "--per-day", "--yes")
    assert left() == scopes[1:]
    run("quota", "delete", "--campaign", "regatta", "--phase", "final", "--yes")
    assert left() == scopes[2:]
    run("quota", "delete", "--campaign", "regatta", "--yes")
    assert left() == [scopes[2]]
    listed = json.loads(run("quota", "list", "--campaign", "regatta", "-f", "json"))
    assert [(each["campaign"], each["team"]) for each in listed] in (
        [("regatta", "harbour"), (None, None)],
        [(None, None), ("regatta", "harbour")],
    )
    assert "no such quota" in run("quota", "delete", "--campaign", "regatta", "--yes", status=1)
