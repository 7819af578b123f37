"""What a command computes itself: by as many processes as it was told, or by the workers of a broker."""

from __future__ import annotations

from typing import Any, Self

import pytest

from cli.processes import working
from scheduler.embedded import shared, wait


class Shared:
    """In place of the embedded worker: notes what is asked of it."""

    asked: list[Any]

    def __init__(self, _settings: object, processes: int | None, _say: object) -> None:
        Shared.asked = [processes]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.asked.append("left")

    def run_until(self, _read: object, _on_progress: object) -> None:
        self.asked.append("ran")

    def finish(self) -> None:
        self.asked.append("finished")


def test_it_takes_as_many_processes_as_were_asked_for(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "SharedEmbedded", Shared)
    for given, expected in ((3, 3), (0, None), (None, None)):
        working.finish_evaluations(sqlite_url, [1], given)
        assert Shared.asked == [expected, "ran", "finished", "left"]
    working.finish_comparison(sqlite_url, 1)
    assert Shared.asked == [None, "ran", "finished", "left"]


def test_with_a_broker_it_waits_for_workers(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    waited = []
    monkeypatch.setenv("STEELYARD_BROKER_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(shared, "SharedEmbedded", None)
    monkeypatch.setattr(working, "note_without_workers", lambda _settings: waited.append("told"))
    monkeypatch.setattr(wait, "wait_until", lambda *_: waited.append("waited"))
    working.finish_evaluations(sqlite_url, [1], 3)
    assert waited == ["told", "waited"]
