"""What organisers and administrators are told of the queue, field by field."""

from __future__ import annotations

from dataclasses import replace

import pytest

from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.errors import Forbidden, NotSignedIn
from campaigns.inspection import queue
from campaigns.inspection.queue import QueueView, read_queue
from models.database.session import reading
from models.queue_status.campaign_progress import CampaignProgress
from models.queue_status.evaluation_filters import EvaluationFilter, EvaluationSummary
from models.queue_status.learned import LearnedWork
from models.queue_status.overview import Overview, Queue, RunningComparison, RunningTask, TeamWork, WorkerOverview
from models.queue_status.throughput import Throughput
from models.schema.roles import SiteRole, Visibility
from models.schema.states import EvaluationState, QueueClass
from tests.service.service import Service

STATES = dict.fromkeys(EvaluationState, 0)
TASK = RunningTask("shards", 4711, 1, 2.0)
WORKER = WorkerOverview("secret-id", "secret-host", 4712, "1", 1, 3, True, 0.1, 9.0, (TASK,))


def progress(campaign: str) -> CampaignProgress:
    return CampaignProgress(campaign, "news", "1", STATES, shards=4713, shards_done=4714)


def failure(campaign: str) -> EvaluationSummary:
    return EvaluationSummary(
        1, EvaluationState.FAILED, campaign, "news", ("A",), "ants", "mast", "", f"reason of {campaign}", None, 1.0,
        *(0, 1, 1, 1, "ants"),
    )  # fmt: skip


WHOLE = Overview(
    at=1.0,
    queues=(Queue(QueueClass.CAMPAIGN, 2, 1, 3.0),),
    work=(),
    teams=(TeamWork("secret-team", 1, 2),),
    workers=(WORKER,),
    astray=(TASK,),
    comparisons=(RunningComparison(4715, "secret-set", 1, 100, 2),),
    throughput=Throughput(1, 2),
    seconds_left=5.0,
    evaluations=STATES,
    campaigns=(progress("ours"), progress("secret-campaign")),
    unserved={},
    failures=(failure("ours"), failure("secret-campaign")),
    asked=(),
    learned=(LearnedWork("secret-metric", 1, 2, 3, 4, 5),),
)


@pytest.fixture
def site(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Two public campaigns, one of which mary organises, and a server that has something to tell in every field."""
    mary = service.account("mary", SiteRole.ORGANISER)
    service.campaign("ours", organisers=(mary,))
    service.campaign("secret-campaign", visibility=Visibility.PUBLIC)

    def overview(*_: object, selection: EvaluationFilter, **__: object) -> Overview:
        # Evaluations are selected by the database; all else is not.
        return WHOLE if selection.within is None else replace(WHOLE, failures=WHOLE.failures[:1])

    monkeypatch.setattr(queue, "read_overview", overview)
    return service


def view(service: Service, principal: Principal) -> QueueView:
    with reading(service.engine) as connection:
        return read_queue(connection, principal, service.settings)


def test_organisers_are_told_of_their_campaigns_and_that_there_are_workers(site: Service) -> None:
    mary = Principal(1, role=SiteRole.ORGANISER, scopes=EVERY_SCOPE)
    found = view(site, mary)
    assert not found.everything
    told = repr(found.overview)
    for hidden in ("secret", "4711", "4712", "4713", "4714", "4715"):
        assert hidden not in told
    assert "reason of ours" in told
    assert [each.campaign for each in found.overview.campaigns] == ["ours"]
    assert (found.overview.waiting, found.overview.processes, found.overview.seconds_left) == (2, 3, 5.0)


def test_administrators_are_told_everything_and_others_nothing(site: Service) -> None:
    assert view(site, COMMAND_LINE).overview == WHOLE
    assert view(site, COMMAND_LINE).everything
    with pytest.raises(Forbidden):
        view(site, Principal(2, role=SiteRole.PARTICIPANT, scopes=EVERY_SCOPE))
    with pytest.raises(NotSignedIn):
        view(site, NOBODY)


@pytest.mark.parametrize(
    ("waiting", "running", "led", "processes", "stuck"),
    [
        (1, 0, True, 1, False), (1, 0, False, 1, True), (1, 0, True, 0, True), (0, 1, True, 0, True),
        (0, 1, True, 1, False), (0, 0, False, 0, False),
    ],
)  # fmt: skip
def test_work_is_stuck_where_nobody_sends_it_or_nobody_does_it(
    *, waiting: int, running: int, led: bool, processes: int, stuck: bool
) -> None:
    overview = replace(
        WHOLE,
        queues=(Queue(QueueClass.CAMPAIGN, waiting, 0, None),),
        evaluations={**STATES, EvaluationState.RUNNING: running, EvaluationState.DONE: 7},
        workers=(replace(WORKER, processes=processes), replace(WORKER, beating=False)),
    )
    assert QueueView(overview, led, everything=True).stuck is stuck
