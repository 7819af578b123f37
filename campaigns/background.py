"""Results of computations that take longer than a page may, computed in the background and cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from threading import Lock
from typing import Any

MAX_RESULTS = 32
"""Results that are kept. They never change."""


class BackgroundCache:
    """The last results of long computations: each computed once, one at a time, in a thread of its own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._kept: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._lock = Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._closed = False

    def get(self, key: Hashable, make: Callable[[], object], patience: float | None = None) -> Any | None:
        """Return the cached result of `make`; None if it takes more than `patience` seconds.

        The key must name everything that the result depends on.
        """
        with self._lock:
            if key not in self._kept:
                self._thread = self._thread or ThreadPoolExecutor(1, self._name)
                self._kept[key] = self._thread.submit(make)
            self._kept.move_to_end(key)
            future = self._kept[key]
            while len(self._kept) > MAX_RESULTS:
                self._kept.popitem(last=False)[1].cancel()
        # `make` may raise TimeoutError itself, which is a failure like others.
        if not wait([future], patience).done:
            return None
        try:
            return future.result()
        except BaseException as error:
            # A failure may be temporary: the next call tries again.
            with self._lock:
                if self._kept.get(key) is future:
                    del self._kept[key]
                evicted = isinstance(error, CancelledError) and not self._closed
            if not evicted:
                raise
        # So many others were asked for meanwhile that this one, not begun yet, made room for them.
        return self.get(key, make, patience)

    def close(self) -> None:
        """Start no further computation."""
        with self._lock:
            self._closed = True
            if self._thread is not None:
                self._thread.shutdown(wait=False, cancel_futures=True)
