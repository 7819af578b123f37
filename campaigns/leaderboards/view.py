"""A leaderboard as requested: which systems, by which metric, with ranks, rank ranges and clusters."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analysis.leaderboard.board import read_board
from analysis.leaderboard.significance import ALPHA
from campaigns.background import BackgroundCache
from campaigns.leaderboards.autoranks import tested_autoranks
from campaigns.leaderboards.cache import LeaderboardCache
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.significance_cache import SignificanceCache
from campaigns.leaderboards.snapshot import BoardEntry, BoardSnapshot, BoardVersion, read_board_versions, read_snapshot
from models.database.session import reading
from models.results.leaderboard import ranked as ranks_of
from steelyard.metrics.registry import installed_metrics
from steelyard.ranking.clusters import rank_systems
from steelyard.resampling.draws_needed import smallest_p
from steelyard.resampling.paired import FEW_SEGMENTS, few_segments
from steelyard.tables.titles import distinct_titles
from steelyard_client.vocabulary import Constrained, SystemFilter

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from analysis.leaderboard.board import Board
    from models.results.boards import BoardSummary
    from steelyard.ranking.clusters import SystemRank

LINE_BYTES = 220
"""Approximate size of a system in a view."""
ENTRY_BYTES, RUN_BYTES, SCORE_BYTES = 600, 320, 24
"""Approximate sizes of a system in a snapshot, of each of its runs, and of each of its scores."""


@dataclass(frozen=True, slots=True)
class BoardQuery:
    """What of a leaderboard to show."""

    metric: int = 0
    """Position of the ranking metric."""
    shown: SystemFilter = SystemFilter.RANKED
    constrained: Constrained = Constrained.ANY


@dataclass(frozen=True, slots=True, eq=False)
class BoardLine:
    """A system with its rank."""

    entry: BoardEntry
    rank: int | None
    """None if it is not ranked, or has no score."""
    place: SystemRank | None
    same_as: BoardEntry | None
    """The first system above it with an identical output."""


@dataclass(frozen=True, eq=False)
class BoardView:
    """A leaderboard, best first. Shared by all threads."""

    snapshot: BoardSnapshot
    query: BoardQuery
    lines: Sequence[BoardLine]
    testing: int
    """Pairs still being tested in the background; there are no rank ranges and clusters until all are."""
    fault: str
    """Why nothing could be tested, or what limits the tests; sentences, or empty."""
    drawn: dict[Hashable, Any] = field(default_factory=dict)
    """Values derived for pages, such as axes; dropped with the view when the leaderboard changes."""

    @property
    def listed(self) -> BoardSummary:
        """The leaderboard's summary."""
        return self.snapshot.listed

    @property
    def not_ranked(self) -> int:
        """Systems on the leaderboard without a rank, whether they are shown or not."""
        return sum(not each.ranked for each in self.snapshot.entries)

    @property
    def has_places(self) -> bool:
        """Whether there are rank ranges and clusters."""
        return any(line.place for line in self.lines)

    @property
    def titles(self) -> list[str]:
        """The metrics' display names, with an arrow if lower is better."""
        specifications = list(self.listed.metrics)
        for line in self.lines:
            if scores := line.entry.scores:
                return [each.title + ("" if each.higher_is_better else " ↓") for each in scores.by]
        # Nothing has a score yet, which would say it, too.
        metrics = installed_metrics(specifications)
        if len(metrics) < len(specifications):
            return specifications
        titles = distinct_titles([each.title for each in metrics], specifications)
        return [title + ("" if each.higher_is_better else " ↓") for title, each in zip(titles, metrics, strict=True)]

    @property
    def signatures(self) -> list[str]:
        """One for each metric; empty if nothing has a score yet."""
        return next(([each.signature for each in line.entry.scores.by] for line in self.lines if line.entry.scores), [])


