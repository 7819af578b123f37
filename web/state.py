"""What an app holds while it runs: settings, an engine, and what need not be looked up twice."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from campaigns.accounts.principal import SEEN_SECONDS
from campaigns.accounts.throttle import Throttle
from campaigns.inspection.metrics_and_human import Memory
from campaigns.leaderboards.view import Boards
from campaigns.sandbox.processes import Sandbox
from campaigns.submissions.progress import Watching

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from campaigns.accounts.principal import Principal
    from runtime.service_settings import WebSettings

LARGEST_MEMORY = 10_000


@dataclass
class State:
    """One for each app, shared by all its threads."""

    settings: WebSettings
    engine: Engine
    throttle: Throttle = field(init=False)
    """What limits how often something is done."""
    boards: Boards = field(init=False)
    """What the process remembers of leaderboards."""
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the server is to end: streams end, too."""
    metrics: Memory = field(default_factory=Memory)
    """How metrics compare with people, made once."""
    watching: Watching = field(init=False)
    """Who watches the progress of submissions."""
    sandbox: Sandbox = field(init=False)
    """Where what people send is read."""
    _seen: dict[tuple[int | None, int | None], float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.throttle = Throttle(self.settings.broker_url)
        self.boards = Boards(self.engine, self.settings.board_bytes)
        self.watching = Watching(self.engine, self.settings)
        self.sandbox = Sandbox(self.settings)

    def is_stale(self, principal: Principal) -> bool:
        """Whether it should be noted again that a session or token is used."""
        key, at = (principal.session_id, principal.token_id), time.monotonic()
        if at - self._seen.get(key, float("-inf")) < SEEN_SECONDS:
            return False
        if len(self._seen) >= LARGEST_MEMORY:
            self._seen.clear()
        self._seen[key] = at
        return True
