"""State of a running app: settings, engine, caches, sandbox."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from campaigns.accounts.principal import SEEN_SECONDS
from campaigns.accounts.throttle import Throttle
from campaigns.inspection.metrics_and_human import MetricsCache
from campaigns.leaderboards.view import Boards
from campaigns.sandbox.fair_queue import FairQueue
from campaigns.sandbox.processes import Sandbox
from campaigns.submissions.progress import ProgressWatcher

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from campaigns.accounts.principal import Principal
    from runtime.service_settings import WebSettings

MAX_PRINCIPALS = 10_000


@dataclass
class State:
    """The state of one app, shared by all its threads."""

    settings: WebSettings
    engine: Engine
    throttle: Throttle = field(init=False)
    """Rate limits."""
    boards: Boards = field(init=False)
    """Cached leaderboards."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server shuts down, so that event streams end."""
    metrics: MetricsCache = field(default_factory=MetricsCache)
    """Cached correlations of metrics with human judgments."""
    watching: ProgressWatcher = field(init=False)
    """Progress of the submissions that clients watch."""
    sandbox: Sandbox = field(init=False)
    """Processes that read untrusted uploads."""
    segment_pages: FairQueue = field(init=False)
    """Turns of requests that read whole texts."""
    _recorded: dict[tuple[int | None, int | None], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.throttle = Throttle(self.settings.broker_url)
        self.boards = Boards(self.engine, self.settings.board_bytes)
        self.watching = ProgressWatcher(self.engine, self.settings)
        self.sandbox = Sandbox(self.settings)
        # As many may wait as there may be requests.
        most = self.settings.concurrent_requests
        self.segment_pages = FairQueue(self.settings.segment_pages, most, most, what="requests")

    def is_stale(self, principal: Principal) -> bool:
        """Whether the last use of the session or token should be recorded again."""
        key, at = (principal.session_id, principal.token_id), time.monotonic()
        if at - self._recorded.get(key, float("-inf")) < SEEN_SECONDS:
            return False
        if len(self._recorded) >= MAX_PRINCIPALS:
            self._recorded.clear()
        self._recorded[key] = at
        return True