class Boards:
    """All leaderboards of a process, with their caches."""

    def __init__(self, engine: Engine, max_packed_bytes: int) -> None:
        self.engine = engine
        part = max_packed_bytes // 8
        self.memory = LeaderboardCache(max_packed_bytes - 3 * part)
        # Replicates are large and needed by new tests alone: they must not push out what pages show. Places are small.
        self.replicates, self.places = LeaderboardCache(part), LeaderboardCache(part)
        self.significance = SignificanceCache(self.replicates, lambda: _reading(engine))
        self.slow = BackgroundCache("drawing-replicates")
        self._locks: dict[tuple[int, int], threading.Lock] = {}
        self._lock = threading.Lock()

    def snapshot(
        self, connection: Connection, listed: BoardSummary, version: BoardVersion | None = None
    ) -> BoardSnapshot:
        """Return the current entries of a leaderboard; read again only if it has changed, as its version says."""
        if version is None:
            version = read_board_versions(connection, listed.campaign_id, [listed.protocol_id])[listed.protocol_id]
        key = listed.campaign_id, listed.protocol_id
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        # Many requests come when a leaderboard has changed: one of them reads it.
        with lock:
            known: BoardSnapshot | None = self.memory.get(("snapshot", key))
            if known is not None and known.version == version and known.listed == listed:
                return known
            current = read_snapshot(connection, self.replicates, listed, version, known)
            size = (ENTRY_BYTES + SCORE_BYTES * len(listed.metrics)) * (len(current.entries) + 1)
            size += RUN_BYTES * sum(len(each.runs) for each in current.entries)
            self.memory.put(("snapshot", key), current, size)
            return current

    def view(
        self, connection: Connection, listed: BoardSummary, query: BoardQuery, version: BoardVersion | None = None
    ) -> BoardView:
        """Return a leaderboard as it is now. `query.metric` must be one of its metrics; `version` may be known."""
        snapshot = self.snapshot(connection, listed, version)
        key = ("view", listed.campaign_id, listed.protocol_id, query)
        known: BoardView | None = self.memory.get(key)
        if known is not None and known.snapshot is snapshot and not known.testing:
            return known
        current = make_view(connection, self.significance, snapshot, query)
        self.memory.put(key, current, LINE_BYTES * (len(current.lines) + 1))
        return current

    def whole(self, connection: Connection, listed: BoardSummary) -> Board | None:
        """Return a leaderboard with the replicates of all its scores, as `read_board` reads it; again if it changed."""
        version = read_board_versions(connection, listed.campaign_id, [listed.protocol_id])[listed.protocol_id]
        key = ("whole", listed.campaign_id, listed.protocol_id)
        known: tuple[BoardVersion, BoardSummary, Board | None] | None = self.memory.get(key)
        if known is not None and known[:2] == (version, listed):
            return known[2]
        board = read_board(connection, listed, LEVEL)
        scores = [score for row in board.rows for score in row.scores] if board else []
        held = sum(each.run_replicate_scores.nbytes + LINE_BYTES for each in scores)
        self.memory.put(key, (version, listed, board), held + LINE_BYTES)
        return board


def _reading(engine: Engine) -> AbstractContextManager[Connection]:
    return reading(engine)


def make_view(
    connection: Connection, significance: SignificanceCache, snapshot: BoardSnapshot, query: BoardQuery
) -> BoardView:
    """Rank the systems that match the query, among themselves."""
    shown = [each for each in snapshot.entries if _matches(each, query)]
    scores = {number: score for number, each in enumerate(shown) if (score := _score(each, query.metric)) is not None}
    higher = all(each.scores.by[query.metric].higher_is_better for each in shown if each.scores)
    in_order = sorted(scores, key=lambda number: ((-1 if higher else 1) * scores[number], number))
    in_order += [number for number in range(len(shown)) if number not in scores]
    ranked = [number for number in scores if shown[number].ranked]
    ranks = ranks_of({number: scores[number] for number in ranked}, higher)
    place_of: dict[int, SystemRank | None] = {}
    testing, fault = 0, ""
    if not snapshot.listed.replicates:
        fault = "No bootstrap replicates were stored, so there are no rank ranges and clusters."
    elif len(ranked) > 1:
        if (drawn := snapshot.autoranks.get(query.metric)) is not None:
            own = [drawn[shown[number].measured] for number in ranked]
            tested = tested_autoranks([scores[number] for number in ranked], own)
        else:
            among = [shown[number] for number in ranked]
            tested = significance.tested(connection, snapshot.listed, query.metric, among)
        testing = tested.missing
        if not testing:
            found = rank_systems([scores[number] for number in ranked], tested.different, higher_is_better=higher)
            place_of = dict(zip(ranked, found, strict=True))
        fault = _fault(snapshot.listed, tested.not_testable)
    first: dict[tuple[int, ...], BoardEntry] = {}
    lines = []
    for number in in_order:
        each = shown[number]
        before = first.setdefault(each.texts, each)
        lines.append(BoardLine(each, ranks.get(number), place_of.get(number), None if before is each else before))
    return BoardView(snapshot, query, lines, testing, fault)


def _matches(entry: BoardEntry, query: BoardQuery) -> bool:
    if query.shown is SystemFilter.RANKED and not entry.ranked:
        return False
    return query.constrained is Constrained.ANY or (query.constrained is Constrained.YES) == (entry.constrained is True)


def _score(entry: BoardEntry, metric: int) -> float | None:
    return entry.scores.score(metric) if entry.scores else None


def _fault(listed: BoardSummary, not_testable: int) -> str:
    faults = []
    if smallest_p(listed.replicates, 1, "none") >= ALPHA:
        faults.append(f"{listed.replicates:,} replicates are too few to part any systems.")
    if not_testable:
        faults.append(
            f"Pairs that could not be tested, because replicates have no score or are all alike: {not_testable:,}."
        )
    if listed.segments < FEW_SEGMENTS:
        faults.append(f"{few_segments(listed.segments)}.")
    return " ".join(faults)
