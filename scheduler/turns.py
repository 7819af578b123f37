"""Whose turn it is: fair in seconds of work, not in tasks. Nothing here knows the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from models.lease import Leased
from models.states import QueueClass

Turn = tuple[int, str]
"""A queue class and a team."""

Task = tuple[type[Leased], int]
"""A table and the id of a row."""

INTERACTIVE_EXTRA = 2
"""Places in the window that only interactive work may use."""

MOST_CHARGES = 100_000
"""Tasks whose end is waited for; beyond, the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class Window:
    """How much may be in flight: `places` tasks, and up to `short_places` while all take less than `seconds`."""

    places: int
    short_places: int
    seconds: float
    nightly_share: int
    """While nightly work waits, one place of so many is kept for it, or it would never get one."""

    def open_places(self, seconds: float) -> int:
        """How many tasks there may be when those in flight take so long, beside those of INTERACTIVE_EXTRA."""
        return self.places if seconds >= self.seconds else max(self.places, self.short_places)


@dataclass(frozen=True, slots=True)
class InFlight:
    """What is in flight already; `seconds` is estimated."""

    tasks: int = 0
    nightly: int = 0
    seconds: float = 0.0


def allot(
    waiting: Mapping[Turn, Sequence[float]], served: Mapping[Turn, float], held: InFlight, window: Window
) -> dict[Turn, int]:
    """How many of the tasks that wait to send now: of each class and team the first so many.

    `waiting` has the estimated seconds of the tasks of each class and team, in their order; `served` the seconds that
    each has had. The lower class goes first; within a class the next place goes to the team that has had the least, to
    which the task then counts.
    """
    had = {turn: served.get(turn, 0.0) for turn in waiting}
    given: Counter[Turn] = Counter()
    tasks, nightly, seconds = held.tasks, held.nightly, held.seconds
    left = {turn: len(costs) for turn, costs in waiting.items()}
    while True:
        places = window.open_places(seconds)
        nightly_waits = any(count for (queue_class, _), count in left.items() if queue_class == QueueClass.NIGHTLY)
        kept = max(0, max(1, places // window.nightly_share) - nightly) if nightly_waits else 0
        room = {
            QueueClass.INTERACTIVE: places + INTERACTIVE_EXTRA - kept - tasks,
            QueueClass.CAMPAIGN: places - kept - tasks,
            QueueClass.NIGHTLY: places - tasks,
        }
        turns = [turn for turn, count in left.items() if count and room[QueueClass(turn[0])] > 0]
        if not turns:
            return dict(given)
        chosen = min(turns, key=lambda turn: (turn[0], had[turn], turn[1]))
        cost = waiting[chosen][given[chosen]]
        had[chosen] += cost
        seconds += cost
        tasks += 1
        nightly += chosen[0] == QueueClass.NIGHTLY
        left[chosen] -= 1
        given[chosen] += 1


class Accounts:
    """The seconds of work that each team has had in each class: estimated when a task is sent, measured when it ends.

    A team that comes (back) begins with what the least served of those has had that are there: it gets its share from
    then on, and neither makes up for the time when it wanted nothing, nor pays for having been alone. So nothing need
    be remembered over a restart: whoever waits then begins anew with all others.
    """

    def __init__(self) -> None:
        self._served: dict[Turn, float] = {}
        self._level: dict[int, float] = {}
        self._charged: dict[Task, tuple[Turn, float]] = {}

    def served(self, present: Collection[Turn]) -> Mapping[Turn, float]:
        """Seconds of each of the teams that have work waiting or in flight."""
        for queue_class in {turn[0] for turn in present}:
            there = [self._served[turn] for turn in present if turn[0] == queue_class and turn in self._served]
            level = max(self._level.get(queue_class, 0.0), min(there, default=0.0))
            self._level[queue_class] = level
        self._rest({turn[0] for turn in self._served} - {turn[0] for turn in present})
        # Who is gone is forgotten, unless it has had more than those that are there.
        self._served = {
            turn: seconds
            for turn, seconds in self._served.items()
            if turn in present or seconds > self._level.get(turn[0], 0.0)
        }
        for turn in present:
            self._served.setdefault(turn, self._level[turn[0]])
        return self._served

    def nobody_waits(self) -> None:
        """All begin anew: where nobody waits, nobody got too little."""
        self._rest({turn[0] for turn in self._served})

    def _rest(self, classes: Collection[int]) -> None:
        for queue_class in classes:
            had = [seconds for turn, seconds in self._served.items() if turn[0] == queue_class]
            self._level[queue_class] = max([self._level.get(queue_class, 0.0), *had])
        self._served = {turn: seconds for turn, seconds in self._served.items() if turn[0] not in classes}

    def charge(self, task: Task, turn: Turn, seconds: float) -> None:
        """A task was sent; one that is sent again counts once."""
        if task in self._charged:
            return
        self._charged[task] = (turn, seconds)
        self._served[turn] = self._served.get(turn, self._level.get(turn[0], 0.0)) + seconds
        if len(self._charged) > MOST_CHARGES:
            del self._charged[next(iter(self._charged))]

    def settle(self, task: Task, seconds: float) -> None:
        """A task that was sent has ended, and took so long."""
        turn, estimated = self._charged.pop(task)
        if turn in self._served:
            self._served[turn] += seconds - estimated

    @property
    def open(self) -> Collection[Task]:
        """The tasks that were sent and whose end is not known."""
        return self._charged.keys()
