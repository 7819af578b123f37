"""Settings: read from the environment, each described where it is declared."""

import os

import pytest
from pydantic import ValidationError

from cli.commands import Options
from cli.stored import read_settings
from runtime.service_settings import WebSettings, site_url
from runtime.settings import SHORTER_THAN, Settings
from steelyard.commands.errors import UsageError
from tests.described import descriptions
from tests.scheduler.jobs import queue_named
from worker.app import QUEUES, make_app, run_worker
from worker.errors import BrokerInMemory


def test_every_setting_is_described() -> None:
    assert set(Settings.model_fields) == set(descriptions(Settings))


def test_the_environment_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Settings().embedded
    monkeypatch.setenv("STEELYARD_BROKER_URL", "redis://localhost/0")
    monkeypatch.setenv("STEELYARD_CONCURRENCY", "3")
    settings = Settings()
    assert not settings.embedded
    assert settings.processes == 3


def test_an_empty_variable_is_none_and_the_case_of_its_name_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_MAX_ATTEMPTS", "")
    monkeypatch.setenv("steelyard_web_port", "99")
    settings = WebSettings()
    assert settings.max_attempts == 3
    assert settings.web_port == 99


def test_what_is_given_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_CONCURRENCY", "3")
    assert Settings(concurrency=7).concurrency == 7
    assert Settings(concurrency=None).concurrency is None


def test_nonsense_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_MAX_ATTEMPTS", "0")
    with pytest.raises(ValidationError, match="max_attempts"):
        Settings()


@pytest.mark.parametrize(("shorter", "longer"), [(shorter, longer) for shorter, longer, _ in SHORTER_THAN])
def test_times_that_do_not_fit_are_refused(shorter: str, longer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever of the two was set, and also where they are equal."""
    defaults = Settings()
    assert getattr(defaults, shorter) < getattr(defaults, longer)
    for changed, value in ((shorter, getattr(defaults, longer)), (longer, getattr(defaults, shorter))):
        with monkeypatch.context() as environment:
            environment.setenv(f"STEELYARD_{changed.upper()}", str(value))
            with pytest.raises(ValidationError, match=r"STEELYARD_[A-Z_]+=.* must be less than STEELYARD_") as refused:
                Settings()
        assert f"STEELYARD_{changed.upper()}={value:g}" in str(refused.value)


def test_a_command_says_which_times_do_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_TASK_SECONDS", "600")
    with pytest.raises(UsageError) as refused:
        read_settings(Options())
    assert str(refused.value) == (
        "STEELYARD_TASK_SECONDS=600 must be less than STEELYARD_LEASE_SECONDS=180, or work that is still running would "
        "be given to another worker, again and again."
    )
    monkeypatch.setenv("STEELYARD_LEASE_SECONDS", "660")
    assert read_settings(Options()).task_seconds == 600


def test_messages_may_be_lost() -> None:
    conf = make_app(Settings(broker_url="redis://localhost/0")).conf
    assert conf.result_backend is None
    assert conf.task_ignore_result
    assert not conf.task_acks_late
    assert not conf.task_reject_on_worker_lost
    assert conf.worker_prefetch_multiplier == 1
    assert conf.worker_disable_prefetch
    assert not conf.worker_enable_remote_control
    assert conf.accept_content == ["json"]
    assert conf.broker_connection_max_retries is None
    assert ",".join(map(queue_named, ("interactive", "campaign", "nightly"))) == QUEUES


def test_apps_do_not_share_their_tasks() -> None:
    one, other = (make_app(Settings(broker_url="redis://localhost/0")) for _ in range(2))
    assert one.tasks["score_shard"] is not other.tasks["score_shard"]
    assert {"score_shard", "reduce", "wake"} <= set(one.tasks)


def test_a_worker_of_its_own_needs_a_broker() -> None:
    with pytest.raises(BrokerInMemory, match="STEELYARD_BROKER_URL"):
        run_worker(Settings())


@pytest.mark.parametrize(
    ("asked", "listens", "prepares"),
    [(None, None, True), (None, "postgresql://x/y", False), (True, "postgresql://x/y", True), (False, None, False)],
)
def test_statements_are_prepared_as_is_said_or_unless_there_is_a_pooler(
    *, asked: bool | None, listens: str | None, prepares: bool
) -> None:
    assert Settings(prepared_statements=asked, listen_url=listens).prepares_statements is prepares


def test_a_pool_has_a_process_for_each_core_that_it_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not for each of the machine: a container has some of them."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {1, 5, 64})
    assert Settings().processes == 3
    assert Settings(concurrency=7).processes == 7


def test_a_session_ends_when_it_is_not_used_and_after_its_longest_time() -> None:
    lifetime = WebSettings(session_seconds=5.0, session_longest_seconds=70.0).session_lifetime
    assert (lifetime.unused_seconds, lifetime.longest_seconds) == (5.0, 70.0)


@pytest.mark.parametrize(
    ("public_url", "expected"),
    [(None, "http://127.0.0.2:99"), ("https://mt.example.org/", "https://mt.example.org"), ("", "http://127.0.0.2:99")],
)
def test_links_lead_to_where_people_are(public_url: str | None, expected: str) -> None:
    assert site_url(WebSettings(public_url=public_url, web_host="127.0.0.2", web_port=99)) == expected
