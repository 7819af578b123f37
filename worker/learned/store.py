"""Scores by content in the database, as a learned shard reads and writes them; each write renews the shard's lease."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import monotonic

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from models.queue.kinds.learned_shards import ClaimedLearnedShard
from models.queue.learned_queue import renew_with_progress
from models.results.segment_scores import read_segment_scores, store_segment_scores, touch_segment_scores
from steelyard.metrics.preparation.score_store import Scored
from worker.context import WorkerContext
from worker.errors import TakenOver


class StoredScores:
    """The `ScoreStore` of a learned shard: what is kept stays, whatever becomes of the shard."""

    def __init__(self, context: WorkerContext, claim: ClaimedLearnedShard) -> None:
        self._context = context
        self._claim = claim
        self.contents = 0
        """The number of different contents."""
        self.computed = 0
        """How many of them had no stored scores."""
        self._scored = 0

    def known(self, scorer: str, digests: Sequence[bytes]) -> Mapping[bytes, tuple[float, ...]]:
        """The values that are stored."""
        found = self._context.read(lambda connection: read_segment_scores(connection, scorer, digests))
        self.contents, self._scored = len(digests), len(found)

        def note(connection: Connection) -> bool:
            if found:
                touch_segment_scores(connection, scorer, list(found))
            return self._renew(connection)

        self._must_hold(self._context.write(note))
        return found

    def keep(self, scorer: str, scored: Mapping[bytes, Scored]) -> Mapping[bytes, tuple[float, ...]]:
        """Store what is new. Raises TakenOver, with everything stored, if another worker holds the shard now."""
        self.computed += len(scored)
        self._scored += len(scored)

        def store(connection: Connection) -> tuple[Mapping[bytes, tuple[float, ...]], bool]:
            return store_segment_scores(connection, scorer, scored), self._renew(connection)

        kept, held = self._context.write(store)
        self._must_hold(held)
        return kept

    @contextmanager
    def held(self) -> Iterator[None]:
        """A context that keeps the lease, for a day at most: a batch of a large model takes longer than a lease."""
        stopped = threading.Event()
        settings = self._context.settings

        def renew() -> None:
            until = monotonic() + settings.learned_seconds
            while not stopped.wait(settings.lease_seconds / 3) and monotonic() < until:
                try:
                    self._context.write(self._renew)
                except SQLAlchemyError:
                    # The lease lasts for two more tries.
                    continue

        thread = threading.Thread(target=renew, name="lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stopped.set()
            thread.join()

    def _renew(self, connection: Connection) -> bool:
        return renew_with_progress(
            connection,
            self._claim.key,
            self._claim.owner,
            self._context.settings.lease_seconds,
            self._scored,
            self.contents,
        )

    def _must_hold(self, held: bool) -> None:
        if not held:
            raise TakenOver
