"""Moments as organisers write and read them: the time of a clock on a wall, in a named time zone."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from campaigns.errors import BadRequest, BadTime
from scheduler.nightly.cron import Calendar

LATEST_YEAR = 2200
_EXAMPLE = "Write a day and a time such as 2026-11-30T18:00, or with its offset 2026-11-30T18:00+01:00."


def check_zone(name: str) -> str:
    """The name of a time zone, if there is one of that name. Raises BadSchedule with names that are like it."""
    # Only its time zone is looked at.
    Calendar("0 0 * * *", name)
    return name


def read_moment(written: str, time_zone: str) -> float:
    """Seconds since 1970 for a time in a time zone, or for one that has its own offset.

    Raises BadTime for what is none, and BadRequest for a time that the clocks leave out there, or show twice: whoever
    wrote it has to say which one is meant.
    """
    written = written.strip()
    try:
        local = datetime.fromisoformat(written)
    except ValueError as error:
        raise BadTime(f"{written[:50]!r} is no time that is understood here. {_EXAMPLE}") from error
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
            f"{shown} does not exist in {time_zone}: the clocks are put forward over it. Write "
            f"{before.isoformat(timespec='minutes')} or {after.isoformat(timespec='minutes')}."
        )
    raise BadRequest(
        f"{shown} comes twice in {time_zone}, since the clocks are put back. Write which one is meant: "
        f"{first.isoformat(timespec='minutes')} or {second.isoformat(timespec='minutes')}."
    )


def shown_moment(moment: float, time_zone: str) -> str:
    """A moment for people: `Mon 30 Nov 2026, 18:00 (Europe/Prague)`; seconds only where there are any."""
    local = datetime.fromtimestamp(moment, ZoneInfo(time_zone))
    seconds = f":{local.second:02}" if local.second else ""
    return f"{local:%a} {local.day} {local:%b} {local.year}, {local:%H:%M}{seconds} ({time_zone})"


def local_moment(moment: float, time_zone: str) -> str:
    """A moment with its offset, for machines and to be written again: `2026-11-30T18:00:00+01:00`."""
    return datetime.fromtimestamp(moment, ZoneInfo(time_zone)).isoformat(timespec="seconds")


def written_moment(moment: float, time_zone: str) -> str:
    """A moment as organisers would write it, to the second: `2026-11-30 18:00`, with an offset where it needs one."""
    local = datetime.fromtimestamp(moment, ZoneInfo(time_zone)).replace(microsecond=0)
    plain = local.replace(tzinfo=None).isoformat(" ", "seconds" if local.second else "minutes")
    try:
        understood = read_moment(plain, time_zone)
    except BadRequest:
        understood = None
    return plain if understood == local.timestamp() else local.isoformat(" ", "seconds")
