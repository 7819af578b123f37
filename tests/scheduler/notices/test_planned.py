"""What has happened is written down once, for those whom it concerns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update

from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet, Correction, Declaration, Participation, Phase
from models.schema.corpus import Protocol
from models.schema.notices import Notice
from models.schema.queue import Evaluation
from models.schema.roles import PhaseKind
from models.schema.states import EvaluationState
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from steelyard.metrics.registry import parse_metric
from tests.scheduler.notices.mailbox import mailbox as mailbox
from tests.scheduler.notices.mailbox import planned, told
from tests.service.port import Port, output

if TYPE_CHECKING:
    pass

DAY = 86400.0


def test_each_thing_is_told_once_however_often_one_looks(port_anywhere: Port) -> None:
    port = port_anywhere
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(starts_at=now() - 60, ends_at=now() + DAY / 2))
        correction = {"old_test_set_id": port.test_set, "new_test_set_id": port.test_set, "reason": "A typo."}
        connection.execute(Correction.__table__.insert().values(campaign_id=port.campaign, **correction))  # type: ignore[attr-defined]
    assert planned(port) == 3
    assert planned(port) == 0
    assert [kind for kind, _ in told(port)] == ["phase", "deadline", "correction"]
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() + DAY / 3))
    assert planned(port) == 1, "another deadline"
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() - 1))
        over = {"name": "over", "kind": PhaseKind.PUBLISHED, "starts_at": now() - 0.5}
        connection.execute(Phase.__table__.insert().values(campaign_id=port.campaign, **over))  # type: ignore[attr-defined]
    assert planned(port) == 1
    assert told(port)[-1] == ("results", "port 1: the results are published")


def test_what_is_long_past_or_far_ahead_is_not_told(port: Port) -> None:
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(starts_at=now() - 2 * DAY, ends_at=now() + 2 * DAY))
    assert planned(port) == 0
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() + DAY / 2))
        connection.execute(update(Campaign).values(frozen_at=now()))
    assert planned(port) == 0, "nothing can be submitted until then"
    with writing(port.service.engine) as connection:
        connection.execute(update(Campaign).values(frozen_at=None))
    assert planned(port) == 1
    ahead = port.service.phase(port.campaign, "next", PhaseKind.OPEN, begins=2 * DAY)
    with writing(port.service.engine) as connection:
        correction = {"old_test_set_id": port.test_set, "new_test_set_id": port.test_set, "reason": "A typo."}
        connection.execute(insert(Correction).values(campaign_id=port.campaign, **correction))
        connection.execute(update(CampaignTestSet).values(phase_id=ahead))
    assert planned(port) == 0, "only organisers know that there is this test set"
    with writing(port.service.engine) as connection:
        connection.execute(update(CampaignTestSet).values(phase_id=port.phase))
    assert planned(port) == 1


def test_submissions_of_a_team_are_told_together_and_to_the_team_alone(port_anywhere: Port) -> None:
    port = port_anywhere
    port.submit(port.program("mary"))
    port.submit(port.program("mary"), output(2), system="keel")
    port.submit(port.program("zoe"), output(3), system="lamp")
    planned(port)
    before = len(told(port))
    port.work_off()
    with writing(port.service.engine) as connection:
        of_guests = Declaration.submission_id == Evaluation.submission_id, Declaration.team == "guests"
        connection.execute(update(Evaluation).where(*of_guests).values(finished_at=Evaluation.finished_at - 60.0))
    assert planned(port) == 2, "also of who was done before the other was told"
    assert planned(port) == 0
    scored = told(port)[before:]
    assert scored == [
        ("scored", "port 1: 2 submissions of harbour were scored"),
        ("scored", "port 1: 1 submission of guests was scored"),
    ]
    seen = [each["title"] for each in port.program("mary").get("/api/v1/notices").json()["items"]]
    assert scored[0][1] in seen
    assert scored[1][1] not in seen
    port.submit(port.program("mary"), output(4), system="sail")
    assert planned(port) == 0, "it is being scored"
    port.work_off()
    assert planned(port) == 1
    assert told(port)[-1][1] == "port 1: 1 submission of harbour was scored", "of the new one alone"
    with reading(port.service.engine) as connection:
        text = connection.scalar(select(Notice.text).order_by(Notice.id.desc()).limit(1))
    assert text is not None
    assert text.startswith("- sail on quay (submission ")


def test_a_team_that_only_has_the_same_name_is_told_nothing(port: Port) -> None:
    """As that of an export of another server, in a campaign that its members must not know of."""
    port.submit(port.program("mary"))
    port.work_off()
    with writing(port.service.engine) as connection:
        there = connection.execute(select(Participation).where(Participation.campaign_id == port.campaign)).mappings()
        rows = [dict(each) for each in there]
        connection.execute(delete(Participation).where(Participation.campaign_id == port.campaign))
    planned(port)
    assert "scored" not in dict(told(port))
    with writing(port.service.engine) as connection:
        connection.execute(insert(Participation), rows)
    planned(port)
    assert "scored" in dict(told(port))


def test_a_withdrawn_submission_is_not_told(port: Port) -> None:
    port.submit(port.program("mary"))
    port.work_off()
    with writing(port.service.engine) as connection:
        connection.execute(update(Declaration).values(withdrawn_at=now()))
    planned(port)
    assert all(kind != "scored" for kind, _ in told(port))


def test_a_submission_has_failed_if_one_of_its_evaluations_has(port_anywhere: Port) -> None:
    port = port_anywhere
    failed = {"state": EvaluationState.FAILED, "finished_at": now()}
    first, second = (
        port.submit(port.program("mary"), output(number), system=f"mast {number}").json()["id"] for number in (2, 3)
    )
    port.work_off()
    with writing(port.service.engine) as connection:
        (other,) = store_protocols(connection, port.test_set, [NewProtocol(["A"], [parse_metric("ter")], 0)])
        connection.execute(update(Evaluation).where(Evaluation.submission_id == first).values(**failed))
        for submission, state in ((first, EvaluationState.DONE), (second, EvaluationState.FAILED)):
            row = {"submission_id": submission, "protocol_id": other, **failed, "state": state}
            connection.execute(insert(Evaluation).values(**row))
    planned(port)
    assert told(port)[-1] == ("failed", "port 1: 2 submissions of harbour could not be scored")


def test_what_organisers_try_on_submissions_is_not_told(port: Port) -> None:
    """A parameter sweep scores what was scored before, on no leaderboard."""
    port.submit(port.program("mary"))
    port.work_off()
    with writing(port.service.engine) as connection:
        connection.execute(update(Protocol).values(sweep=True))
    planned(port)
    assert all(kind != "scored" for kind, _ in told(port))
