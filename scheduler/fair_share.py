"""Fair share scheduling: fair in seconds of work, not in numbers of tasks.

Each class has a guaranteed share of the seconds while it has waiting work. Its *lag* is the service that it is owed:
lagging classes go first, and unused shares go to the most urgent class that waits. So the shares hold for any window,
down to one place, and whatever order the workers choose: over time as much completes as is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from models.queue.task_kind import TaskKind
from models.schema.states import QueueClass

FairShareKey = tuple[int, str]
"""A queue class and a team."""

Task = tuple[TaskKind[Any, Any], int]
"""A kind of task and a task's id."""

Shares = Mapping[int, float]
"""The guaranteed part of the seconds of work for each class; together 1."""

INTERACTIVE_EXTRA = 2
"""Places beyond the window, for interactive work that lags behind its share."""

MAX_SAVED = 2.0
"""Limit on the credit of a returning class, in seconds of work: about a task, so that others hardly wait."""

MAX_CHARGES = 100_000
"""Limit on the number of unsettled tasks; beyond, the oldest are dropped."""


@dataclass(frozen=True, slots=True)
class Window:
    """The limits of work in flight: `places` tasks, or more of them while all take little time."""

    places: int
    short_places: int
    """While all take less than `seconds`."""
    seconds: float
    shares: Shares
    small_places: int = 0
    """While all take less than `small_seconds`."""
    small_seconds: float = 0.0

    def open_places(self, seconds: float) -> int:
        """The number of places while the tasks in flight take this long, without INTERACTIVE_EXTRA."""
        short = self.short_places if seconds < self.seconds else 0
        small = self.small_places if seconds < self.small_seconds else 0
        return max(self.places, short, small)


@dataclass(frozen=True, slots=True)
class Group:
    """How much is sent in one message: so many tasks of a class and team in a row, while they take less than this."""

    tasks: int = 1
    seconds: float = 0.0

    def has_room(self, tasks: int, seconds: float) -> bool:
        """Whether a message of so many tasks takes one more, with which they take this long."""
        return tasks < self.tasks and seconds <= self.seconds


ALONE = Group()
"""Each task has a message of its own."""


@dataclass(frozen=True, slots=True)
class InFlight:
    """The work in flight; `seconds` is estimated."""

    tasks: int = 0
    seconds: float = 0.0


def class_shares(campaign: int, nightly: int) -> Shares:
    """The shares of seconds: 1/campaign, 1/nightly, and the rest for interactive work."""
    return {
        QueueClass.INTERACTIVE: 1 - 1 / campaign - 1 / nightly,
        QueueClass.CAMPAIGN: 1 / campaign,
        QueueClass.NIGHTLY: 1 / nightly,
    }


def allocate(
    waiting: Mapping[FairShareKey, Sequence[float]],
    served: Mapping[FairShareKey, float],
    lag: Mapping[int, float],
    held: InFlight,
    window: Window,
    group: Group = ALONE,
) -> list[FairShareKey]:
    """Choose the classes and teams whose tasks to send, in order, one entry per task.

    A lagging class goes first, then the lower class; within a class, the team with the least service, which is charged
    for the task. Whoever is chosen sends a group.

    Parameters
    ----------
    waiting : Mapping[FairShareKey, Sequence[float]]
        The estimated seconds of the waiting tasks, in order.
    served : Mapping[FairShareKey, float]
        The seconds of service so far.
    lag : Mapping[int, float]
        The seconds that each class is behind its share.
    """
    had = {share_key: served.get(share_key, 0.0) for share_key in waiting}
    lag = {queue_class: lag.get(queue_class, 0.0) for queue_class in window.shares}
    tasks, seconds = held.tasks, held.seconds
    left = {share_key: list(reversed(costs)) for share_key, costs in waiting.items() if costs}
    order: list[FairShareKey] = []
    while True:
        places = window.open_places(seconds)
        extra = INTERACTIVE_EXTRA if lag[QueueClass.INTERACTIVE] >= 0 else 0
        share_keys = [
            share_key for share_key in left if tasks < places + (extra if share_key[0] == QueueClass.INTERACTIVE else 0)
        ]
        if not share_keys:
            return order
        chosen = min(
            share_keys, key=lambda share_key: (lag[share_key[0]] < 0, share_key[0], had[share_key], share_key[1])
        )
        some, cost = 0, 0.0
        while not some or (
            left[chosen]
            and group.has_room(some, cost + left[chosen][-1])
            and tasks < window.open_places(seconds) + (extra if chosen[0] == QueueClass.INTERACTIVE else 0)
        ):
            each = left[chosen].pop()
            _send(lag, window.shares, {share_key[0] for share_key in left}, chosen[0], each)
            had[chosen] += each
            seconds += each
            cost += each
            tasks += 1
            some += 1
            order.append(chosen)
        if not left[chosen]:
            del left[chosen]


