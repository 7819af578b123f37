"""How often a command looks for cycles."""

import atexit
import gc
from collections.abc import Iterator

import pytest

from cli.main import main
from steelyard.commands.startup import THRESHOLD, collect_rarely


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*before)
    atexit.unregister(gc.freeze)


def test_a_short_command_looks_rarely() -> None:
    collect_rarely()
    assert gc.get_threshold() == (THRESHOLD, 10, 10)


@pytest.mark.parametrize("verb", ["worker", "serve", "scheduler", "up"])
def test_what_runs_for_days_looks_as_often_as_ever(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEELYARD_DATABASE_URL", "nowhere://")
    # It ends at once, for there is no such database.
    assert main([verb]) in (1, 2)
    assert gc.get_threshold() == (700, 10, 10)
