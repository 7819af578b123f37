"""Which systems of a board differ by more than chance: every pair is tested once in the life of a process.

A test of two systems rests on their stored replicates alone, so it never changes. A submission that is new brings its
own pairs; few of them are tested while somebody waits, many (a server that has just started, before a board of a
thousand) by a thread in the background.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from analysis.leaderboard.significance import ALPHA
from campaigns.leaderboards.cache import Memory
from campaigns.leaderboards.scores import Measured, read_replicates
from metrics.resampling.bootstrap_p import bootstrap_p_values

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from campaigns.leaderboards.snapshot import Contender
    from models.results.boards import ListedBoard

log = logging.getLogger(__name__)

AT_ONCE = 128
"""Pairs whose replicates are compared at a time: they fit a cache."""
PATIENCE = 3_000
"""Pairs that are tested while somebody waits: some hundredths of a second."""
PAUSE_SECONDS = 0.002
"""Between two lots in the background, so that requests get their turn."""

UNTESTED, NOT_TO_BE_TESTED, ALIKE, DIFFERENT = -1, -2, 0, 1


@dataclass
class _Table:
    """The tests of one board by one metric."""

    place: dict[Measured, int] = field(default_factory=dict)
    found: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), np.int8))


@dataclass(frozen=True)
class Tested:
    """What is known of the pairs among some systems."""

    different: NDArray[np.bool_]
    """(systems, systems): whether the difference is more than chance."""
    lacking: int
    """Pairs that are still to be tested."""
    not_testable: int
    """Pairs that cannot be tested, because replicates have no score or are all alike."""


class Wins:
    """The tables of all boards of a process."""

    def __init__(self, memory: Memory, reading: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._memory = memory
        # Tests that are lost as soon as they are made would be made for ever.
        self._tables = Memory(memory.most_bytes // 4, keeps_last=True)
        self._reading = reading
        self._lock = threading.Lock()
        self._at_work: set[tuple[int, int, int]] = set()

    def tested(
        self, connection: Connection, listed: ListedBoard, metric: int, contenders: Sequence[Contender]
    ) -> Tested:
        """What is known of the pairs of these systems, which all have a score by the metric.

        Few that are lacking are tested now; of many, a thread begins to test them.
        """
        measured = [each.measured for each in contenders]
        found = self._read(listed, metric, measured)
        lacking = int(np.count_nonzero(found == UNTESTED)) // 2
        if 0 < lacking <= PATIENCE:
            replicates = read_replicates(connection, self._memory, measured, metric)
            self._test(listed, metric, contenders, replicates, _untested(found), pause=0)
            found, lacking = self._read(listed, metric, measured), 0
        elif lacking:
            self._begin(listed, metric, list(contenders))
        return Tested(found == DIFFERENT, lacking, int(np.count_nonzero(found == NOT_TO_BE_TESTED)) // 2)

    def _table(self, listed: ListedBoard, metric: int) -> _Table:
        key = listed.protocol_id, listed.campaign_id, metric
        known: _Table | None = self._tables.get(key)
        return _Table() if known is None else known

    def _read(self, listed: ListedBoard, metric: int, measured: Sequence[Measured]) -> NDArray[np.int8]:
        """What is known of each pair; systems that are new get a place in the table."""
        with self._lock:
            table = self._table(listed, metric)
            fresh = [each for each in measured if each not in table.place]
            if fresh and len(table.place) > 2 * len(measured):
                # Most of it is about systems that have been replaced.
                kept = [each for each in measured if each in table.place]
                places = [table.place[each] for each in kept]
                table = _Table(dict(zip(kept, range(len(kept)), strict=True)), table.found[np.ix_(places, places)])
            if fresh:
                before, size = len(table.place), len(table.place) + len(fresh)
                larger = np.full((size, size), UNTESTED, np.int8)
                np.fill_diagonal(larger, ALIKE)
                larger[:before, :before] = table.found
                place = table.place | dict(zip(fresh, range(before, size), strict=True))
                table = _Table(place, larger)
            self._keep(listed, metric, table)
            places = [table.place[each] for each in measured]
            return table.found[np.ix_(places, places)]

    def _keep(self, listed: ListedBoard, metric: int, table: _Table) -> None:
        size = table.found.nbytes + 300 * len(table.place)
        self._tables.put((listed.protocol_id, listed.campaign_id, metric), table, size)

    def _test(
        self,
        listed: ListedBoard,
        metric: int,
        contenders: Sequence[Contender],
        replicates: NDArray[np.float64],
        pairs: NDArray[np.intp],
        *,
        pause: float,
    ) -> None:
        """Test pairs of positions among these systems, by their replicates."""
        scores = np.array([each.figures[metric].score for each in contenders], dtype=np.float64)
        results = np.empty(len(pairs), np.int8)
        for begin in range(0, len(pairs), AT_ONCE):
            first, second = pairs[begin : begin + AT_ONCE].T
            p = bootstrap_p_values(scores[second] - scores[first], replicates[second] - replicates[first])
            of_some = np.where(p < ALPHA, DIFFERENT, ALIKE)
            results[begin : begin + AT_ONCE] = np.where(np.isnan(p), NOT_TO_BE_TESTED, of_some)
            if pause:
                time.sleep(pause)
        with self._lock:
            table = self._table(listed, metric)
            place = [table.place.get(each.measured, -1) for each in contenders]
            places = np.array(place, dtype=np.intp)[pairs]
            known = (places >= 0).all(axis=1)
            first, second = places[known].T
            found = table.found.copy()
            found[first, second] = found[second, first] = results[known]
            self._keep(listed, metric, _Table(table.place, found))

    def _begin(self, listed: ListedBoard, metric: int, contenders: list[Contender]) -> None:
        key = listed.protocol_id, listed.campaign_id, metric
        with self._lock:
            if key in self._at_work:
                return
            self._at_work.add(key)
        threading.Thread(target=self._work, args=(listed, metric, contenders), daemon=True, name="wins").start()

    def _work(self, listed: ListedBoard, metric: int, contenders: list[Contender]) -> None:
        try:
            measured = [each.measured for each in contenders]
            lacking = _untested(self._read(listed, metric, measured))
            with self._reading() as connection:
                replicates = read_replicates(connection, self._memory, measured, metric)
            self._test(listed, metric, contenders, replicates, lacking, pause=PAUSE_SECONDS)
        except Exception:  # whatever it was, the next who looks at the board begins again
            log.exception("The pairs of a board could not be tested.")
        finally:
            with self._lock:
                self._at_work.discard((listed.protocol_id, listed.campaign_id, metric))


def _untested(found: NDArray[np.int8]) -> NDArray[np.intp]:
    """(pairs, 2) the pairs that are still to be tested, each once."""
    return np.argwhere(np.triu(found == UNTESTED, 1))
