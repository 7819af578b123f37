"""What has happened is written down once, for those whom it concerns."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, delete, func, insert, select, update
from sqlalchemy import text as sql

from models.database.session import reading, writing
from models.notices.notify import NewNotice, notify
from models.schema.accounts import Team
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet, Correction, Declaration, Participation, Phase
from models.schema.corpus import Protocol
from models.schema.notices import Notice
from models.schema.queue import Evaluation
from models.schema.roles import PhaseKind
from models.schema.states import EvaluationState
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from scheduler.notices import plan
from scheduler.notices.plan import plan_notices
from steelyard.metrics.registry import parse_metric
from steelyard.tables.formatting import date_time
from steelyard_client.vocabulary import NoticeKind
from tests.faults.cluster import until
from tests.scheduler.notices.mailbox import mailbox as mailbox
from tests.scheduler.notices.mailbox import planned, told
from tests.service.port import Port, output
from tests.service.service import Service

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
        ends_at, zone = connection.execute(select(Phase.ends_at, Campaign.time_zone).join(Campaign)).one()
    assert planned(port) == 1, "another deadline"
    with reading(port.service.engine) as connection:
        text = connection.scalars(select(Notice.text).order_by(Notice.id.desc())).first()
    assert f" is {date_time(ends_at or 0.0, zone)}. Until then" in (text or "")
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


def test_two_that_plan_at_once_tell_a_submission_once(postgres_url: str) -> None:
    """One has written that "mast" was scored, and its transaction goes on; meanwhile "sail" is scored again."""
    with ExitStack() as stack:
        port = Port.opened(Service.start(postgres_url, stack))
        engine = port.service.engine
        mast, sail = (
            port.submit(port.program("mary"), output(number), system=system).json()["id"]
            for number, system in ((2, "mast"), (3, "sail"))
        )
        port.work_off()
        ended = update(Evaluation).where(Evaluation.submission_id == sail)
        with writing(engine) as connection:
            connection.execute(ended.values(finished_at=now() - 2 * DAY))
        with ThreadPoolExecutor(1) as pool:
            with writing(engine) as first:
                plan_notices(first, mails=False)
                with writing(engine) as connection:
                    connection.execute(ended.values(finished_at=now()))
                second = pool.submit(planned, port)
                until(lambda: second.done() or somebody_waits(engine), "the second one to plan, or to wait")
            assert second.result() == 1
        with reading(engine) as connection:
            texts = connection.scalars(select(Notice.text).where(Notice.kind == NoticeKind.SCORED).order_by(Notice.id))
            named = [re.findall(r"submission (\d+)", each) for each in texts]
        assert named == [[str(mast)], [str(sail)]]


def somebody_waits(engine: Engine) -> bool:
    """Whether a transaction waits for a lock of another."""
    with reading(engine) as connection:
        return bool(connection.scalar(sql("SELECT count(*) FROM pg_locks WHERE NOT granted")))


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


def newest_text(port: Port) -> str:
    with reading(port.service.engine) as connection:
        return connection.scalar(select(Notice.text).order_by(Notice.id.desc()).limit(1)) or ""


def test_a_metric_that_failed_is_told_with_the_scores_of_the_others(port_anywhere: Port) -> None:
    port = port_anywhere
    mast, sail = (
        port.submit(port.program("mary"), output(number), system=system).json()["id"]
        for number, system in ((2, "mast"), (3, "sail"))
    )
    port.work_off()
    port.fail_metric(sail, "/srv/models/comet quotes: the hidden reference")
    assert planned(port) == 2
    assert told(port)[-2:] == [
        ("failed", "port 1: chrF2 failed for 1 submission of harbour"),
        ("scored", "port 1: 1 submission of harbour was scored"),
    ]
    assert f"submission {mast}" in newest_text(port)
    with reading(port.service.engine) as connection:
        failed = connection.execute(select(Notice).where(Notice.kind == NoticeKind.FAILED)).one()
    assert failed.text.startswith(f"- sail on quay (submission {sail}): scored, but chrF2 failed\n\n")
    assert failed.text.endswith(plan.ONLY_METRICS)
    assert "hidden reference" not in failed.text
    assert failed.path == f"/submissions/{sail}"
    assert planned(port) == 0


def test_a_metric_that_fails_long_after_the_others_is_told_then(port_anywhere: Port) -> None:
    port = port_anywhere
    mast, sail = (
        port.submit(port.program("mary"), output(number), system=system).json()["id"]
        for number, system in ((2, "mast"), (3, "sail"))
    )
    port.work_off()
    assert planned(port) == 1
    with writing(port.service.engine) as connection:
        connection.execute(update(Evaluation).values(finished_at=Evaluation.finished_at - 2 * DAY))
        connection.execute(update(Notice).values(until=Notice.until - 2 * DAY))
    assert planned(port) == 0
    for number in (mast, sail):
        port.fail_metric(number, "no words", 0)
    port.fail_metric(mast, "no words")
    assert planned(port) == 1
    assert told(port)[-1] == ("failed", "port 1: BLEU, chrF2 failed for 2 submissions of harbour")
    assert newest_text(port).split("\n")[:2] == [
        f"- mast on quay (submission {mast}): scored, but BLEU, chrF2 failed",
        f"- sail on quay (submission {sail}): scored, but BLEU failed",
    ]
    assert planned(port) == 0


@pytest.mark.parametrize("state", [EvaluationState.FAILED, EvaluationState.CANCELLED])
def test_metrics_of_what_has_no_scores_at_all_are_not_told(port: Port, state: EvaluationState) -> None:
    """They end with their evaluation."""
    mast = port.submit(port.program("mary")).json()["id"]
    port.work_off()
    port.fail_metric(mast, "The evaluation was cancelled.")
    with writing(port.service.engine) as connection:
        connection.execute(update(Evaluation).where(Evaluation.submission_id == mast).values(state=state))
    failed = state == EvaluationState.FAILED
    assert planned(port) == failed
    assert told(port) == [("failed", "port 1: 1 submission of harbour could not be scored")] * failed


def test_what_organisers_try_on_submissions_is_not_told(port: Port) -> None:
    """A parameter sweep scores what was scored before, on no leaderboard."""
    port.submit(port.program("mary"))
    port.work_off()
    with writing(port.service.engine) as connection:
        connection.execute(update(Protocol).values(sweep=True))
    planned(port)
    assert all(kind != "scored" for kind, _ in told(port))


def test_each_team_is_told_by_campaign_whatever_was_told_elsewhere(port: Port) -> None:
    """Two teams whose submissions ended in the same moment, one of them told later of another campaign."""
    port.submit(port.program("mary"))
    port.submit(port.program("zoe"), output(3), system="lamp")
    port.work_off()
    with writing(port.service.engine) as connection:
        harbour = connection.scalar(select(Team.id).where(Team.name == "harbour"))
        ended = connection.scalar(select(func.max(Evaluation.finished_at))) or 0.0
        connection.execute(update(Evaluation).values(finished_at=ended))
    there = port.service.campaign("elsewhere", teams=(harbour,))
    with writing(port.service.engine) as connection:
        later = NewNotice(there, "x", NoticeKind.SCORED, "elsewhere", "", "/", team_id=harbour, until=ended + 9.0)
        assert notify(connection, later, mails=False)
    # The team takes part elsewhere alone now: what is here may be that of another server's team.
    with writing(port.service.engine) as connection:
        here = Participation.campaign_id == port.campaign, Participation.team_id == harbour
        number = connection.scalar(select(Participation.number).where(*here))
        connection.execute(delete(Participation).where(*here))
    planned(port)
    assert [title for kind, title in told(port)[1:] if kind == "scored"] == [
        "port 1: 1 submission of guests was scored"
    ]
    with writing(port.service.engine) as connection:
        row = {"campaign_id": port.campaign, "team_id": harbour, "number": number}
        connection.execute(insert(Participation).values(**row))
    planned(port)
    assert told(port)[-1] == ("scored", "port 1: 1 submission of harbour was scored")


@pytest.mark.parametrize("kind", list(PhaseKind))
def test_a_deadline_is_that_of_submissions_in_the_zone_of_the_campaign(port: Port, kind: PhaseKind) -> None:
    with writing(port.service.engine) as connection:
        connection.execute(update(Campaign).values(time_zone="Asia/Kathmandu"))
        connection.execute(update(Phase).values(kind=kind, starts_at=now() - 2 * DAY, ends_at=now() + DAY / 2))
        ends_at = connection.scalar(select(Phase.ends_at)) or 0.0
    takes = kind in (PhaseKind.OPEN, PhaseKind.BLIND)
    assert planned(port) == takes
    with reading(port.service.engine) as connection:
        texts = list(connection.scalars(select(Notice.text)))
    local = datetime.fromtimestamp(ends_at, UTC) + timedelta(hours=5, minutes=45)
    assert [f"{local:%Y, %H:%M} (Asia/Kathmandu)" in each for each in texts] == [True] * takes


def test_twenty_submissions_are_named_and_the_others_counted() -> None:
    for number, rest in ((1, 0), (20, 0), (21, 1), (45, 25)):
        *named, last = plan._listed([f"mast {each}" for each in range(number)]).split("\n")
        assert len(named) == min(number, 20) - (not rest)
        assert last == (f"- and {rest} more" if rest else f"- mast {number - 1}")
