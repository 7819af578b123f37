"""Whose turn it is: fair in seconds of work, not in tasks. Nothing here knows the database.

Each class is sure of a share of the seconds while it waits. Its *lag* is how many seconds of that share it has not had:
who lags goes first, and what a class leaves goes to the most urgent one that waits. So the shares hold in any window,
down to one place, and whatever the workers take first of what was sent: over time as much ends as was sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.queue.task_kind import TaskKind
from models.schema.states import QueueClass

Turn = tuple[int, str]
"""A queue class and a team."""

Task = tuple[TaskKind[Any, Any], int]
"""A kind of task and the id of one."""

Shares = Mapping[int, float]
"""The part of the seconds of work that each class is sure of; together 1."""

INTERACTIVE_EXTRA = 2
"""Places beyond the window, for interactive work that has not had its share."""

MOST_SAVED = 2.0
"""Seconds of work that a class may be ahead by when it comes: about a task, so that others hardly wait for it."""

MOST_CHARGES = 100_000
"""Tasks whose end is waited for; beyond, the oldest are forgotten."""


@dataclass(frozen=True, slots=True)
class Window:
    """How much may be in flight: `places` tasks, and up to `short_places` while all take less than `seconds`."""

    places: int
    short_places: int
    seconds: float
    shares: Shares

    def open_places(self, seconds: float) -> int:
        """How many tasks there may be when those in flight take so long, beside those of INTERACTIVE_EXTRA."""
        return self.places if seconds >= self.seconds else max(self.places, self.short_places)


@dataclass(frozen=True, slots=True)
class InFlight:
    """What is in flight already; `seconds` is estimated."""

    tasks: int = 0
    seconds: float = 0.0


def class_shares(campaign: int, nightly: int) -> Shares:
    """One of so many seconds for campaigns and one of so many for nightly work; all others for interactive work."""
    return {
        QueueClass.INTERACTIVE: 1 - 1 / campaign - 1 / nightly,
        QueueClass.CAMPAIGN: 1 / campaign,
        QueueClass.NIGHTLY: 1 / nightly,
    }


def allocate(
    waiting: Mapping[Turn, Sequence[float]],
    served: Mapping[Turn, float],
    lag: Mapping[int, float],
    held: InFlight,
    window: Window,
) -> list[Turn]:
    """Whose tasks to send now, in this order: each time the next one of a class and team.

    `waiting` has the estimated seconds of the tasks of each class and team, in their order; `served` the seconds that
    each has had; `lag` those that each class has not had of its share. A class that lags goes first, then the lower
    one; within a class the next place goes to the team that has had the least, to which the task then counts.
    """
    had = {turn: served.get(turn, 0.0) for turn in waiting}
    lag = {queue_class: lag.get(queue_class, 0.0) for queue_class in window.shares}
    tasks, seconds = held.tasks, held.seconds
    left = {turn: list(reversed(costs)) for turn, costs in waiting.items() if costs}
    order: list[Turn] = []
    while True:
        places = window.open_places(seconds)
        extra = INTERACTIVE_EXTRA if lag[QueueClass.INTERACTIVE] >= 0 else 0
        turns = [turn for turn in left if tasks < places + (extra if turn[0] == QueueClass.INTERACTIVE else 0)]
        if not turns:
            return order
        chosen = min(turns, key=lambda turn: (lag[turn[0]] < 0, turn[0], had[turn], turn[1]))
        cost = left[chosen].pop()
        _send(lag, window.shares, {turn[0] for turn in left}, chosen[0], cost)
        had[chosen] += cost
        seconds += cost
        tasks += 1
        order.append(chosen)
        if not left[chosen]:
            del left[chosen]


def _send(lag: dict[int, float], shares: Shares, waiting: Collection[int], queue_class: int, seconds: float) -> None:
    """Change the lags by a task of a class that is sent, while these classes wait.

    Who has had more than its share since nobody else wanted it does not pay for that, but for one task. Who does not
    wait saves little.
    """
    lag[queue_class] = max(lag[queue_class], 0.0) - seconds
    for each, share in shares.items():
        due = lag[each] + share * seconds
        lag[each] = due if each in waiting else max(lag[each], min(due, MOST_SAVED))


class ServiceAccounting:
    """The seconds of work that each team has had in each class, and how far classes lag behind their shares.

    They are estimated when a task is sent, measured when it ends.

    A team that comes (back) begins with what the least served of those has had that are there: it gets its share from
    then on, and neither makes up for the time when it wanted nothing, nor pays for having been alone. So nothing need
    be remembered over a restart: whoever waits then begins anew with all others.
    """

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self._served: dict[Turn, float] = {}
        self._level: dict[int, float] = {}
        self._charged: dict[Task, tuple[Turn, float, frozenset[int]]] = {}
        self._waiting: frozenset[int] = frozenset()
        self._lag = dict.fromkeys(shares, 0.0)

    @property
    def lag(self) -> Mapping[int, float]:
        """The seconds that each class has not had of its share; negative where it has had more."""
        return self._lag

    def served(self, waiting: Collection[Turn], busy: Collection[Turn] = ()) -> Mapping[Turn, float]:
        """Seconds of each of the teams that have work: such as may be sent now, other that waits, or some in flight."""
        self._waiting = frozenset(turn[0] for turn in waiting)
        present = {*waiting, *busy}
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
        self._charged[task] = (turn, seconds, self._waiting)
        _send(self._lag, self._shares, self._waiting, turn[0], seconds)
        self._served[turn] = self._served.get(turn, self._level.get(turn[0], 0.0)) + seconds
        if len(self._charged) > MOST_CHARGES:
            del self._charged[next(iter(self._charged))]

    def settle(self, task: Task, seconds: float) -> None:
        """A task that was sent has ended, and took so long."""
        turn, estimated, waiting = self._charged.pop(task)
        more = seconds - estimated
        self._lag[turn[0]] -= more
        for each in waiting:
            self._lag[each] += self._shares[each] * more
        if turn in self._served:
            self._served[turn] += more

    @property
    def open(self) -> Collection[Task]:
        """The tasks that were sent and whose end is not known."""
        return self._charged.keys()
