"""State of a running app: settings, engine, caches, sandbox."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from campaigns.accounts.principal import SEEN_SECONDS
from campaigns.accounts.throttle import Throttle
from campaigns.sandbox.fair_queue import FairQueue

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from campaigns.accounts.principal import Principal
    from campaigns.inspection.metrics_and_human import MetricsCache
    from campaigns.inspection.metrics_task import MetricsTaskCache
    from campaigns.leaderboards.view import Boards
    from campaigns.sandbox.processes import Sandbox
    from campaigns.submissions.progress import ProgressWatcher
    from runtime.service_settings import WebSettings
    from web.live import LivePages
    from web.streams import EventStreams

MAX_PRINCIPALS = 10_000
CLOSED = ("sandbox", "metrics", "metrics_tasks")
"""What has to be closed where it was made."""


@dataclass
class State:
    """The state of one app, shared by all its threads. What few commands need is made when it is used."""

    settings: WebSettings
    engine: Engine
    throttle: Throttle = field(init=False)
    """Rate limits."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server shuts down, so that event streams end."""
    segment_pages: FairQueue = field(init=False)
    """Turns of requests that read whole texts."""
    _recorded: dict[tuple[int | None, int | None], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.throttle = Throttle(self.settings.broker_url)
        # As many may wait as there may be requests.
        most = self.settings.concurrent_requests
        self.segment_pages = FairQueue(self.settings.segment_pages, most, most, what="requests")

    @cached_property
    def boards(self) -> Boards:
        """Cached leaderboards."""
        from campaigns.leaderboards.view import Boards

        return Boards(self.engine, self.settings.board_bytes)

    @cached_property
    def metrics(self) -> MetricsCache:
        """Cached correlations of metrics with human judgments."""
        from campaigns.inspection.metrics_and_human import MetricsCache

        return MetricsCache()

    @cached_property
    def metrics_tasks(self) -> MetricsTaskCache:
        """Cached tables of metrics over all test sets of a campaign."""
        from campaigns.inspection.metrics_task import MetricsTaskCache

        return MetricsTaskCache()

    @cached_property
    def watching(self) -> ProgressWatcher:
        """Progress of the submissions that clients watch."""
        from campaigns.submissions.progress import ProgressWatcher

        return ProgressWatcher(self.engine, self.settings)

    @cached_property
    def streams(self) -> EventStreams:
        """Open streams of events, of pages and of submissions."""
        from web.streams import EventStreams

        return EventStreams(self.settings.event_streams, self.settings.event_streams_each)

    @cached_property
    def live(self) -> LivePages:
        """Pages that clients watch."""
        from web.live import LivePages

        return LivePages()

    @cached_property
    def sandbox(self) -> Sandbox:
        """Processes that read untrusted uploads."""
        from campaigns.sandbox.processes import Sandbox

        return Sandbox(self.settings)

    def make_all(self) -> None:
        """Make what is made when it is used, before threads could do it twice."""
        for name in (*CLOSED, "boards", "watching", "streams", "live"):
            getattr(self, name)

    def close(self) -> None:
        """Close what was made."""
        self.segment_pages.close()
        for name in CLOSED:
            if name in vars(self):
                getattr(self, name).close()
        if "boards" in vars(self):
            self.boards.slow.close()
        self.engine.dispose()

    def is_stale(self, principal: Principal) -> bool:
        """Whether the last use of the session or token should be recorded again."""
        key, at = (principal.session_id, principal.token_id), time.monotonic()
        if at - self._recorded.get(key, float("-inf")) < SEEN_SECONDS:
            return False
        if len(self._recorded) >= MAX_PRINCIPALS:
            self._recorded.clear()
        self._recorded[key] = at
        return True
