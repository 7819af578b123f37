"""How a pool process begins, and when another takes its place."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from runtime.settings import Settings
from worker.context import WorkerContext
from worker.memory_limit import RENEWED_AT
from worker.processes import start

MIB = 2**20


@pytest.fixture
def context(sqlite_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(Settings(database_url=sqlite_url, task_bytes=400 * MIB, niceness=7), 2)
    yield context
    context.close()


def test_it_is_replaced_where_it_holds_much_more_than_its_parent(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the parent holds is shared with it, and would be there in the next one, too."""
    monkeypatch.setattr(start, "memory_bytes", lambda: 1000 * MIB)
    most = start.resident_limit(context)
    assert most == 1000 * MIB + RENEWED_AT * 400 * MIB
    for held, replaced in ((1000 * MIB, False), (most, False), (most + 1, True), (None, False)):
        monkeypatch.setattr(start, "memory_bytes", lambda held=held: held)
        assert start.should_be_replaced(1, most) == replaced
    monkeypatch.setattr(start, "memory_bytes", lambda: None)
    assert start.resident_limit(context) == 0, "it is not known here"
    monkeypatch.setattr(start, "memory_bytes", lambda: 1000 * MIB)
    assert not start.should_be_replaced(start.TASKS_PER_PROCESS - 1, 0)
    assert start.should_be_replaced(start.TASKS_PER_PROCESS, 0)


def test_it_has_its_row_its_limit_and_its_nice_value(context: WorkerContext, monkeypatch: pytest.MonkeyPatch) -> None:
    limits, nice = list[int](), list[int]()
    monkeypatch.setattr(start, "limit_memory", limits.append)
    monkeypatch.setattr(os, "nice", nice.append)
    start.begin(context, 1)
    assert (limits, nice) == ([400 * MIB], [7])
    assert context.counters.processes() == {1: os.getpid()}
