"""The state of the queue, as far as it is visible to the viewer."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from sqlalchemy import Connection, select

from campaigns.accounts.principal import Principal
from campaigns.inspection.scheduled_runs import require_watcher
from campaigns.known_campaigns import may_organise
from campaigns.submissions.selected_evaluations import selected_evaluation
from models.queue.kinds.registry import IN_WORKERS
from models.queue_status.evaluation_filters import EvaluationFilter, check_names
from models.queue_status.overview import Overview, RunningTask, read_overview
from models.schema.campaigns import Campaign
from runtime.settings import Settings
from scheduler.leader import has_leader
from steelyard_client.documents.document import utc
from steelyard_client.documents.submissions.queue import (
    CampaignProgressResponse,
    ClassOfWork,
    KindOfWork,
    LearnedWorkResponse,
    QueueResponse,
    RunningComparisonResponse,
    RunningTaskResponse,
    TeamWorkResponse,
    ThroughputResponse,
    WorkerResponse,
)
from steelyard_client.vocabulary import PriorityClass

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


def read_queue(
    connection: Connection,
    principal: Principal,
    settings: Settings,
    selection: EvaluationFilter | None = None,
    most_failures: int = MAX_FAILURES,
) -> QueueView:
    """Return the queue with the visible campaigns and failures; of a selection, its evaluations alone.

    Raises
    ------
    NotSignedIn
        If nobody is signed in.
    Forbidden
        If the caller lacks the permission.
    NotFound
        If nothing has a number or a name of the selection.
    """
    require_watcher(principal)
    within = None if principal.administrates else may_organise(principal)
    chosen = replace(selection or EvaluationFilter(), within=within)
    check_names(connection, chosen)
    overview = read_overview(
        connection, silent_seconds=settings.silent_seconds, selection=chosen, most_failures=most_failures
    )
    if not principal.administrates:
        organised = set(connection.scalars(select(Campaign.name).where(may_organise(principal))))
        overview = replace(
            overview,
            # The number of shards would reveal what was scored before, perhaps in another campaign.
            campaigns=tuple(
                replace(each, shards=0, shards_done=0) for each in overview.campaigns if each.campaign in organised
            ),
            teams=(),
            comparisons=(),
            # Their number shows how busy the server is; where they run is for administrators.
            workers=tuple(replace(each, id="", host="", pid=0, holds=()) for each in overview.workers),
            astray=(),
            # It would say what others measure.
            learned=(),
        )
    return QueueView(overview, has_leader(connection, settings.silent_seconds), principal.administrates)


def queue_document(view: QueueView, settings: Settings) -> QueueResponse:
    """Return the document of a queue."""
    overview = view.overview
    return QueueResponse(
        at=utc(overview.at),
        scheduler=view.led,
        embedded=settings.embedded,
        queues=[
            ClassOfWork(
                queue_class=PriorityClass(each.queue_class.queue),
                waiting=each.waiting,
                in_flight=each.in_flight,
                oldest_seconds=each.oldest_seconds,
            )
            for each in overview.queues
        ],
        work=[KindOfWork(**asdict(each)) for each in overview.work],
        teams=[TeamWorkResponse(**asdict(each)) for each in overview.teams],
        workers=[
            WorkerResponse(**{**asdict(each), "holds": [_task(task) for task in each.holds]})
            for each in overview.workers
        ],
        astray=[_task(task) for task in overview.astray],
        comparisons=[RunningComparisonResponse(**asdict(each)) for each in overview.comparisons],
        last_minute=ThroughputResponse(**asdict(overview.throughput)),
        seconds_left=overview.seconds_left,
        evaluations=dict(overview.evaluations),
        unserved=overview.unserved,
        learned=[LearnedWorkResponse(**asdict(each)) for each in overview.learned],
        campaigns=[CampaignProgressResponse(**asdict(each), title=each.name) for each in overview.campaigns],
        asked=[selected_evaluation(each) for each in overview.asked],
        failures=[selected_evaluation(each) for each in overview.failures],
    )


def _task(task: RunningTask) -> RunningTaskResponse:
    titles = {kind.name: kind.title.lower() for kind in IN_WORKERS}
    return RunningTaskResponse(**asdict(task), title=titles[task.kind])
