"""Sandboxes whose processes the next app takes over: starting them takes longer than most tests of what they read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from pebble import ProcessPool

from campaigns.sandbox.processes import Sandbox
from web.state import State

LIMITS = ("reading_processes", "reading_bytes")
"""What processes are made for. Apps with other limits have processes of their own."""
_free: list[ProcessPool] = []


class KeptSandbox(Sandbox):
    """As the server's; closed, it ends what runs, and leaves its processes to the next one."""

    def _schedule(self, function: Callable[..., Any], arguments: tuple[object, ...], seconds: float) -> Any:
        with self._lock:
            if self._pool is None and _free:
                self._pool = _free.pop()
        return super()._schedule(function, arguments, seconds)

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        super().close()
        if pool is not None:
            _free.append(pool)


def keep_processes() -> None:
    """Let the apps of this process share them."""
    kept = cached_property(_sandbox)
    kept.__set_name__(State, "sandbox")
    State.sandbox = kept


def stop_kept() -> None:
    """Stop those that wait for another app."""
    while _free:
        pool = _free.pop()
        pool.stop()
        pool.join()


def _sandbox(state: State) -> Sandbox:
    usual = all(getattr(state.settings, name) == type(state.settings).model_fields[name].default for name in LIMITS)
    return (KeptSandbox if usual else Sandbox)(state.settings)
