"""How often somebody may do something: counted in memory, or in Redis where the broker is one and servers share it."""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from limits import RateLimitItemPerSecond
from limits.errors import StorageError
from limits.storage import MemoryStorage, storage_from_string
from limits.strategies import SlidingWindowCounterRateLimiter

from campaigns.errors import TooMany

if TYPE_CHECKING:
    from limits.storage import SlidingWindowCounterSupport

log = logging.getLogger(__name__)

NAMESPACE = "steelyard"
SHARED = ("redis://", "rediss://")


@dataclass(frozen=True, slots=True)
class Rate:
    """So many times within so many seconds."""

    what: str
    """What is counted, such as "sign-in"; counts of different things do not mix."""
    times: int
    seconds: int

    @property
    def _item(self) -> RateLimitItemPerSecond:
        return RateLimitItemPerSecond(self.times, self.seconds, NAMESPACE)


class Throttle:
    """Counts what somebody does. One for each app.

    The window slides: no moment of the clock gives a fresh start. Where Redis does not answer, this process counts by
    itself: a fault there neither locks everybody out nor lets everything through.
    """

    def __init__(self, broker_url: str) -> None:
        self._alone = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._shared: SlidingWindowCounterRateLimiter | None = None
        if broker_url.startswith(SHARED):
            self._shared = SlidingWindowCounterRateLimiter(storage_from_string(broker_url, wrap_exceptions=True))

    def spend(self, rate: Rate, whose: str, message: str | None = None) -> None:
        """Count one. Raises TooMany, with the time until it is worth while to try again, where there were enough."""
        if not self._asked("hit", rate, whose):
            raise TooMany(message, retry_seconds=self._wait(rate, whose))

    def check(self, rate: Rate, whose: str, message: str | None = None) -> None:
        """As `spend`, without counting."""
        if not self.allows(rate, whose):
            raise TooMany(message, retry_seconds=self._wait(rate, whose))

    def allows(self, rate: Rate, whose: str) -> bool:
        """Whether there is room for one more."""
        return self._asked("test", rate, whose)

    def count(self, rate: Rate, whose: str) -> None:
        """As `spend`, of what nobody is refused for."""
        self._asked("hit", rate, whose)

    def forget(self, rate: Rate, whose: str) -> None:
        """Begin anew."""
        self._asked("clear", rate, whose)

    def _asked(self, verb: str, rate: Rate, whose: str) -> bool:
        for limiter in (self._shared, self._alone):
            if limiter is None:
                continue
            try:
                return bool(getattr(limiter, verb)(rate._item, rate.what, _key(whose)))
            except StorageError as error:
                log.warning("Redis does not count what is asked for; this process counts alone: %s", error)
        return True

    def _wait(self, rate: Rate, whose: str) -> float:
        """Seconds until one more is allowed, provided that nothing else is counted before."""
        for limiter in (self._shared, self._alone):
            if limiter is None:
                continue
            key = rate._item.key_for(rate.what, _key(whose))
            try:
                earlier, _, current, _ = _window(limiter, key, rate.seconds)
            except StorageError:
                continue
            # Of the window before this one counts the share that a sliding one would still cover.
            ends_in = rate.seconds - time.time() % rate.seconds
            if current < rate.times:
                allowed_at = (rate.times - current) * rate.seconds / max(1, earlier)
                return max(1.0, ends_in - allowed_at + 0.1)
            return max(1.0, ends_in + rate.seconds - rate.times * rate.seconds / current + 0.1)
        return float(rate.seconds)


def _window(limiter: SlidingWindowCounterRateLimiter, key: str, seconds: int) -> tuple[int, float, int, float]:
    storage = cast("SlidingWindowCounterSupport", limiter.storage)
    return storage.get_sliding_window(key, seconds)


def network_of(address: str) -> str:
    """Whom an address stands for: an IPv6 address for its network of 64 bits, which one household or machine has."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address):
        mapped = known.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((known, 64), strict=False))
    return str(known)


def _key(whose: str) -> str:
    """Of one length whatever was typed, and no address of anybody in a store that others may read."""
    return hashlib.sha256(whose.encode("utf-8", "surrogatepass")).hexdigest()[:32]
