"""Significant differences of systems on leaderboards: every pair is tested once, as long as there is memory.

A test of two systems depends only on their stored replicates, so it never changes. A new submission adds its own pairs;
few are tested within the request, very many (a server that has just started, with a leaderboard of a thousand systems)
by a background thread.
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
from campaigns.leaderboards.cache import LeaderboardCache
from campaigns.leaderboards.scores import EvaluatedRuns, read_replicates
from steelyard.resampling.bootstrap_p import bootstrap_p_values

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from campaigns.leaderboards.snapshot import BoardEntry
    from models.results.boards import BoardSummary

log = logging.getLogger(__name__)

BATCH_PAIRS = 4_096
"""Pairs that are tested at once in the background."""
FOREGROUND_REPLICATES = 60_000_000
"""Replicates of pairs that are compared within the request: some hundredths of a second."""
PAUSE_SECONDS = 0.002
"""Between two batches in the background, so that requests get their turn."""

UNTESTED, NOT_TO_BE_TESTED, ALIKE, DIFFERENT = -1, -2, 0, 1


@dataclass
class _Table:
    """The tests of one leaderboard by one metric."""

    place: dict[EvaluatedRuns, int] = field(default_factory=dict)
    found: NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), np.int8))


@dataclass(frozen=True)
class PairTests:
    """The tests of the pairs among some systems."""

    different: NDArray[np.bool_]
    """(systems, systems): whether the difference is significant."""
    missing: int
    """Pairs that are still to be tested."""
    not_testable: int
    """Pairs that cannot be tested, because replicates have no score or are all equal."""


class SignificanceCache:
    """The tables of all leaderboards of a process."""

    def __init__(self, replicates: LeaderboardCache, reading: Callable[[], AbstractContextManager[Connection]]) -> None:
        self._replicates = replicates
        # Tests that were dropped at once would be made again for ever.
        self._tables = LeaderboardCache(replicates.max_packed_bytes, keeps_last=True)
        self._reading = reading
        self._lock = threading.Lock()
        self._at_work: set[tuple[int, int, int]] = set()

    def tested(
        self, connection: Connection, listed: BoardSummary, metric: int, entries: Sequence[BoardEntry]
    ) -> PairTests:
        """Return the tests of the pairs of these systems, which all have a score by the metric.

        Few missing ones are tested now; for many, a thread is started.
        """
        measured = [each.measured for each in entries]
        found = self._read(listed, metric, measured)
        missing = int(np.count_nonzero(found == UNTESTED)) // 2
        if 0 < missing * listed.replicates <= FOREGROUND_REPLICATES:
            replicates = read_replicates(connection, self._replicates, measured, metric)
            self._test(listed, metric, entries, replicates, _untested(found), pause=0)
            found, missing = self._read(listed, metric, measured), 0
        elif missing:
            self._begin(listed, metric, list(entries))
        return PairTests(found == DIFFERENT, missing, int(np.count_nonzero(found == NOT_TO_BE_TESTED)) // 2)

    def _table(self, listed: BoardSummary, metric: int) -> _Table:
        key = listed.protocol_id, listed.campaign_id, metric
        known: _Table | None = self._tables.get(key)
        return _Table() if known is None else known

    def _read(self, listed: BoardSummary, metric: int, measured: Sequence[EvaluatedRuns]) -> NDArray[np.int8]:
        """Return the known result of each pair; new systems get a place in the table."""
        with self._lock:
            table = self._table(listed, metric)
            fresh = [each for each in measured if each not in table.place]
            if fresh and len(table.place) > 2 * len(measured):
                # Most of the table is about replaced systems.
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

    def _keep(self, listed: BoardSummary, metric: int, table: _Table) -> None:
        size = table.found.nbytes + 300 * len(table.place)
        self._tables.put((listed.protocol_id, listed.campaign_id, metric), table, size)

    def _test(
        self,
        listed: BoardSummary,
        metric: int,
        entries: Sequence[BoardEntry],
        replicates: NDArray[np.float64],
        pairs: NDArray[np.intp],
        *,
        pause: float,
    ) -> None:
        """Test pairs of positions among these systems, by their replicates."""
        scores = np.array([each.scores.score(metric) for each in entries], dtype=np.float64)
        results = np.empty(len(pairs), np.int8)
        for begin in range(0, len(pairs), BATCH_PAIRS):
            p = bootstrap_p_values(scores, replicates, pairs[begin : begin + BATCH_PAIRS])
            of_some = np.where(p < ALPHA, DIFFERENT, ALIKE)
            results[begin : begin + BATCH_PAIRS] = np.where(np.isnan(p), NOT_TO_BE_TESTED, of_some)
            if pause:
                time.sleep(pause)
        with self._lock:
            table = self._table(listed, metric)
            place = [table.place.get(each.measured, -1) for each in entries]
            places = np.array(place, dtype=np.intp)[pairs]
            known = (places >= 0).all(axis=1)
            first, second = places[known].T
            found = table.found.copy()
            found[first, second] = found[second, first] = results[known]
            self._keep(listed, metric, _Table(table.place, found))

    def _begin(self, listed: BoardSummary, metric: int, entries: list[BoardEntry]) -> None:
        key = listed.protocol_id, listed.campaign_id, metric
        with self._lock:
            if key in self._at_work:
                return
            self._at_work.add(key)
        threading.Thread(target=self._work, args=(listed, metric, entries), daemon=True, name="wins").start()

    def _work(self, listed: BoardSummary, metric: int, entries: list[BoardEntry]) -> None:
        try:
            measured = [each.measured for each in entries]
            missing = _untested(self._read(listed, metric, measured))
            with self._reading() as connection:
                replicates = read_replicates(connection, self._replicates, measured, metric)
            self._test(listed, metric, entries, replicates, missing, pause=PAUSE_SECONDS)
        except Exception:  # whatever it was, the next view of the leaderboard tries again
            log.exception("The pairs of a board could not be tested.")
        finally:
            with self._lock:
                self._at_work.discard((listed.protocol_id, listed.campaign_id, metric))


def _untested(found: NDArray[np.int8]) -> NDArray[np.intp]:
    """Return the pairs that are still to be tested, each once, (pairs, 2)."""
    return np.argwhere(np.triu(found == UNTESTED, 1))
