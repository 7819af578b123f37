"""What a scheduler says of its health."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.database.session import make_engine
from runtime.health import Check
from runtime.settings import Settings
from scheduler.health import check_leader_exists, check_leading
from scheduler.leader import Leadership


@pytest.mark.parametrize(("leads", "reason"), [(True, "leading"), (False, "standing by: another scheduler leads")])
def test_who_stands_by_is_healthy_too(leads: bool, reason: str) -> None:
    assert check_leading(leads) == Check("leadership", True, reason)


def test_whether_any_scheduler_leads(database_url: str) -> None:
    make_engine(database_url).dispose()
    settings = Settings(database_url=database_url)
    assert check_leader_exists(settings) == Check("scheduler", False, "no scheduler leads")
    lead = Leadership(database_url, settings.silent_seconds)
    assert lead.acquire()
    assert check_leader_exists(settings) == Check("scheduler", True, "a scheduler leads")
    lead.release()
    assert not check_leader_exists(settings).ok


def test_a_database_that_cannot_be_asked_is_said_without_its_password(tmp_path: Path) -> None:
    gone = Settings(database_url="postgresql+psycopg://mary:s3cret@localhost:1/steelyard")
    found = check_leader_exists(gone)
    assert (found.name, found.ok) == ("scheduler", False)
    assert found.reason
    assert "s3cret" not in found.reason
    folder = check_leader_exists(Settings(database_url=f"sqlite:///{tmp_path}/none/steelyard.db"))
    assert not folder.ok
