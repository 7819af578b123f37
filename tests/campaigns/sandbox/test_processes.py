"""What runs in the sandbox can be ended: for its time, its memory, its death, or because the server stops."""

from __future__ import annotations

import asyncio
import os
import pickle
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from campaigns.errors import Unavailable
from campaigns.sandbox.fair_queue import Owner
from campaigns.sandbox.processes import ReadingFailed, ReadingMemoryLimit, ReadingTimeout, Sandbox, scratch_folder
from campaigns.sandbox.results import Processes, read_data
from models.schema.states import LeaseState
from runtime.service_settings import WebSettings
from steelyard.errors import BadText
from steelyard.formats.filed import FiledText
from steelyard.formats.input.contents import Contents
from steelyard.text.limits import TextLimits

PATIENCE_SECONDS = 120.0


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    made = Sandbox(WebSettings(reading_processes=2, reading_seconds=60, reading_bytes=128 << 20))
    yield made
    made.close()


def number() -> int:
    return os.getpid()


def quadratic(blanks: int) -> bool:
    """Holds the interpreter's lock for many seconds, or for hours, as one call into C."""
    return re.search(r"\s+\Z", " " * blanks + "b") is None


def greedy(size: int) -> int:
    return len(bytearray(size))


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(words: str) -> None:
    raise BadText(words)


def begun(place: Path, seconds: float) -> None:
    place.write_text(str(os.getpid()))
    time.sleep(seconds)


def run(sandbox: Sandbox, function: Any, *args: Any, owner: int = 1) -> Any:
    return asyncio.run(sandbox.run(Owner(owner), function, *args))


def test_functions_run_in_another_process_and_what_they_raise_comes_back(sandbox: Sandbox) -> None:
    assert run(sandbox, number) != os.getpid()
    with pytest.raises(BadText, match=r"line 3: what\Z"):
        run(sandbox, refuse, "line 3: what")


class Evil:
    """What a process that a text has taken over may send."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self) -> Any:
        return Path.touch, (self.place,)


def evil(place: Path) -> Evil:
    return Evil(place)


def test_a_first_upload_waits_for_no_import(sandbox: Sandbox) -> None:
    loaded = run(sandbox, eval, "[name for name in __import__('sys').modules if name.startswith('campaigns.')]")
    assert {"campaigns.sandbox.preloaded", "campaigns.submissions.reading"} <= set(loaded)


def test_what_comes_back_is_data_and_runs_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    place = tmp_path / "run"
    with pytest.raises(Unavailable):
        run(sandbox, evil, place)
    assert not place.exists()
    # The next one finds processes all the same.
    assert run(sandbox, number) != os.getpid()


@pytest.mark.parametrize("what", [os.system, Path.touch, setattr, eval, pytest.main, Sandbox, re.compile("a")])
def test_no_function_and_no_other_class_is_data(what: object) -> None:
    with pytest.raises(OSError, match="is no data"):
        read_data(pickle.dumps(what))


class Asked:
    """Sent as `getattr(of, name)`."""

    def __init__(self, of: object, name: str) -> None:
        self.of, self.name = of, name

    def __reduce__(self) -> Any:
        return getattr, (self.of, self.name)


def test_errors_of_readers_are_known_before_anything_was_read() -> None:
    """Else the first file that is refused would break the pool, and with it what others send."""
    program = """
import pkgutil, sys
from importlib import import_module
import campaigns.sandbox.processes, web.app
known = {*sys.modules}
import steelyard.checks, steelyard.errors, steelyard.formats, steelyard.meta_evaluation
for room in (steelyard.checks, steelyard.formats, steelyard.meta_evaluation):
    for module in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
        import_module(module.name)
kinds = [steelyard.errors.MetricsError]
for kind in kinds:
    kinds += kind.__subclasses__()
print(len(kinds), *sorted({kind.__module__ for kind in kinds} - known))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    number, *unknown = done.stdout.split()
    assert int(number) > 10
    assert not unknown


def test_members_of_enumerations_are_data_as_older_pythons_send_them() -> None:
    assert read_data(pickle.dumps(Asked(LeaseState, "RUNNING"))) is LeaseState.RUNNING


@pytest.mark.parametrize(
    ("of", "name"), [(LeaseState, "__init__"), (LeaseState, "mro"), (BadText, "__init__"), (Owner(1), "team")]
)
def test_no_other_attribute_is_data(of: object, name: str) -> None:
    with pytest.raises(OSError, match=r"is no data|no member of an enumeration"):
        read_data(pickle.dumps(Asked(of, name)))


def test_what_comes_back_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox = Sandbox(WebSettings(reading_processes=1, reading_bytes=64 << 20))
    monkeypatch.setattr("campaigns.sandbox.processes.Processes", lambda most: Processes(1 << 20))
    try:
        assert len(run(sandbox, bytes, 1 << 19)) == 1 << 19
        with pytest.raises(Unavailable):
            run(sandbox, bytes, 1 << 20)
        assert run(sandbox, number)
    finally:
        sandbox.close()


