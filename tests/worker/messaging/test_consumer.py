"""What becomes of a message that Celery's handler cannot handle, and of a connection that breaks meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from celery import signals
from celery.worker.consumer import Consumer

from worker.messaging import consumer as module
from worker.messaging.consumer import TaskConsumer
from worker.messaging.messages import Fault


class ChannelClosed(Exception):
    """An error of a channel."""


@pytest.fixture
def dropped() -> Iterator[list[str]]:
    """The reasons of messages that were dropped."""
    found: list[str] = []

    def note(exc: Any = None, **_: object) -> None:
        found.append(exc.reason)

    signals.task_rejected.connect(note, weak=False)
    yield found
    signals.task_rejected.disconnect(note)


def handled(monkeypatch: pytest.MonkeyPatch, error: Exception | None, fault: Fault | None = None) -> list[str]:
    """What was done with one message, by Celery's own handler and by ours."""
    done: list[str] = []

    def handle(_message: object) -> None:
        done.append("handled")
        if error is not None:
            raise error

    monkeypatch.setattr(Consumer, "create_task_handler", lambda *_, **__: handle)
    monkeypatch.setattr(module, "find_fault", lambda _message: fault)
    ours: Any = TaskConsumer.__new__(TaskConsumer)
    ours.conninfo = SimpleNamespace(connection_errors=(ConnectionError,), channel_errors=(ChannelClosed,))
    ours.connection_errors = (ConnectionError,)
    message = SimpleNamespace(reject_log_error=lambda *_: done.append("rejected"))
    try:
        ours.create_task_handler()(message)
    except Exception as raised:
        done.append(type(raised).__name__)
    return done


def test_one_of_ours_is_handled_and_a_foreign_one_is_not(monkeypatch: pytest.MonkeyPatch, dropped: list[str]) -> None:
    assert handled(monkeypatch, None) == ["handled"]
    assert dropped == []
    assert handled(monkeypatch, None, Fault("large", "it is long")) == ["rejected"]
    assert dropped == ["large"]


def test_what_cannot_be_handled_is_dropped(monkeypatch: pytest.MonkeyPatch, dropped: list[str]) -> None:
    assert handled(monkeypatch, ValueError("odd")) == ["handled", "rejected"]
    assert dropped == ["failed"]


@pytest.mark.parametrize("error", [ConnectionError("cut"), ChannelClosed("closed")], ids=str)
def test_a_broken_connection_is_made_anew_and_no_message_is_blamed(
    monkeypatch: pytest.MonkeyPatch, dropped: list[str], error: Exception
) -> None:
    """Celery does that where the error reaches it."""
    assert handled(monkeypatch, error) == ["handled", type(error).__name__]
    assert dropped == []