def _send(lag: dict[int, float], shares: Shares, waiting: Collection[int], queue_class: int, seconds: float) -> None:
    """Update the lags for a task that is sent, with these classes waiting.

    A class does not pay for service beyond its share that no other class wanted, except for one task. An idle class
    saves little.
    """
    lag[queue_class] = max(lag[queue_class], 0.0) - seconds
    for each, share in shares.items():
        due = lag[each] + share * seconds
        lag[each] = due if each in waiting else max(lag[each], min(due, MAX_SAVED))


class ServiceAccounting:
    """The service of each team in each class, in seconds of work, and the lag of each class behind its share.

    Tasks are charged with an estimate when sent, and settled with the measured time when they end.

    A new or returning team starts at the level of the least served active team: it gets its share from then on, without
    credit for idle time or debt for earlier exclusive use. So no state needs to survive a restart: all waiting teams
    then start equal.
    """

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self._served: dict[FairShareKey, float] = {}
        self._level: dict[int, float] = {}
        self._charged: dict[Task, tuple[FairShareKey, float, frozenset[int]]] = {}
        self._waiting: frozenset[int] = frozenset()
        self._lag = dict.fromkeys(shares, 0.0)

    @property
    def lag(self) -> Mapping[int, float]:
        """The seconds that each class is behind its share; negative if ahead."""
        return self._lag

    def served(
        self, waiting: Collection[FairShareKey], busy: Collection[FairShareKey] = ()
    ) -> Mapping[FairShareKey, float]:
        """The service of all teams with sendable work, other waiting work, or work in flight, in seconds."""
        self._waiting = frozenset(share_key[0] for share_key in waiting)
        present = {*waiting, *busy}
        for queue_class in {share_key[0] for share_key in present}:
            there = [
                self._served[share_key]
                for share_key in present
                if share_key[0] == queue_class and share_key in self._served
            ]
            level = max(self._level.get(queue_class, 0.0), min(there, default=0.0))
            self._level[queue_class] = level
        self._rest({share_key[0] for share_key in self._served} - {share_key[0] for share_key in present})
        # Forget inactive teams, unless they have had more service than the active ones.
        self._served = {
            share_key: seconds
            for share_key, seconds in self._served.items()
            if share_key in present or seconds > self._level.get(share_key[0], 0.0)
        }
        for share_key in present:
            self._served.setdefault(share_key, self._level[share_key[0]])
        return self._served

    def reset(self) -> None:
        """Start over: nothing waits, so nobody has had too little."""
        self._rest({share_key[0] for share_key in self._served})

    def _rest(self, classes: Collection[int]) -> None:
        for queue_class in classes:
            had = [seconds for share_key, seconds in self._served.items() if share_key[0] == queue_class]
            self._level[queue_class] = max([self._level.get(queue_class, 0.0), *had])
        self._served = {
            share_key: seconds for share_key, seconds in self._served.items() if share_key[0] not in classes
        }

    def charge(self, task: Task, share_key: FairShareKey, seconds: float) -> None:
        """Charge a task that is sent; one that is sent again counts once."""
        if task in self._charged:
            return
        self._charged[task] = (share_key, seconds, self._waiting)
        _send(self._lag, self._shares, self._waiting, share_key[0], seconds)
        self._served[share_key] = self._served.get(share_key, self._level.get(share_key[0], 0.0)) + seconds
        if len(self._charged) > MAX_CHARGES:
            del self._charged[next(iter(self._charged))]

    def settle(self, task: Task, seconds: float) -> None:
        """Replace the estimate of an ended task by its actual time."""
        share_key, estimated, waiting = self._charged.pop(task)
        more = seconds - estimated
        self._lag[share_key[0]] -= more
        for each in waiting:
            self._lag[each] += self._shares[each] * more
        if share_key in self._served:
            self._served[share_key] += more

    @property
    def open(self) -> Collection[Task]:
        """The tasks that were sent and not settled."""
        return self._charged.keys()
