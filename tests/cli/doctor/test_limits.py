"""From which figure on each check of `steelyard doctor` warns."""

from __future__ import annotations

import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from sqlalchemy import insert

from cli.doctor.database import _check_postgres
from cli.doctor.environment import _check_disk, _check_open_files
from cli.doctor.processes import (
    _check_redis,
    _check_waiting,
    _check_workers,
    check_broker,
    check_processes,
    check_webhooks,
)
from cli.doctor.web import check_accounts
from models.database.session import make_engine, reading, writing
from models.schema.accounts import Account
from models.schema.base import now
from models.schema.roles import SiteRole
from models.schema.states import QueueClass
from runtime.settings import Settings


def looked(**values):
    """An overview of nothing but these."""
    given = {"learned": (), "processes": 0, "queues": (), "workers": (), "unserved": {}}
    return SimpleNamespace(**given | values)


def found(checks):
    return [(each.check, each.level.value) for each in checks]


@pytest.mark.parametrize(
    ("workers", "idle", "broker", "expected"),
    [
        ([], True, False, [("workers", "ok")]),
        ([], False, False, [("workers", "problem")]),
        ([], True, True, [("workers", "problem")]),
        ([("1", True), ("1", True), ("0", False)], False, True, [("workers", "ok")]),
        ([("1", True), ("2", True)], True, True, [("workers", "warning")]),
    ],
)
def test_workers_that_live_are_counted(workers, idle, broker, expected):
    alive = [SimpleNamespace(version=version, beating=beating) for version, beating in workers]
    settings = SimpleNamespace(embedded=not broker)
    overview = looked(workers=alive, processes=sum(each.beating for each in alive))
    assert found(_check_workers(overview, settings, idle)) == expected
    more = looked(workers=alive, processes=overview.processes, unserved={7: 2, 6: 1})
    problems = [("edition 6", "problem"), ("edition 7", "problem")]
    assert found(_check_workers(more, settings, idle)) == [*expected, *problems]


def test_work_that_waits_too_long_is_named_where_workers_live():
    queues = [
        SimpleNamespace(queue_class=each, oldest_seconds=seconds)
        for each, seconds in zip(QueueClass, (600.0, 600.5, None), strict=False)
    ]
    second = list(QueueClass)[1]
    assert found(_check_waiting(looked(queues=queues, processes=1))) == [(f"{second.name.lower()} work", "warning")]
    assert found(_check_waiting(looked(queues=queues))) == []
    learned = [SimpleNamespace(metric=name, workers=workers, waiting=3) for name, workers in (("comet", 0), ("x", 1))]
    assert found(_check_waiting(looked(learned=learned))) == [("comet", "problem")]


@pytest.mark.parametrize(
    ("number", "used", "seconds", "fsync", "pages", "levels"),
    [
        (130000, 80, 4.0, "on", "on", ["ok", "ok", "ok"]),
        (129999, 81, 6.0, "on", "on", ["problem", "warning", "warning"]),
        (160000, 10, -6.0, "off", "on", ["problem", "ok", "warning"]),
        (160000, 10, 0.0, "on", "off", ["problem", "ok", "ok"]),
    ],
)
def test_what_a_database_server_says_of_itself(number, used, seconds, fsync, pages, levels):
    row = SimpleNamespace(
        number=number, version="x", most=100, used=used, fsync=fsync, pages=pages, at=time.time() + seconds
    )
    connection = SimpleNamespace(execute=lambda _: SimpleNamespace(one=lambda: row))
    checks = list(_check_postgres(connection))
    assert [each.check for each in checks] == ["PostgreSQL", "connections", "clocks"]
    assert [each.level.value for each in checks] == levels
    if "off" in (fsync, pages):
        assert checks[0].fix == f"Set {'fsync' if fsync == 'off' else 'full_page_writes'} = on."


