"""A board as somebody asked for it: which systems, by which metric, with ranks, rank ranges and clusters."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from analysis.leaderboard.significance import ALPHA
from campaigns.background import Slow
from campaigns.leaderboards.cache import Memory
from campaigns.leaderboards.significance_cache import Wins
from campaigns.leaderboards.snapshot import Contender, Standing, read_stamp, read_standing
from metrics.ranking import places
from metrics.resampling.paired import FEW_SEGMENTS, few_segments, smallest_p
from models.database.session import reading
from models.results.leaderboard import ranked as ranks_of

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from metrics.ranking import Place
    from models.results.boards import ListedBoard

LINE_BYTES = 400
"""About what a system takes in a view."""


class Shown(StrEnum):
    """Which systems are shown."""

    RANKED = "ranked"
    """The one of each team that is ranked, and the organisers' own."""
    ALL = "all"
    """Contrastive ones, too, and those that a later one stands for; they have no rank."""


class Constrained(StrEnum):
    """Which systems are shown, by the data that they were trained on."""

    ANY = ""
    YES = "yes"
    NO = "no"
    """Also those whose teams have not said."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What of a board somebody wants to see."""

    metric: int = 0
    """Position of the one that ranks."""
    shown: Shown = Shown.RANKED
    constrained: Constrained = Constrained.ANY


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A system with its rank."""

    contender: Contender
    rank: int | None
    """None where it is not ranked, or has no score."""
    place: Place | None
    same_as: Contender | None
    """The first system above it whose output is the very same."""


@dataclass(frozen=True, eq=False)
class BoardView:
    """Best first. Shared by all threads."""

    standing: Standing
    wish: Wish
    lines: Sequence[Line]
    testing: int
    """Pairs that are still being tested in the background; there are no rank ranges and clusters until all are."""
    fault: str
    """Why nothing could be tested, or what keeps the tests from their promise; sentences, or empty."""
    drawn: dict[Hashable, Any] = field(default_factory=dict)
    """What was worked out for pages, such as axes; goes with it when the board changes."""

    @property
    def listed(self) -> ListedBoard:
        """Which board it is."""
        return self.standing.listed

    @property
    def not_ranked(self) -> int:
        """Systems that stand on the board without a rank, whether they are shown or not."""
        return sum(not each.ranked for each in self.standing.contenders)

    @property
    def has_places(self) -> bool:
        """Whether there are rank ranges and clusters."""
        return any(line.place for line in self.lines)

    @property
    def titles(self) -> list[str]:
        """The metrics' names for people, an arrow where less is better."""
        for line in self.lines:
            if figures := line.contender.figures:
                return [each.title + ("" if each.higher_is_better else " ↓") for each in figures]
        return list(self.listed.metrics)

    @property
    def signatures(self) -> list[str]:
        """One for each metric; empty where nothing has a score yet."""
        return next(
            ([each.signature for each in line.contender.figures] for line in self.lines if line.contender.figures), []
        )


class Boards:
    """All boards of a process, with what it remembers of them."""

    def __init__(self, engine: Engine, most_bytes: int) -> None:
        self.engine = engine
        self.memory = Memory(most_bytes)
        self.slow = Slow("drawing-replicates")
        self.wins = Wins(self.memory, lambda: _reading(engine))
        self._locks: dict[tuple[int, int], threading.Lock] = {}
        self._lock = threading.Lock()

    def standing(self, connection: Connection, listed: ListedBoard) -> Standing:
        """Who stands on a board now; read anew only where it has changed."""
        stamp = read_stamp(connection, listed)
        key = listed.campaign_id, listed.protocol_id
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        # Many look when a board has changed: one of them reads it.
        with lock:
            known: Standing | None = self.memory.get(("standing", key))
            if known is not None and known.stamp == stamp and known.listed == listed:
                return known
            made = read_standing(connection, self.memory, listed, stamp, known)
            self.memory.put(("standing", key), made, LINE_BYTES * (len(made.contenders) + 1))
            return made

    def view(self, connection: Connection, listed: ListedBoard, wish: Wish) -> BoardView:
        """A board as it is now. `wish.metric` must be one of its metrics."""
        standing = self.standing(connection, listed)
        key = ("view", listed.campaign_id, listed.protocol_id, wish)
        known: BoardView | None = self.memory.get(key)
        if known is not None and known.standing is standing and not known.testing:
            return known
        made = make_view(connection, self.wins, standing, wish)
        self.memory.put(key, made, LINE_BYTES * (len(made.lines) + 1))
        return made


def _reading(engine: Engine) -> AbstractContextManager[Connection]:
    return reading(engine)


def make_view(connection: Connection, wins: Wins, standing: Standing, wish: Wish) -> BoardView:
    """Rank the systems that are wanted. Ranks, ranges and clusters are those among the systems that are shown."""
    shown = [each for each in standing.contenders if _wanted(each, wish)]
    scores = {number: score for number, each in enumerate(shown) if (score := _score(each, wish.metric)) is not None}
    higher = all(each.figures[wish.metric].higher_is_better for each in shown if each.figures)
    in_order = sorted(scores, key=lambda number: ((-1 if higher else 1) * scores[number], number))
    in_order += [number for number in range(len(shown)) if number not in scores]
    ranked = [number for number in scores if shown[number].ranked]
    ranks = ranks_of({number: scores[number] for number in ranked}, higher)
    place_of: dict[int, Place | None] = {}
    testing, fault = 0, ""
    if not standing.listed.replicates:
        fault = "No bootstrap replicates were stored, so there are no rank ranges and clusters."
    elif len(ranked) > 1:
        tested = wins.tested(connection, standing.listed, wish.metric, [shown[number] for number in ranked])
        testing = tested.lacking
        if not testing:
            found = places([scores[number] for number in ranked], tested.different, higher_is_better=higher)
            place_of = dict(zip(ranked, found, strict=True))
        fault = _fault(standing.listed, tested.not_testable)
    first: dict[tuple[int, ...], Contender] = {}
    lines = []
    for number in in_order:
        each = shown[number]
        before = first.setdefault(each.texts, each)
        lines.append(Line(each, ranks.get(number), place_of.get(number), None if before is each else before))
    return BoardView(standing, wish, lines, testing, fault)


def _wanted(contender: Contender, wish: Wish) -> bool:
    if wish.shown is Shown.RANKED and not contender.ranked:
        return False
    return wish.constrained is Constrained.ANY or (wish.constrained is Constrained.YES) == (
        contender.constrained is True
    )


def _score(contender: Contender, metric: int) -> float | None:
    return contender.figures[metric].score if contender.figures else None


def _fault(listed: ListedBoard, not_testable: int) -> str:
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
