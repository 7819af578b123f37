"""Results of computations that take longer than a page may: made in the background, and kept."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

REMEMBERED = 32
"""Results that are kept: they never change."""


class Slow:
    """The last results of long computations, each made once, one after the other, in a thread of their own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._kept: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._lock = Lock()
        self._thread: ThreadPoolExecutor | None = None

    def get(self, key: Hashable, make: Callable[[], object], patience: float | None = None) -> Any | None:
        """What `make` makes, under a key that names all that it depends on; None where it takes more seconds."""
        with self._lock:
            if key not in self._kept:
                self._thread = self._thread or ThreadPoolExecutor(1, self._name)
                self._kept[key] = self._thread.submit(make)
            self._kept.move_to_end(key)
            future = self._kept[key]
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)[1].cancel()
        try:
            return future.result(patience)
        except TimeoutError:
            return None
        except BaseException:
            # What went wrong once may go well the next time.
            with self._lock:
                self._kept.pop(key, None)
            raise

    def close(self) -> None:
        """Begin nothing more."""
        with self._lock:
            if self._thread is not None:
                self._thread.shutdown(wait=False, cancel_futures=True)
