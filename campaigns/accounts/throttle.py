"""Rate limits, counted in memory, or in Redis if the broker is Redis, so that servers share them."""

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
    """At most so many times within so many seconds."""

    what: str
    """What is counted, such as "sign-in"; counts of different things do not mix."""
    times: int
    seconds: int

    @property
    def _item(self) -> RateLimitItemPerSecond:
        return RateLimitItemPerSecond(self.times, self.seconds, NAMESPACE)


class Throttle:
    """Counts events by key. One for each app.

    The window slides: there is no moment at which all counts start from zero. If Redis does not answer, this process
    counts alone: a fault there neither locks everybody out nor lets everything through.
    """

    def __init__(self, broker_url: str) -> None:
        self._alone = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._shared: SlidingWindowCounterRateLimiter | None = None
        if broker_url.startswith(SHARED):
            self._shared = SlidingWindowCounterRateLimiter(storage_from_string(broker_url, wrap_exceptions=True))

    def hit(self, rate: Rate, whose: str, message: str | None = None) -> None:
        """Count one event.

        Raises
        ------
        TooMany
            If the limit is reached, with the time until a retry is worthwhile.
        """
        if not self._call("hit", rate, whose):
            raise TooMany(message, retry_seconds=self._wait(rate, whose))

    def check(self, rate: Rate, whose: str, message: str | None = None) -> None:
        """Raise TooMany as `hit` does, without counting."""
        if not self.allows(rate, whose):
            raise TooMany(message, retry_seconds=self._wait(rate, whose))

    def allows(self, rate: Rate, whose: str) -> bool:
        """Return whether one more event is allowed."""
        return self._call("test", rate, whose)

    def count(self, rate: Rate, whose: str) -> None:
        """Count one event without refusing it."""
        self._call("hit", rate, whose)

    def reset(self, rate: Rate, whose: str) -> None:
        """Reset the count to zero."""
        self._call("clear", rate, whose)

    def _call(self, verb: str, rate: Rate, whose: str) -> bool:
        for limiter in (self._shared, self._alone):
            if limiter is None:
                continue
            try:
                return bool(getattr(limiter, verb)(rate._item, rate.what, _key(whose)))
            except StorageError as error:
                log.warning("Redis does not count requests; this process counts alone: %s", error)
        return True

    def _wait(self, rate: Rate, whose: str) -> float:
        """Return the seconds until one more is allowed, if nothing else is counted before."""
        for limiter in (self._shared, self._alone):
            if limiter is None:
                continue
            key = rate._item.key_for(rate.what, _key(whose))
            try:
                earlier, _, current, _ = _window(limiter, key, rate.seconds)
            except StorageError:
                continue
            # The previous window counts by the share of it that a sliding window still covers.
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
    """Return the network that an address stands for: a /64 for IPv6, which one household or machine has."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address):
        mapped = known.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((known, 64), strict=False))
    return str(known)


def _key(whose: str) -> str:
    """Hash a key: a fixed length for any input, and no personal address in a store that others may read."""
    return hashlib.sha256(whose.encode("utf-8", "surrogatepass")).hexdigest()[:32]
