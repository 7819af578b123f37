"""How the queue stands, as far as somebody may see it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from campaigns.accounts.principal import Principal
from campaigns.inspection.scheduled_runs import require_watcher
from campaigns.permissions import may_organise
from models.queue_status.overview import Overview, read_overview
from models.schema.campaigns import Campaign
from runtime.service_settings import WebSettings
from scheduler.leader import is_led

MOST_FAILURES = 20


@dataclass(frozen=True)
class SeenQueue:
    """The queue at one moment."""

    overview: Overview
    led: bool
    """Whether somebody hands out work."""
    everything: bool
    """Whether nothing was left out: administrators see teams and workers, too."""

    @property
    def stuck(self) -> bool:
        """Whether something waits that nobody works on."""
        open_work = self.overview.open or self.overview.waiting
        return bool(open_work) and (not self.led or not self.overview.processes)


def read_queue(connection: Connection, principal: Principal, settings: WebSettings) -> SeenQueue:
    """The queue, with campaigns and failures that one may know of. Raises NotSignedIn and Forbidden."""
    require_watcher(principal)
    overview = read_overview(connection, silent_seconds=settings.silent_seconds, most_failures=MOST_FAILURES)
    if not principal.administrates:
        organised = set(connection.scalars(select(Campaign.name).where(may_organise(principal))))
        overview = replace(
            overview,
            # How many shards there are says what was measured before, in another campaign perhaps.
            campaigns=tuple(
                replace(each, shards=0, shards_done=0) for each in overview.campaigns if each.campaign in organised
            ),
            failures=tuple(each for each in overview.failures if each.campaign in organised),
            teams=(),
            comparisons=(),
            # How many there are says how busy the server is; where they run does not concern others.
            workers=tuple(replace(each, id="", host="", pid=0, holds=()) for each in overview.workers),
            astray=(),
        )
    return SeenQueue(overview, is_led(connection, settings.silent_seconds), principal.administrates)
