"""Who is next: a bounded, fair queue for a few slots. It knows nothing of what they are used for."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from campaigns.errors import TooMany, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

HALF_LIFE_SECONDS = 60.0
"""After that long half of what somebody has used is forgotten."""
RETRY_SECONDS = 10.0
STOPPING = "The server stops. Send the file again in a minute."


@dataclass(frozen=True, slots=True)
class Owner:
    """On whose account something is done."""

    account_id: int | None
    team: str = ""
    """"" for what is done for no team."""


@dataclass(eq=False)
class Ticket:
    """A place in the queue, then a slot."""

    owner: Owner
    number: int
    """Counts up: who came first."""
    granted: Future[None] = field(default_factory=Future)
    """Done when the slot is there; fails where the queue is closed before."""
    started: float | None = None


class FairQueue:
    """Slots go to whoever has used them least of late: an account, or its team, whichever has used more.

    One account, and one team, has one slot at a time, so a second slot is always left for others; who has used much
    waits longer, and none can fill the queue. Safe to use from several threads.
    """

    def __init__(
        self, slots: int, waiting: int, waiting_each: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._slots, self._most, self._most_each = slots, waiting, waiting_each
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[Ticket] = []
        self._running: list[Ticket] = []
        self._used: dict[int | str | None, tuple[float, float]] = {}
        """By account (its number) and by team (its name): seconds, and when they were noted."""
        self._number = 0

    def enter(self, owner: Owner) -> Ticket:
        """Take a place. Raises TooMany where the account has enough of them, Unavailable where the queue is full."""
        with self._lock:
            own = sum(each.owner.account_id == owner.account_id for each in self._waiting)
            if own >= self._most_each:
                raise TooMany(
                    f"{own} of your files wait to be read already. Send this one when the first of them is done.",
                    retry_seconds=RETRY_SECONDS,
                )
            if len(self._waiting) >= self._most:
                raise Unavailable(
                    f"{len(self._waiting)} files wait to be read: the server has no room for another. Try again soon.",
                    retry_seconds=RETRY_SECONDS,
                )
            self._number += 1
            ticket = Ticket(owner, self._number)
            self._waiting.append(ticket)
            self._grant()
            return ticket

    def leave(self, ticket: Ticket) -> None:
        """Give a slot or a place back; what was used of the slot is noted."""
        with self._lock:
            if ticket in self._running:
                self._running.remove(ticket)
                self._note(ticket)
            elif ticket in self._waiting:
                self._waiting.remove(ticket)
            self._grant()

    def places(self, account_id: int | None) -> list[int]:
        """How many would be served before each of an account's waiting ones, as things stand, the next one first."""
        with self._lock:
            order = sorted(self._waiting, key=self._rank)
            return [place for place, each in enumerate(order) if each.owner.account_id == account_id]

    def close(self) -> None:
        """Send all away who wait."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
            for each in waiting:
                if each.granted.set_running_or_notify_cancel():
                    each.granted.set_exception(Unavailable(STOPPING))

    def _grant(self) -> None:
        while len(self._running) < self._slots:
            ready = [each for each in self._waiting if not self._occupies(each.owner)]
            if not ready:
                return
            ticket = min(ready, key=self._rank)
            self._waiting.remove(ticket)
            if ticket.granted.set_running_or_notify_cancel():
                ticket.started = self._clock()
                self._running.append(ticket)
                ticket.granted.set_result(None)

    def _occupies(self, owner: Owner) -> bool:
        """Whether the account or the team has a slot."""
        return any(
            each.owner.account_id == owner.account_id or (owner.team and each.owner.team == owner.team)
            for each in self._running
        )

    def _rank(self, ticket: Ticket) -> tuple[float, int]:
        owner = ticket.owner
        return max(self._use(owner.account_id), self._use(owner.team) if owner.team else 0.0), ticket.number

    def _use(self, whose: int | str | None) -> float:
        seconds, noted = self._used.get(whose, (0.0, 0.0))
        return seconds * math.exp2((noted - self._clock()) / HALF_LIFE_SECONDS)

    def _note(self, ticket: Ticket) -> None:
        assert ticket.started is not None
        now = self._clock()
        for whose in (ticket.owner.account_id, ticket.owner.team):
            if whose != "":
                self._used[whose] = self._use(whose) + now - ticket.started, now
        # What has become nothing need not be remembered.
        forgotten = now - 20 * HALF_LIFE_SECONDS
        for whose in [whose for whose, (_, noted) in self._used.items() if noted < forgotten]:
            del self._used[whose]
