"""When nights are due: cron expressions in a time zone. Pure arithmetic; moments are seconds since 1970."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from metrics.text.wording import number_of
from scheduler.errors import BadSchedule

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
    """The moments that a cron expression means in a time zone, as Debian's cron reads it.

    A time of the day that the change to summer time leaves out becomes the first moment after the gap; one that the
    change back repeats is meant the first time only. Expressions whose minutes or hours begin with `*` are counted in
    hours that have really gone by: they skip the gap, and come in both of the repeated hours.
    """

    expression: str
    time_zone: str

    def __post_init__(self) -> None:
        """Raises BadSchedule that names the field which cannot be read, or the time zone that is not known."""
        zone = _zone(self.time_zone)
        fields = self.expression.split()
        if len(fields) != len(FIELDS):
            raise BadSchedule(
                f'The cron expression "{self.expression}" has {number_of(len(fields), "field")}. {_EXAMPLE}'
            )
        for place, (field, allowed) in enumerate(FIELDS.items()):
            # Each alone, since the library does not say of several terms which one it means.
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
                f'The cron expression "{self.expression}" means no day that ever comes: look at its day of the month '
                "and its month."
            ) from error

    @property
    def zone(self) -> ZoneInfo:
        """The time zone."""
        return ZoneInfo(self.time_zone)

    def after(self, moment: float) -> float | None:
        """The first moment later than this one; None where none comes in the next 50 years."""
        # A time in a repeated hour is meant the first time, which may be before a moment in its repetition.
        for found in CronSim(self.expression, datetime.fromtimestamp(moment, self.zone)):
            if found.timestamp() > moment:
                return found.timestamp()
        return None

    def on(self, day: date) -> float:
        """The first moment of a day; where there is none, noon."""
        midnight = datetime.combine(day, time(), self.zone).timestamp()
        found = self.after(midnight - 1)
        if found is not None and self.date(found) == day:
            return found
        return datetime.combine(day, time(12), self.zone).timestamp()

    def date(self, moment: float) -> date:
        """The day of a moment."""
        return datetime.fromtimestamp(moment, self.zone).date()

    def clock(self, moment: float) -> str:
        """A moment as its clocks show it, with the distance to UTC: 2026-11-22 02:30 +01:00."""
        local = datetime.fromtimestamp(moment, self.zone)
        return local.strftime("%Y-%m-%d %H:%M ") + _offset(local.utcoffset() or timedelta())


def parse_date(text: str) -> date:
    """A day written YYYY-MM-DD. Raises BadSchedule."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        found = None
    # fromisoformat reads other forms, too.
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
    # Asking for a zone by a name that is none may open any file.
    if name not in known:
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise BadSchedule(
            f'There is no time zone "{name}".{hint} Write a name of the IANA database, such as Europe/Prague or UTC.'
        )
    return ZoneInfo(name)


@cache
def _known_zones() -> frozenset[str]:
    return frozenset(available_timezones())


def utc(moment: float) -> str:
    """A moment for machines: 2026-11-22T01:30:00Z."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
