"""Times as organisers write them."""

from contextlib import nullcontext

import pytest

from campaigns.errors import BadRequest, BadTime
from campaigns.fields.times import check_zone, editable_local_time, local_isoformat, parse_local_time
from runtime.times import utc
from scheduler.errors import BadSchedule


@pytest.mark.parametrize(
    ("written", "zone", "in_utc"),
    [
        ("2026-11-30T18:00", "Europe/Prague", "2026-11-30T17:00:00Z"),
        ("2026-07-30 18:00", "Europe/Prague", "2026-07-30T16:00:00Z"),
        ("2026-11-30T18:00:30", "Asia/Kathmandu", "2026-11-30T12:15:30Z"),
        ("2026-11-30T18:00-12:00", "Europe/Prague", "2026-12-01T06:00:00Z"),
        ("2026-11-30T18:00Z", "Europe/Prague", "2026-11-30T18:00:00Z"),
        # Anywhere on earth.
        ("2026-11-30T23:59", "Etc/GMT+12", "2026-12-01T11:59:00Z"),
        # Which of the two is meant is said.
        ("2026-10-25T02:30+02:00", "Europe/Prague", "2026-10-25T00:30:00Z"),
        ("2026-10-25T02:30+01:00", "Europe/Prague", "2026-10-25T01:30:00Z"),
    ],
)
def test_a_time_is_one_of_the_campaigns_zone_unless_it_says_otherwise(written: str, zone: str, in_utc: str) -> None:
    moment = parse_local_time(written, zone)
    assert utc(moment) == in_utc
    assert parse_local_time(local_isoformat(moment, zone), "UTC") == moment


def test_a_time_that_comes_twice_is_asked_back_with_both() -> None:
    with pytest.raises(BadRequest, match="is ambiguous") as error:
        parse_local_time("2026-10-25T02:30", "Europe/Prague")
    assert "2026-10-25T02:30+02:00 or 2026-10-25T02:30+01:00" in str(error.value)


def test_a_time_that_never_comes_is_asked_back_with_those_around_it() -> None:
    with pytest.raises(BadRequest, match="does not exist in Europe/Prague") as error:
        parse_local_time("2026-03-29T02:30", "Europe/Prague")
    assert "2026-03-29T01:30+01:00 or 2026-03-29T03:30+02:00" in str(error.value)


@pytest.mark.parametrize(
    "written", ["", "tomorrow", "2026-11-30", "20261130", "0001-01-01T00:00", "9999-12-31T23:59", "2026-02-30T10:00"]
)
def test_what_is_no_time_is_refused(written: str) -> None:
    with pytest.raises(BadRequest, match="2026-11-30T18:00"):
        parse_local_time(written, "Europe/Prague")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "../../etc/passwd", "", "europe/prague"])
def test_a_zone_is_one_of_the_iana_database(zone: str) -> None:
    with pytest.raises(BadSchedule, match="time zone"):
        check_zone(zone)


@pytest.mark.parametrize(
    ("written", "zone"),
    [
        ("2026-11-30 18:00", "Europe/Prague"),
        ("2026-11-30 18:00:05", "Asia/Kathmandu"),
        # It comes twice there.
        ("2026-10-25 02:30:00+02:00", "Europe/Prague"),
        ("2026-10-25 02:30:00+01:00", "Europe/Prague"),
    ],
)
def test_a_moment_is_written_as_it_would_be_read(written: str, zone: str) -> None:
    moment = parse_local_time(written, zone)
    assert editable_local_time(moment, zone) == written
    assert editable_local_time(moment + 0.75, zone) == written


@pytest.mark.parametrize(("year", "taken"), [(1970, False), (1971, True), (2199, True), (2200, False)])
def test_years_that_can_be_meant(year: int, taken: bool) -> None:
    for offset in ("", "+01:00"):
        with nullcontext() if taken else pytest.raises(BadTime, match="cannot be used"):
            parse_local_time(f"{year}-06-30T10:00{offset}", "Europe/Prague")
