"""Which phase holds at a moment, until when it takes submissions, and how late one is."""

import itertools

import pytest
from sqlalchemy import insert, update

from models.corpus.phases import PhaseInfo, deadline_at, next_phase, phase_at, read_phase, read_phases
from models.database.session import make_engine, writing
from models.schema.base import now
from models.schema.campaigns import Campaign, Phase
from models.schema.roles import Feedback, LateRule, PhaseKind

BEGIN, END = 1000.0, 2000.0


def phase(
    kind: PhaseKind = PhaseKind.OPEN,
    *,
    begin: float = BEGIN,
    end: float | None = END,
    late: LateRule = LateRule.REFUSE,
    grace: float = 0.0,
) -> PhaseInfo:
    return PhaseInfo(1, "dev", kind, begin, end, late, grace, Feedback.FULL, 1.0)


@pytest.mark.parametrize(
    ("late", "grace", "closes"),
    [
        (LateRule.REFUSE, 0.0, END),
        (LateRule.REFUSE, 50.0, END),
        (LateRule.FLAG, 0.0, END),
        (LateRule.FLAG, 50.0, 2050.0),
    ],
)
def test_it_takes_submissions_up_to_its_close_and_not_at_it(late: LateRule, grace: float, closes: float) -> None:
    known = phase(late=late, grace=grace)
    assert known.closes_at == closes
    assert known.takes(closes - 0.001)
    assert not known.takes(closes)
    assert not known.takes(closes + 0.001)


def test_without_a_deadline_it_never_closes() -> None:
    for late in LateRule:
        known = phase(end=None, late=late, grace=50.0)
        assert known.closes_at is None
        assert known.takes(1e12)
        assert known.late_seconds(1e12) == 0.0


@pytest.mark.parametrize("kind", PhaseKind)
def test_only_open_and_blind_phases_take_submissions(kind: PhaseKind) -> None:
    assert phase(kind).takes(BEGIN) == (kind in (PhaseKind.OPEN, PhaseKind.BLIND))


@pytest.mark.parametrize(
    ("at", "standing"),
    [(BEGIN - 1, "ahead"), (BEGIN, "now"), (END - 1, "now"), (END, "now"), (END + 49, "now"), (END + 50, "past")],
)
def test_whether_a_phase_is_ahead_now_or_past(at: float, standing: str) -> None:
    assert phase(late=LateRule.FLAG, grace=50.0).standing(at) == standing
    assert phase(end=None).standing(at) == ("ahead" if at < BEGIN else "now")


@pytest.mark.parametrize(("at", "late"), [(BEGIN, 0.0), (END - 1, 0.0), (END, 0.0), (END + 1, 1.0), (END + 90, 90.0)])
def test_how_late_a_moment_is(at: float, late: float) -> None:
    assert phase(late=LateRule.FLAG, grace=50.0).late_seconds(at) == late


def test_that_phase_holds_which_began_last_whatever_their_order() -> None:
    first, second, third = (phase(begin=begin) for begin in (10.0, 20.0, 30.0))
    for phases in ([first, second, third], [third, first, second]):
        found = [phase_at(phases, at) for at in (9.0, 10.0, 19.0, 20.0, 29.0, 30.0, 99.0)]
        assert found == [None, first, first, second, second, third, third]
    assert phase_at([], 10.0) is None


def test_the_phase_of_a_campaign_is_its_own_by_the_clock(database_url: str) -> None:
    engine = make_engine(database_url)
    with writing(engine) as connection:
        insert_campaign = insert(Campaign).returning(Campaign.id)
        ours, others, bare = (
            connection.execute(insert_campaign.values(name=name)).scalar_one() for name in ("ours", "others", "bare")
        )
        connection.execute(update(Campaign).values(phase="said"))
        row = {"kind": PhaseKind.OPEN, "feedback": Feedback.FULL}
        for campaign, name, begins in (
            (ours, "third", 100.0),
            (ours, "second", -50.0),
            (ours, "first", -100.0),
            (others, "theirs", -10.0),
        ):
            values = {"campaign_id": campaign, "name": name, "starts_at": now() + begins, **row}
            connection.execute(insert(Phase).values(**values))
        assert [each.name for each in read_phases(connection, ours)] == ["first", "second", "third"]
        assert [read_phase(connection, each) for each in (ours, others, bare)] == ["second", "theirs", "said"]
        connection.execute(update(Phase).where(Phase.campaign_id == ours).values(starts_at=Phase.starts_at + 1000))
        assert read_phase(connection, ours) == "", "before the first one it is in none, whatever was said once"
    engine.dispose()


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_the_next_phase_is_the_first_that_begins_later(order: tuple[int, ...]) -> None:
    planned = [phase(begin=begin, end=None) for begin in (1000.0, 2000.0, 3000.0)]
    phases = [planned[place] for place in order]
    for at, expected in ((0.0, 0), (999.9, 0), (1000.0, 1), (1999.9, 1), (2000.0, 2), (2999.9, 2)):
        assert next_phase(phases, at) is planned[expected], at
    assert next_phase(phases, 3000.0) is None


def test_the_deadline_is_that_of_the_phase_or_the_begin_of_the_next() -> None:
    first, second = phase(begin=1000.0, end=None), phase(begin=2000.0, end=2500.0)
    last, closed = phase(begin=4000.0, end=None), phase(PhaseKind.CLOSED, begin=3000.0, end=3500.0)
    phases = [first, second, closed, last]
    for at, expected in ((999.0, None), (1000.0, 2000.0), (2000.0, 2500.0), (3100.0, None), (4000.0, None)):
        assert deadline_at(phases, at) == expected, at
