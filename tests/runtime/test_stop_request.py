"""Requests to stop, made by signal handlers."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.stop_request import SIGNALS, StopRequest, stopped_by_signals

ROOT = Path(__file__).parents[2]

PATIENCE_SECONDS = 240.0

INTERRUPTED = """
import signal
from runtime.stop_request import StopRequest as Request

stop, handled = Request(), 0

def handle(*_):
    global handled
    handled += 1
    stop.set()

signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
while handled < 500:
    stop.wait(0)
print("went on")
"""
"""A process whose waits are interrupted at many places by a handler that makes the request."""

STUCK = """
import ctypes, os, signal, sys
from runtime.stop_request import stopped_by_signals

signal.signal(signal.SIGUSR1, lambda *_: None)
with stopped_by_signals(0.5):
    os.kill(os.getpid(), signal.SIGUSR1)
    os.kill(os.getpid(), int(sys.argv[1])) if int(sys.argv[2]) else None
    print("waits", flush=True)
    mutex, lock = ctypes.create_string_buffer(64), ctypes.CDLL(None).pthread_mutex_lock
    lock(mutex)
    lock(mutex)
"""
"""A process that waits in C for ever, before or after a signal: no handler written in Python runs any more."""


def test_a_handler_may_make_it_wherever_it_interrupts() -> None:
    found = subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert found.stdout == "went on\n", found.stderr


def test_a_signal_ends_the_wait_of_the_main_thread() -> None:
    stop, before = StopRequest(), signal.getsignal(signal.SIGALRM)
    signal.signal(signal.SIGALRM, lambda *_: stop.set())
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        assert stop.wait(3600)
    finally:
        signal.signal(signal.SIGALRM, before)


def test_it_is_waited_for_by_all_threads_and_stays_made() -> None:
    stop, seen = StopRequest(), list[bool]()
    assert not stop.is_set()
    assert not stop.wait(0.001)
    assert not stop.wait(-1.0)
    threads = [threading.Thread(target=lambda: seen.append(stop.wait())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        stop.set()
    for thread in threads:
        thread.join()
    assert (seen, stop.is_set(), stop.wait(0)) == ([True] * 3, True, True)


def test_more_requests_than_a_pipe_holds() -> None:
    stop = StopRequest()
    for _ in range(70_000):
        stop.set()
    assert stop.wait(0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("before", [True, False])
def test_what_waits_for_ever_is_ended(number: signal.Signals, before: bool) -> None:
    command = [sys.executable, "-c", STUCK, str(int(number)), str(int(before))]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waits\n"
        if not before:
            process.send_signal(number)
        _, told = process.communicate(timeout=120)
    assert process.returncode == 0
    expected = (
        "Ended while it still waits for an answer, 0.5 s after it was to stop. It waits in <module> (<string>:12)\n"
    )
    assert told == expected


LEFT_BEHIND = """
import threading, time
from runtime.stop_request import end_after_main_thread

end_after_main_thread(0.5)
time.sleep(1.5)
print("went on", flush=True)
threading.Thread(target=threading.Event().wait).start()
"""
"""A process whose main thread ends, and another one never does."""


def test_threads_that_are_left_behind_are_ended() -> None:
    ran = subprocess.run([sys.executable, "-c", LEFT_BEHIND], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (0, "went on\n")
    assert "Ended while it still waits for an answer, 0.5 s after it was to stop" in ran.stderr


@pytest.fixture
def handlers() -> Iterator[None]:
    """The handlers of this process, put back."""
    before = {number: signal.getsignal(number) for number in (*SIGNALS, signal.SIGUSR1)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
def test_other_signals_end_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = list[int]()
    monkeypatch.setattr("os._exit", ended.append)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    with stopped_by_signals(0.01) as stop:
        signal.raise_signal(signal.SIGUSR1)
        assert not stop.wait(0.2)
    assert not ended


@pytest.mark.usefixtures("handlers")
def test_who_ends_in_time_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os._exit", pytest.fail)
    others = set(threading.enumerate())
    with stopped_by_signals(3600.0) as stop:
        signal.raise_signal(signal.SIGTERM)
        assert stop.wait(3600)
    # The first of them starts the second, which is among them before it can be joined.
    end = time.monotonic() + PATIENCE_SECONDS
    while any(thread.name in ("stopping", "ending") for thread in set(threading.enumerate()) - others):
        assert time.monotonic() < end, "a thread waits on"
        time.sleep(0.01)
    assert signal.set_wakeup_fd(-1) == -1
