"""Requests to stop, made by signal handlers."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

from runtime.stop_request import StopRequest

ROOT = Path(__file__).parents[2]

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
