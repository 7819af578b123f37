"""Due times of schedules: cron expressions in a time zone. Pure arithmetic; times are in seconds since 1970."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from scheduler.errors import BadSchedule
from steelyard.text.wording import number_of

FIELDS = {
    "minute": "0 to 59",
    "hour": "0 to 23",
    "day of the month": "1 to 31, or L for the last",
    "month": "1 to 12, or JAN to DEC",
    "day of the week": "0 to 7, where 0 and 7 are Sunday, or SUN to SAT",
}
_EXAMPLE = 'Write five fields, as in "30 2 * * *" for half past two every night.'


@dataclass(frozen=True, slots=True)
class Calendar:
    """The times of a cron expression in a time zone, as Debian's cron interprets it.

    A time skipped by the change to summer time becomes the first moment after the gap; a time repeated by the change
    back counts once. Expressions whose minutes or hours begin with `*` count elapsed hours: they skip the gap, and run
    in both of the repeated hours.
    """

    expression: str
    time_zone: str

    def __post_init__(self) -> None:
        """Raises BadSchedule, naming the invalid field or the unknown time zone."""
        zone = _zone(self.time_zone)
        fields = self.expression.split()
        if len(fields) != len(FIELDS):
            raise BadSchedule(
                f'The cron expression "{self.expression}" has {number_of(len(fields), "field")}. {_EXAMPLE}'
            )
        for place, (field, allowed) in enumerate(FIELDS.items()):
            # Each field alone, since the library does not say which one is invalid.
            alone = ["*"] * len(FIELDS)
            alone[place] = fields[place]
            try:
                CronSim(" ".join(alone), datetime(2000, 1, 1))
            except CronSimError as error:
                raise BadSchedule(
                    f'The {field} "{fields[place]}" of the cron expression "{self.expression}" cannot be read. '
                    f"Allowed: {allowed}; lists 1,2, ranges 1-5, steps */10, and *."
                ) from error
        try:
            next(CronSim(self.expression, datetime(2000, 1, 1, tzinfo=zone)))
        except (CronSimError, StopIteration) as error:
            raise BadSchedule(
                f'The cron expression "{self.expression}" matches no date: check its day of the month and its month.'
            ) from error

    @property
    def zone(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.time_zone)

    def after(self, moment: float) -> float | None:
        """The first time after this one; None if there is none in the next 50 years."""
        # The first occurrence of a repeated hour counts, and may be before a time in the second.
        for found in CronSim(self.expression, datetime.fromtimestamp(moment, self.zone)):
            if found.timestamp() > moment:
                return found.timestamp()
        return None

    def on(self, day: date) -> float:
        """The first time on a day; noon if there is none."""
        midnight = datetime.combine(day, time(), self.zone).timestamp()
        found = self.after(midnight - 1)
        if found is not None and self.date(found) == day:
            return found
        return datetime.combine(day, time(12), self.zone).timestamp()

    def date(self, moment: float) -> date:
        """The date of a time."""
        return datetime.fromtimestamp(moment, self.zone).date()

    def clock(self, moment: float) -> str:
        """A local time with its UTC offset: 2026-11-22 02:30 +01:00."""
        local = datetime.fromtimestamp(moment, self.zone)
        return local.strftime("%Y-%m-%d %H:%M ") + _offset(local.utcoffset() or timedelta())


def parse_date(text: str) -> date:
    """A date written YYYY-MM-DD.

    Raises
    ------
    BadSchedule
        If it is invalid.
    """
    try:
        found = date.fromisoformat(text)
    except ValueError:
        found = None
    # fromisoformat accepts other forms, too.
    if found is None or found.isoformat() != text:
        raise BadSchedule(f'"{text}" is not a day. Write it as YYYY-MM-DD, for instance 2026-11-22.')
    return found


def _offset(distance: timedelta) -> str:
    minutes = round(distance.total_seconds() / 60)
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def _zone(name: str) -> ZoneInfo:
    if name == "UTC":
        return ZoneInfo(name)
    known = _known_zones()
    # Looking up an invalid name may open an arbitrary file.
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        message = f" Did you mean {' or '.join(near)}?" if near else ""
        raise BadSchedule(
            f'There is no time zone "{name}".{message} Write a name of the IANA database, such as Europe/Prague or UTC.'
        )
    return ZoneInfo(name)


@cache
def _known_zones() -> frozenset[str]:
    return frozenset(available_timezones())
