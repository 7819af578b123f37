"""The state of the queue, as far as it is visible to the viewer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import Connection, select

from campaigns.accounts.principal import Principal
from campaigns.inspection.scheduled_runs import require_watcher
from campaigns.known_campaigns import may_organise
from models.queue_status.overview import Overview, read_overview
from models.schema.campaigns import Campaign
from runtime.service_settings import WebSettings
from scheduler.leader import has_leader

MAX_FAILURES = 20


@dataclass(frozen=True)
class QueueView:
    """The queue at one time."""

    overview: Overview
    led: bool
    """Whether a scheduler dispatches work."""
    everything: bool
    """Whether nothing was left out: administrators see teams and workers, too."""

    @property
    def stuck(self) -> bool:
        """Whether work waits that nothing processes."""
        open_work = self.overview.open or self.overview.waiting
        return bool(open_work) and (not self.led or not self.overview.processes)


def read_queue(connection: Connection, principal: Principal, settings: WebSettings) -> QueueView:
    """Return the queue with the visible campaigns and failures.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        If the caller lacks the permission.
    """
    require_watcher(principal)
    overview = read_overview(connection, silent_seconds=settings.silent_seconds, most_failures=MAX_FAILURES)
    if not principal.administrates:
        organised = set(connection.scalars(select(Campaign.name).where(may_organise(principal))))
        overview = replace(
            overview,
            # The number of shards would reveal what was scored before, perhaps in another campaign.
            campaigns=tuple(
                replace(each, shards=0, shards_done=0) for each in overview.campaigns if each.campaign in organised
            ),
            failures=tuple(each for each in overview.failures if each.campaign in organised),
            teams=(),
            comparisons=(),
            # Their number shows how busy the server is; where they run is for administrators.
            workers=tuple(replace(each, id="", host="", pid=0, holds=()) for each in overview.workers),
            astray=(),
            # It would say what others measure.
            learned=(),
        )
    return QueueView(overview, has_leader(connection, settings.silent_seconds), principal.administrates)
