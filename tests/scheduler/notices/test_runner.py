"""When notices are planned and sent: every few seconds, by one courier at a time, whatever goes wrong with some."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from runtime.service_settings import WebSettings
from runtime.settings import Settings
from scheduler.notices import courier, plan, runner
from scheduler.notices.runner import PLAN_SECONDS, NoticeRunner
from tests.faults.cluster import until


class Watched:
    """A runner by a clock that is set, which notes what it does; couriers are on their way until `arrived` is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
        self.now = 1000.0
        self.planned: list[bool] = []
        self.sent: list[str] = []
        self.arrived = threading.Event()
        self.plan_error: Exception | None = None
        self.send_error: Exception | None = None
        monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(plan, "plan_notices", self._plan)
        monkeypatch.setattr(courier, "send_notices", self._send)
        self.runner = NoticeRunner(settings)

    def _plan(self, connection: Connection, *, mails: bool) -> None:
        assert connection.in_transaction()
        self.planned.append(mails)
        if self.plan_error is not None:
            raise self.plan_error

    def _send(self, engine: Engine, settings: WebSettings) -> int:
        assert isinstance(settings, WebSettings)
        self.sent.append(str(engine.url) if settings.database_url.startswith("sqlite") else "")
        assert self.arrived.wait(60)
        if self.send_error is not None:
            raise self.send_error
        return 1

    def round(self, seconds: float = PLAN_SECONDS) -> tuple[int, int]:
        """Let time pass, and run a round: how often it has planned and begun to send by now."""
        before = self.runner._courier
        self.now += seconds
        self.runner.run_once()
        if self.runner._courier is not before:
            until(lambda: len(self.sent) > 0, "a courier")
        return len(self.planned), len(self.sent)

    def arrive(self) -> None:
        """Let the courier come back."""
        self.arrived.set()
        self.runner.stop(60)
        assert self.runner._courier is not None
        assert not self.runner._courier.is_alive()


@pytest.fixture
def watched(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    found = Watched(monkeypatch, WebSettings(database_url=sqlite_url, mail_url="smtp://localhost"))
    yield found
    found.arrived.set()
    found.runner.stop(60)


def test_it_plans_every_few_seconds_and_one_courier_is_on_its_way(watched: Watched) -> None:
    """Mail servers may be slow; a second courier beside the first would only ask again for the same notices."""
    assert watched.round(0.0) == (1, 1)
    assert watched.round(PLAN_SECONDS - 0.1) == (1, 1), "it is not due yet"
    assert watched.round(0.1) == (2, 1), "it plans while the courier is on its way"
    assert watched.round() == (3, 1)
    watched.arrive()
    assert watched.round(PLAN_SECONDS - 0.1) == (3, 1)
    watched.round(0.1)
    until(lambda: len(watched.sent) == 2, "the next courier")
    assert watched.planned == [True] * 4


def test_what_is_wrong_with_a_campaign_keeps_no_notice_from_being_sent(
    watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    watched.plan_error = ValueError("an odd campaign")
    assert watched.round() == (1, 1)
    assert "Notices could not be planned" in caplog.text
    assert "an odd campaign" in caplog.text


def test_an_outage_of_the_database_is_left_to_the_scheduler(watched: Watched) -> None:
    """It pauses what would take workers for silent, and tries again."""
    watched.plan_error = OperationalError("SELECT", {}, Exception("away"))
    with pytest.raises(OperationalError):
        watched.round()
    assert watched.sent == []
    watched.plan_error = None
    assert watched.round() == (2, 1)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OperationalError("SELECT", {}, Exception("away")),
            "Notices cannot be sent, the database is unavailable: away",
        ),
        (ValueError("odd"), "Notices failed"),
    ],
)
def test_a_courier_that_fails_is_followed_by_another(
    watched: Watched, caplog: pytest.LogCaptureFixture, error: Exception, said: str
) -> None:
    watched.send_error = error
    watched.round()
    watched.arrive()
    assert said in caplog.text
    watched.round()
    until(lambda: len(watched.sent) == 2, "the next courier")


def test_who_ends_waits_for_the_courier_and_not_for_ever(watched: Watched) -> None:
    watched.runner.stop(60)
    watched.round()
    watched.runner.stop(0.01)
    assert watched.runner._courier is not None
    assert watched.runner._courier.is_alive()
    watched.arrive()


@pytest.mark.parametrize("mail_url", [None, "smtp://mail.example.org"])
def test_the_scheduler_has_the_settings_of_its_queue_and_mails_have_those_of_the_service(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, mail_url: str | None
) -> None:
    """What was given to the scheduler counts, whatever the environment says; without a mail server no mail waits."""
    monkeypatch.setenv("STEELYARD_DATABASE_URL", "sqlite:///elsewhere.db")
    if mail_url is not None:
        monkeypatch.setenv("STEELYARD_MAIL_URL", mail_url)
    watched = Watched(monkeypatch, Settings(database_url=sqlite_url, silent_seconds=77.0))
    found: Any = watched.runner._settings
    assert (found.database_url, found.silent_seconds, found.mail_url) == (sqlite_url, 77.0, mail_url)
    assert str(watched.runner._engine.url).startswith(sqlite_url)
    watched.round()
    watched.arrive()
    assert watched.planned == [mail_url is not None]
