"""How long each metric took, where metrics share work."""

from __future__ import annotations

import time
from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator


class Stopwatch:
    """Measures pieces of work that lie within one another and use each other's results.

    `Segments.cached` measures what is prepared, whoever asks first; its time is divided evenly among all that asked for
    it, also by way of something else. Times are wall-clock seconds.

    Parameters
    ----------
    clock : callable
        The seconds of now.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._own: defaultdict[Hashable, float] = defaultdict(float)
        self._used: defaultdict[Hashable, set[Hashable]] = defaultdict(set)
        self._running: list[Hashable] = []
        self._since = 0.0

    @property
    def total(self) -> float:
        """Seconds of all that was measured."""
        return sum(self._own.values())

    @contextmanager
    def timing(self, piece: Hashable) -> Iterator[None]:
        """Count the time spent within for a piece, except that of pieces within it.

        Parameters
        ----------
        piece : Hashable

        Returns
        -------
        context manager
        """
        self.uses(piece)
        self._turn()
        self._running.append(piece)
        try:
            yield
        finally:
            self._turn()
            self._running.pop()

    def uses(self, piece: Hashable) -> None:
        """Note that what is being measured needs the result of a piece.

        Parameters
        ----------
        piece : Hashable
            Made now or before.
        """
        if self._running:
            self._used[self._running[-1]].add(piece)

    def shares(self, pieces: list[Hashable]) -> list[float]:
        """Seconds of some pieces, each with its share of what it used.

        Parameters
        ----------
        pieces : list of Hashable

        Returns
        -------
        list of float
        """
        needed = [self._needed(piece) for piece in pieces]
        users: defaultdict[Hashable, int] = defaultdict(int)
        for used in needed:
            for piece in used:
                users[piece] += 1
        return [sum(self._own[piece] / users[piece] for piece in used) for used in needed]

    def _turn(self) -> None:
        now = self._clock()
        if self._running:
            self._own[self._running[-1]] += now - self._since
        self._since = now

    def _needed(self, piece: Hashable) -> set[Hashable]:
        found, open_ = {piece}, [piece]
        while open_:
            new = self._used[open_.pop()] - found
            found |= new
            open_ += new
        return found
