"""Times as organisers write and read them: local times in a named time zone."""

from __future__ import annotations

from datetime import datetime
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

from campaigns.errors import BadRequest, BadTime
from scheduler.nightly.cron import Calendar

LATEST_YEAR = 2200
_EXAMPLE = "Write a day and a time such as 2026-11-30T18:00, or with its offset 2026-11-30T18:00+01:00."


@lru_cache(maxsize=1000)
def check_zone(name: str) -> str:
    """Return the name of an existing time zone; remembered, since every request reads that of its campaigns.

    Raises
    ------
    BadSchedule
        If the time zone does not exist; the message lists similar names.
    """
    # Only the time zone matters here.
    Calendar("0 0 * * *", name)
    return name


@cache
def time_zones() -> tuple[tuple[str, str], ...]:
    """Return the time zones that a form proposes, each with a title; "Anywhere on Earth" first."""
    regions = ("Africa/", "America/", "Asia/", "Atlantic/", "Australia/", "Europe/", "Indian/", "Pacific/")
    named = sorted(each for each in available_timezones() if each.startswith(regions))
    return (("Etc/GMT+12", "Anywhere on Earth"), ("UTC", "UTC"), *((each, each) for each in named))


def parse_local_time(written: str, time_zone: str) -> float:
    """Parse a time in a time zone, or one with its own offset; seconds since 1970.

    Raises
    ------
    BadTime
        For an invalid time.
    BadRequest
        For an ambiguous or non-existent local time (daylight saving), with the unambiguous times to write instead.
    """
    written = written.strip()
    try:
        local = datetime.fromisoformat(written)
    except ValueError as error:
        raise BadTime(f"{written[:50]!r} is not a valid time. {_EXAMPLE}") from error
    if len(written) <= len("2026-11-30") or not 1970 < local.year < LATEST_YEAR:
        raise BadTime(f"{written[:50]!r} cannot be used as a time. {_EXAMPLE}")
    if local.tzinfo is not None:
        return local.timestamp()
    zone = ZoneInfo(time_zone)
    first, second = (local.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first.timestamp()
    shown = local.isoformat(timespec="minutes")
    if datetime.fromtimestamp(first.timestamp(), zone).replace(tzinfo=None) != local:
        before, after = (datetime.fromtimestamp(each.timestamp(), zone) for each in (second, first))
        raise BadRequest(
            f"{shown} does not exist in {time_zone} because of daylight saving. Write "
            f"{before.isoformat(timespec='minutes')} or {after.isoformat(timespec='minutes')}."
        )
    raise BadRequest(
        f"{shown} is ambiguous in {time_zone} because of daylight saving. Write one of: "
        f"{first.isoformat(timespec='minutes')} or {second.isoformat(timespec='minutes')}."
    )


def local_isoformat(moment: float, time_zone: str) -> str:
    """Format a time with its offset, for programs: `2026-11-30T18:00:00+01:00`."""
    return datetime.fromtimestamp(moment, ZoneInfo(time_zone)).isoformat(timespec="seconds")


def editable_local_time(moment: float, time_zone: str) -> str:
    """Format a time as organisers write it, to the second: `2026-11-30 18:00`, with an offset only if needed."""
    local = datetime.fromtimestamp(moment, ZoneInfo(time_zone)).replace(microsecond=0)
    plain = local.replace(tzinfo=None).isoformat(" ", "seconds" if local.second else "minutes")
    try:
        understood = parse_local_time(plain, time_zone)
    except BadRequest:
        understood = None
    return plain if understood == local.timestamp() else local.isoformat(" ", "seconds")
