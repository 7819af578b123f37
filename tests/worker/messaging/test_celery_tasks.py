"""What a worker does with each of the tasks that it registers with Celery."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import worker.handlers
from models.queue.kinds.registry import BY_MESSAGE
from runtime.settings import Settings
from worker.context import WorkerContext
from worker.messaging.celery_tasks import MESSAGE_HEADER, WAKE, register_tasks
from worker.tasks import MESSAGE_VERSION


@pytest.fixture
def context(sqlite_url: str) -> Iterator[WorkerContext]:
    context = WorkerContext(Settings(database_url=sqlite_url))
    yield context
    context.close()


def registered(context: WorkerContext) -> dict[str, Callable[..., None]]:
    """The functions by the names of their tasks."""
    found: dict[str, Callable[..., None]] = {}

    def task(function: Callable[..., None], *, name: str, shared: bool, bind: bool = False) -> None:
        assert not shared, "every app of the process would have them, with this context"
        assert bind is (name != WAKE)
        found[name] = function

    register_tasks(SimpleNamespace(task=task), context)
    return found


@pytest.mark.parametrize("name", BY_MESSAGE)
def test_the_rows_of_a_message_are_done_by_their_kind_in_the_name_of_its_task(
    context: WorkerContext, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """By the id of the task, what it holds is found where its process dies."""
    done: list[tuple[Any, ...]] = []
    monkeypatch.setattr(worker.handlers, "do_several", lambda *given: done.append(given))
    task = registered(context)[name]
    ours = SimpleNamespace(name=name, request=SimpleNamespace(id="t1", headers={MESSAGE_HEADER: MESSAGE_VERSION}))
    task(ours, 5, 7)
    assert done == [(context, BY_MESSAGE[name], (5, 7), "t1")]
    ours.request.headers = {MESSAGE_HEADER: MESSAGE_VERSION + 1}
    task(ours, 5, 7)
    assert len(done) == 1, "a newer release may mean something else"


def test_a_worker_that_is_woken_does_nothing(context: WorkerContext) -> None:
    tasks = registered(context)
    assert {*tasks} == {*BY_MESSAGE, WAKE}
    tasks[WAKE]()