def test_what_takes_too_long_is_ended_even_inside_one_call_into_c(monkeypatch: pytest.MonkeyPatch) -> None:
    # So that it is processor time that ends it.
    monkeypatch.setattr("campaigns.sandbox.processes.WALL_TIME_FACTOR", 10_000)
    sandbox = Sandbox(WebSettings(reading_processes=1, reading_seconds=0.2))
    try:
        for _ in range(2):
            with pytest.raises(ReadingTimeout):
                run(sandbox, quadratic, 60_000)
        # The next one finds a process all the same.
        assert run(sandbox, number)
    finally:
        sandbox.close()


def test_what_only_waits_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("campaigns.sandbox.processes.WALL_TIME_FACTOR", 1)
    sandbox = Sandbox(WebSettings(reading_processes=1, reading_seconds=1))
    try:
        with pytest.raises(ReadingTimeout):
            run(sandbox, time.sleep, PATIENCE_SECONDS)
    finally:
        sandbox.close()


def test_what_takes_too_much_memory_is_ended(sandbox: Sandbox) -> None:
    assert run(sandbox, greedy, 16 << 20) == 16 << 20
    with pytest.raises(ReadingMemoryLimit):
        run(sandbox, greedy, 256 << 20)


def test_a_process_that_dies_harms_no_other(sandbox: Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ReadingFailed):
        run(sandbox, die, owner=7)
    assert caplog.messages == ["What account 7 sent was not read: not_read (ProcessExpired)"]
    assert run(sandbox, number) != os.getpid()


def test_two_runs_of_one_turn_share_its_time() -> None:
    sandbox = Sandbox(WebSettings(reading_processes=1, reading_seconds=3))

    async def two() -> None:
        async with sandbox.turn(Owner(1)) as turn:
            assert turn.seconds == 3
            await turn.run(time.sleep, 0.5)
            assert 1 <= turn.seconds <= 2.5
            await turn.run(quadratic, 10_000_000)

    try:
        with pytest.raises(ReadingTimeout):
            asyncio.run(two())
    finally:
        sandbox.close()


def test_closing_ends_what_runs_and_sends_away_who_waits(sandbox: Sandbox, tmp_path: Path) -> None:
    place = tmp_path / "begun"

    async def both() -> list[Any]:
        running = asyncio.create_task(sandbox.run(Owner(1), begun, place, PATIENCE_SECONDS))
        waiting = asyncio.create_task(sandbox.run(Owner(1), number))
        while not place.exists() or sandbox.places(1) != [0]:
            await asyncio.sleep(0.01)
        await asyncio.to_thread(sandbox.close)
        return await asyncio.gather(running, waiting, return_exceptions=True)

    assert [type(each) for each in asyncio.run(both())] == [Unavailable, Unavailable]
    with pytest.raises(ProcessLookupError):
        os.kill(int(place.read_text()), 0)


def test_who_waits_too_long_is_sent_away(tmp_path: Path) -> None:
    sandbox = Sandbox(WebSettings(reading_processes=1, waiting_seconds=0.2))
    place = tmp_path / "begun"

    async def both() -> None:
        running = asyncio.create_task(sandbox.run(Owner(1), begun, place, PATIENCE_SECONDS))
        while not place.exists():
            await asyncio.sleep(0.01)
        with pytest.raises(Unavailable, match="yours timed out"):
            await sandbox.run(Owner(2), number)
        assert sandbox.places(2) == []
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    try:
        asyncio.run(both())
    finally:
        sandbox.close()


def test_who_goes_away_stops_what_was_begun(sandbox: Sandbox, tmp_path: Path) -> None:
    place = tmp_path / "begun"

    async def leave() -> None:
        running = asyncio.create_task(sandbox.run(Owner(1), begun, place, PATIENCE_SECONDS))
        while not place.exists():
            await asyncio.sleep(0.01)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        # The slot is free again at once.
        assert await sandbox.run(Owner(1), number)

    asyncio.run(leave())


def test_a_large_text_stays_in_its_file_after_it_was_read(sandbox: Sandbox) -> None:
    with scratch_folder() as folder:
        path = folder / "text"
        path.write_bytes(b"one\r\ntwo\nthree\n")
        text = run(sandbox, filed, path)
        assert (text.name, text.segments, text.bytes, text.size) == ("text", 3, b"one\ntwo\nthree", 13)
        assert len(text.notices) == 1
        assert list(text.runs(1)) == [b"one\ntwo\nthree"]
    assert not folder.exists()


def filed(path: Path) -> FiledText:
    return FiledText(Contents(path, name="text"), TextLimits(held_bytes=1))


STARTED_AT_THE_END = """
import multiprocessing, os, sys
from multiprocessing.synchronize import SemLock
from pathlib import Path

from campaigns.sandbox.processes import PRELOADED
from tests.campaigns.sandbox.test_processes import Waits, number

if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(PRELOADED))
    lock, go_on = context.Lock(), Path(sys.argv[1])
    process = context.Process(target=number, args=(Waits(go_on), lock))
    process.start()
    SemLock._cleanup(lock._semlock.name)
    go_on.touch()
    process.join()
    os._exit(0)
"""


def wait_for_file(path: Path) -> None:
    while not path.exists():
        time.sleep(0.01)


class Waits:
    """Is read by another process only once a file is there."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return wait_for_file, (self._path,)


def test_a_process_that_starts_as_the_pool_stops_ends_without_a_word(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(STARTED_AT_THE_END)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    ended = subprocess.run(
        [sys.executable, script, tmp_path / "go"], env=environment, capture_output=True, text=True, check=True
    )
    assert ended.stderr == ""