@pytest.mark.parametrize(("url", "has_memory"), [("redis://x", True), ("rediss://x", True), ("amqp://x", False)])
def test_the_memory_of_every_redis_is_looked_at_and_of_nothing_else(url, has_memory, monkeypatch):
    redis = SimpleNamespace(info=lambda _: {"maxmemory": 9, "maxmemory_policy": "allkeys-lru"})
    monkeypatch.setattr("redis.Redis.from_url", lambda *_, **__: nullcontext(redis))
    monkeypatch.setattr("worker.app.Broker", lambda settings: settings)
    monkeypatch.setattr("worker.health_checks.check_broker", lambda _: SimpleNamespace(ok=True, reason="answers"))
    checks = list(check_broker(Settings(broker_url=url)))
    assert found(checks) == [("broker", "ok"), *[("Redis", "warning")] * has_memory]


@pytest.mark.parametrize(
    ("policy", "most", "level"),
    [("allkeys-lru", 100, "warning"), ("allkeys-lru", 0, "ok"), ("noeviction", 100, "ok"), ("volatile-lru", 9, "ok")],
)
def test_what_redis_does_with_full_memory(policy, most, level, monkeypatch):
    answer = {"maxmemory_policy": policy, "maxmemory": most}
    redis = SimpleNamespace(info=lambda _: answer)
    monkeypatch.setattr("redis.Redis.from_url", lambda *_, **__: nullcontext(redis))
    assert _check_redis("redis://x").level.value == level


@pytest.mark.parametrize(("free", "level"), [(2**30 - 1, "warning"), (2**30, "ok")])
def test_the_room_on_each_disk(free, level, monkeypatch, tmp_path):
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    settings = SimpleNamespace(
        database_url=f"sqlite:///{tmp_path / 'a.db'}", statistics_url=f"file://{tmp_path / 'not' / 'there'}"
    )
    assert found(_check_disk(settings)) == [
        (f"disk ({what})", level) for what in ("temporary files", "database file", "statistics")
    ]


@pytest.mark.parametrize(("limit", "level"), [(1023, "warning"), (1024, "ok"), (-1, "ok")])
def test_open_files(limit, level, monkeypatch):
    monkeypatch.setattr("resource.getrlimit", lambda _: (limit, limit))
    assert _check_open_files().level.value == level


@pytest.mark.parametrize(("given_up", "said"), [(True, "given up"), (False, "tried again")])
def test_messages_that_nobody_took(given_up, said, monkeypatch):
    failed = SimpleNamespace(given_up=given_up, date="2027-01-02", attempts=3, reason="away")
    monkeypatch.setattr("models.nightly.failed_deliveries.read_failed_deliveries", lambda _: {"b": failed, "a": failed})
    first, second = check_webhooks(None)
    assert (first.check, second.check) == ("webhook of schedule a", "webhook of schedule b")
    assert f"failed 3 times and is {said}: away" in first.found


@pytest.mark.parametrize(
    ("waiting", "open_ones", "embedded", "led", "scheduler"),
    [
        (0, 0, True, False, "ok"),
        (1, 0, True, False, "problem"),
        (0, 1, True, False, "problem"),
        (0, 0, False, False, "problem"),
        (1, 1, False, True, "ok"),
    ],
)
def test_nobody_need_lead_where_nothing_is_left_to_do(
    waiting, open_ones, embedded, led, scheduler, sqlite_url, monkeypatch
):
    """What workers have taken no longer waits, and is not done either."""
    overview = looked(waiting=waiting, open=open_ones)
    monkeypatch.setattr("models.queue_status.overview.read_overview", lambda *_, **__: overview)
    monkeypatch.setattr("scheduler.leader.has_leader", lambda *_: led)
    settings = SimpleNamespace(embedded=embedded, silent_seconds=60.0)
    (first, *_) = check_processes(settings, make_engine(sqlite_url, pooled=False))
    assert (first.check, first.level.value) == ("scheduler", scheduler)


def test_an_account_that_administers_nothing_is_no_administrator(sqlite_url):
    engine = make_engine(sqlite_url, pooled=False)
    levels = []
    for number, role in enumerate((SiteRole.ORGANISER, SiteRole.PARTICIPANT, SiteRole.ADMINISTRATOR)):
        with writing(engine) as connection:
            row = {"email": f"{number}@b.c", "name": "Ann", "role": role, "created_at": now()}
            connection.execute(insert(Account).values(**row))
        with reading(engine) as connection:
            levels.append(check_accounts(connection).level.value)
    assert levels == ["warning", "warning", "ok"]
