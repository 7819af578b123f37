"""A cache of the results of a pure function, bounded in bytes: the least recently used go first."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Key = TypeVar("Key", bound="Hashable")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """A function of one argument with a cache of its results, least recently used first out; many threads may call it.

    Parameters
    ----------
    function : function
        Of one hashable argument.
    size : function
        The bytes that a result takes.
    most : int
        Bytes to keep; a larger result is not kept.
    """

    def __init__(self, function: Callable[[Key], Value], size: Callable[[Value], int], most: int) -> None:
        self._function, self._size, self._most = function, size, most
        self._kept: OrderedDict[Key, Value] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def __call__(self, key: Key) -> Value:
        """The result of the function, from the cache where it is there."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        # Two threads may make the same at the same time: neither waits for the other.
        value = self._function(key)
        size = self._size(value)
        with self._lock:
            if size <= self._most and key not in self._kept:
                self._kept[key] = value
                self._bytes += size
                while self._bytes > self._most:
                    self._bytes -= self._size(self._kept.popitem(last=False)[1])
        return value
