"""When runs are due, also where the clocks are changed."""

from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.errors import BadSchedule
from scheduler.nightly.cron import Calendar, parse_date

PRAGUE = "Europe/Prague"


def moment(text: str, zone: str = PRAGUE, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def due(expression: str, after: str, count: int, zone: str = PRAGUE) -> list[str]:
    calendar, at, found = Calendar(expression, zone), moment(after, zone), []
    for _ in range(count):
        at = calendar.after(at)
        found.append(calendar.clock(at))
    return found


def test_a_time_that_summer_time_leaves_out_comes_right_after_the_gap() -> None:
    assert due("30 2 * * *", "2026-03-27 12:00", 4) == [
        "2026-03-28 02:30 +01:00",
        "2026-03-29 03:00 +02:00",
        "2026-03-30 02:30 +02:00",
        "2026-03-31 02:30 +02:00",
    ]


def test_a_time_that_comes_twice_is_meant_once() -> None:
    assert due("30 2 * * *", "2026-10-24 12:00", 2) == ["2026-10-25 02:30 +02:00", "2026-10-26 02:30 +01:00"]
    calendar = Calendar("30 2 * * *", PRAGUE)
    within_the_repetition = moment("2026-10-25 02:10", fold=1)
    assert calendar.clock(calendar.after(within_the_repetition)) == "2026-10-26 02:30 +01:00"


def test_several_times_in_the_gap_are_one_moment() -> None:
    assert due("0,30 2,3 * * *", "2026-03-29 00:00", 3) == [
        "2026-03-29 03:00 +02:00",
        "2026-03-29 03:30 +02:00",
        "2026-03-30 02:00 +02:00",
    ]


def test_every_hour_counts_hours_that_went_by() -> None:
    assert due("0 * * * *", "2026-10-25 01:30", 3) == [
        "2026-10-25 02:00 +02:00",
        "2026-10-25 02:00 +01:00",
        "2026-10-25 03:00 +01:00",
    ]
    assert due("0 * * * *", "2026-03-29 01:30", 1) == ["2026-03-29 03:00 +02:00"]


@settings(max_examples=20)
@given(
    zone=st.sampled_from(
        [PRAGUE, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC", "Africa/Casablanca"]
    ),
    start=st.integers(1_700_000_000, 1_900_000_000),
    minute=st.integers(0, 59),
    hour=st.integers(0, 23),
)
def test_once_on_each_day(zone: str, start: int, minute: int, hour: int) -> None:
    calendar = Calendar(f"{minute} {hour} * * *", zone)
    at, days = float(start), []
    for _ in range(400):
        later = calendar.after(at)
        assert later > at
        at = later
        days.append(calendar.date(at).toordinal())
    assert days == list(range(days[0], days[0] + 400))


def test_days_and_their_runs() -> None:
    calendar = Calendar("30 2 * * MON", PRAGUE)
    assert calendar.clock(calendar.on(date(2026, 11, 23))) == "2026-11-23 02:30 +01:00"
    assert calendar.clock(calendar.on(date(2026, 11, 24))) == "2026-11-24 12:00 +01:00"
    assert Calendar("0 0 * * *", PRAGUE).on(date(2026, 11, 23)) == moment("2026-11-23 00:00")
    assert calendar.clock(moment("2026-11-23 00:00", "America/St_Johns")) == "2026-11-23 04:30 +01:00"
    assert Calendar("0 0 * * *", "America/St_Johns").clock(0.0) == "1969-12-31 20:30 -03:30"
    assert parse_date("2026-11-22") == date(2026, 11, 22)


@pytest.mark.parametrize(
    ("expression", "zone", "message"),
    [
        ("61 2 * * *", PRAGUE, 'The minute "61" of the cron expression "61 2 [*] [*] [*]" cannot be read.*0 to 59'),
        ("0 2 * * FRY", PRAGUE, 'The day of the week "FRY"'),
        ("0 2 * 13 *", PRAGUE, 'The month "13"'),
        ("0 2 30-20 * *", PRAGUE, 'The day of the month "30-20"'),
        ("0 2-x * * *", PRAGUE, 'The hour "2-x"'),
        ("0 2 * *", PRAGUE, "has 4 fields. Write five"),
        ("0 0 2 * * *", PRAGUE, "has 6 fields"),
        ("@daily", PRAGUE, "has 1 field[.]"),
        ("0 2 31 2 *", PRAGUE, "matches no date"),
        # A system whose files know no case would take it, and the next one not.
        ("0 2 * * *", "europe/prague", 'no time zone "europe/prague". Did you mean .*Europe/Prague'),
        ("0 2 * * *", "Europe/Praha", 'no time zone "Europe/Praha". Did you mean .*Europe/Prague'),
        ("0 2 * * *", "../../etc/passwd", "no time zone"),
        ("0 2 * * *", "Europe", "no time zone"),
        ("0 2 * * *", "", "no time zone"),
    ],
)
def test_what_is_refused(expression: str, zone: str, message: str) -> None:
    with pytest.raises(BadSchedule, match=message):
        Calendar(expression, zone)


@pytest.mark.parametrize("text", ["20261122", "2026-11-31", "yesterday", "2026-W47-1"])
def test_what_is_no_day(text: str) -> None:
    with pytest.raises(BadSchedule, match="is not a day"):
        parse_date(text)
