"""A bounded, fair queue for a few slots, independent of what they are used for."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from campaigns.errors import TooMany, Unavailable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

HALF_LIFE_SECONDS = 60.0
"""Half-life of the recorded usage."""
RETRY_SECONDS = 10.0
STOPPING = "The server is shutting down. Send this again in a minute."


@dataclass(frozen=True, slots=True)
class Owner:
    """For whom something is done."""

    account_id: int | str | None
    """Without an account: the network, where it matters."""
    team: str = ""
    """"" if for no team."""


@dataclass(eq=False)
class Ticket:
    """A place in the queue, then a slot."""

    owner: Owner
    number: int
    """Increases with time."""
    granted: Future[None] = field(default_factory=Future)
    """Done when the slot is granted; fails if the queue is closed first."""
    started: float | None = None


class FairQueue:
    """Grants slots to the owner with the least recent usage, by account or team, whichever has used more.

    One account, and one team, has one slot at a time, so that a second slot is always left for others; heavy users wait
    longer, and none can fill the queue. Thread-safe.
    """

    def __init__(
        self,
        slots: int,
        waiting: int,
        waiting_each: int,
        clock: Callable[[], float] = time.monotonic,
        what: str = "files",
    ) -> None:
        self._what = what
        self._slots, self._most, self._most_each = slots, waiting, waiting_each
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: list[Ticket] = []
        self._running: list[Ticket] = []
        self._used: dict[int | str | None, tuple[float, float]] = {}
        """By account (its id) and by team (its name): seconds, and when they were recorded."""
        self._number = 0

    def enter(self, owner: Owner) -> Ticket:
        """Enter the queue.

        Raises
        ------
        TooMany
            If the account has too many places.
        Unavailable
            If the queue is full.
        """
        with self._lock:
            own = sum(each.owner.account_id == owner.account_id for each in self._waiting)
            if own >= self._most_each:
                raise TooMany(
                    f"{own} of your {self._what} are already waiting. Send this one when one of them is done.",
                    retry_seconds=RETRY_SECONDS,
                )
            if len(self._waiting) >= self._most:
                raise Unavailable(
                    f"{len(self._waiting)} {self._what} are waiting: the queue is full. Try again soon.",
                    retry_seconds=RETRY_SECONDS,
                )
            self._number += 1
            ticket = Ticket(owner, self._number)
            self._waiting.append(ticket)
            self._grant()
            return ticket

    def leave(self, ticket: Ticket) -> None:
        """Release a slot or a place, and record the usage of the slot."""
        with self._lock:
            if ticket in self._running:
                self._running.remove(ticket)
                self._note(ticket)
            elif ticket in self._waiting:
                self._waiting.remove(ticket)
            self._grant()

    @asynccontextmanager
    async def turn(self, owner: Owner, seconds: float) -> AsyncIterator[None]:
        """Hold a slot, and wait so long for it without blocking a thread. Raises as `enter`, and Unavailable."""
        ticket = self.enter(owner)
        try:
            try:
                async with asyncio.timeout(seconds):
                    await asyncio.wrap_future(ticket.granted)
            except TimeoutError:
                raise Unavailable(
                    f"Too many {self._what} are waiting, so yours timed out. Try again later.",
                    retry_seconds=RETRY_SECONDS,
                ) from None
            yield
        finally:
            self.leave(ticket)

    def places(self, account_id: int | None) -> list[int]:
        """Return how many tickets are ahead of each of an account's waiting ones, the next one first."""
        with self._lock:
            order = sorted(self._waiting, key=self._rank)
            return [place for place, each in enumerate(order) if each.owner.account_id == account_id]

    def close(self) -> None:
        """Fail all waiting tickets."""
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
        """Return whether the account or the team has a slot."""
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
        # Usage that has decayed to nothing is dropped.
        forgotten = now - 20 * HALF_LIFE_SECONDS
        for whose in [whose for whose, (_, noted) in self._used.items() if noted < forgotten]:
            del self._used[whose]
