"""Which schedules and runs are shown, which are overdue, and which series are drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import Engine, update

from analysis.nightly.regression import Subject
from analysis.nightly.series import ScoreSeries
from campaigns.accounts.principal import COMMAND_LINE, EVERY_SCOPE, NOBODY, Principal
from campaigns.errors import Forbidden, NotFound, NotSignedIn
from campaigns.inspection.scheduled_runs import (
    LATE_SECONDS,
    chosen_series,
    metrics_of,
    visible_history,
    visible_report,
    visible_schedules,
)
from models.database.session import reading, writing
from models.schema.base import now
from models.schema.nightly import Schedule
from models.schema.roles import SiteRole, Visibility
from tests.analysis.nightly_runs import add_nightly_run, add_schedule
from tests.service.service import Service

SUBJECT = Subject("mast", "news", ("A",), "bleu")
SERIES = ScoreSeries(SUBJECT, "BLEU", "", True, (), ())


@pytest.fixture
def engine(service: Service) -> Engine:
    """A schedule "ours" of mary's campaign, and "theirs" of a private one, with a run each."""
    mary = service.account("mary", SiteRole.ORGANISER)
    for number, (name, organisers) in enumerate((("ours", (mary,)), ("theirs", ())), 1):
        campaign = service.campaign(name, organisers=organisers, visibility=Visibility.PRIVATE)
        schedule = add_schedule(service.engine, campaign, name=name)
        assert add_nightly_run(service.engine, schedule, number, {}) == number
    return service.engine


MARY = Principal(1, role=SiteRole.ORGANISER, scopes=EVERY_SCOPE)


@pytest.mark.parametrize(
    ("seconds", "overdue"),
    [(None, False), (60.0, False), (60.0 - LATE_SECONDS, False), (-60.0 - LATE_SECONDS, True)],
)
def test_a_schedule_is_overdue_once_its_run_should_long_have_begun(
    engine: Engine, *, seconds: float | None, overdue: bool
) -> None:
    with writing(engine) as connection:
        connection.execute(update(Schedule).values(next_at=None if seconds is None else now() + seconds))
    with reading(engine) as connection:
        (found,) = visible_schedules(connection, MARY)
    assert (found.schedule.name, found.overdue, found.nightly_runs) == ("ours", overdue, 1)
    assert found.last is not None
    assert found.last.id == 1


def test_others_have_no_schedules(engine: Engine) -> None:
    with reading(engine) as connection:
        assert [each.schedule.name for each in visible_schedules(connection, COMMAND_LINE)] == ["ours", "theirs"]
        assert visible_history(connection, MARY, "ours").schedule.name == "ours"
        assert visible_report(connection, MARY, "ours", 1).nightly_run.id == 1
        for name, run in (("ours", 2), ("theirs", 2), ("nobody's", 1)):
            with pytest.raises(NotFound):
                visible_report(connection, MARY, name, run)
        with pytest.raises(NotFound):
            visible_history(connection, MARY, "theirs")
        for principal, error in ((NOBODY, NotSignedIn), (replace(MARY, role=SiteRole.PARTICIPANT), Forbidden)):
            for asked in (
                lambda who: visible_schedules(connection, who),
                lambda who: visible_history(connection, who, "ours"),
                lambda who: visible_report(connection, who, "ours", 1),
            ):
                with pytest.raises(error):
                    asked(principal)


def test_schedules_that_were_deleted_are_shown_to_administrators_alone(engine: Engine) -> None:
    with writing(engine) as connection:
        connection.execute(update(Schedule).where(Schedule.name == "ours").values(active=False))
    with reading(engine) as connection:
        with pytest.raises(Forbidden) as refused:
            visible_schedules(connection, MARY, removed=True)
        assert str(refused.value) == "Only administrators can see deleted schedules."
        assert visible_schedules(connection, MARY) == []
        for removed, names in ((True, ["ours", "theirs"]), (False, ["theirs"])):
            shown = visible_schedules(connection, COMMAND_LINE, removed=removed)
            assert [each.schedule.name for each in shown] == names


def test_series_with_changes_come_first_and_can_be_chosen() -> None:
    def series(system: str, test_set: str, title: str, *, changed: bool = False) -> ScoreSeries:
        subject = Subject(system, test_set, ("A",), title.lower())
        return replace(SERIES, subject=subject, title=title, changes=(None,) if changed else ())

    one, two = series("oar", "news", "BLEU"), series("mast", "talks", "BLEU")
    three, four = series("mast", "news", "TER", changed=True), series("mast", "news", "BLEU")
    every = [one, two, three, four]
    assert chosen_series(every, "", "") == [three, four, one, two]
    assert chosen_series(every, "BLEU", "") == [four, one, two]
    assert chosen_series(every, "", "mast") == [three, four, two]
    assert chosen_series(every, "TER", "oar") == []
    assert metrics_of(every) == ["BLEU", "TER"]
