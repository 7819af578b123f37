"""When requests are tried again."""

from __future__ import annotations

import random
from dataclasses import dataclass

IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "PUT", "DELETE", "OPTIONS"})
"""Idempotent methods, safe to retry. Other requests are safe with an idempotency key."""
RETRIED_STATUSES = frozenset({429, 502, 503, 504})
"""Statuses of temporary failures."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often, and how long, a request is retried. Times are in seconds."""

    tries: int = 10
    """Where the server is there and busy: it closes connections, or its status says so. About three minutes in all."""
    unreachable_tries: int = 5
    """Where it does not answer at all, at most `tries`: its address may be wrong."""
    first_seconds: float = 0.5
    """Delay before the second try; it doubles with each further try, with random jitter."""
    longest_seconds: float = 60.0
    """Maximum delay; if the server asks for more, the request fails."""
    answer_seconds: float = 120.0
    """Timeout of one response."""

    def wait(self, tried: int, asked: float | None, *, busy: bool = True) -> float | None:
        """Seconds until the next try; None for no further try.

        `asked` is the server's Retry-After, if any; `busy` whether it is there.
        """
        tries = self.tries if busy else min(self.tries, self.unreachable_tries)
        if tried >= tries or (asked is not None and asked > self.longest_seconds):
            return None
        own = self.first_seconds * 2 ** (tried - 1) * random.uniform(0.75, 1.25)  # noqa: S311 - no secret
        return min(max(float(own), asked or 0.0), self.longest_seconds)
