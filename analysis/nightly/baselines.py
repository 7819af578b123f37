"""What each system of a night is compared with: another system, or the same one of an earlier night."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.nightly.runs import list_nights, night_members
from models.nightly.scores import latest_evaluation, read_measured
from models.schema.states import BaselineKind, NightState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from models.nightly.runs import KnownNight, NightMember
    from models.nightly.schedules import KnownSchedule
    from models.nightly.scores import Measured

MOST_NIGHTS = 100
"""So many nights back a baseline or a change is looked for."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An evaluation that may be the baseline of another."""

    evaluation_id: int
    system: str
    date: str | None
    """Of the night that measured it; None where none did."""
    night_id: int | None
    """That night."""


@dataclass(frozen=True)
class NightsBefore:
    """The nights up to one that is judged, and what they measured."""

    nights: Sequence[KnownNight]
    """The one at hand, which is the last, after the `MOST_NIGHTS` before it that were judged, earliest first.

    Of several nights of one date that were run by hand only the last is here.
    """
    members: Mapping[int, Sequence[NightMember]]
    """Of each of these nights."""
    measured: Mapping[int, Measured]
    """Of all evaluations of all members."""

    def same_edition(self, one: int, other: int) -> bool:
        """Whether the numbers of two evaluations can be compared."""
        return self.measured[one].edition == self.measured[other].edition


def read_nights_before(connection: Connection, night: KnownNight) -> NightsBefore:
    """The night with those before it that were judged."""
    earlier = [
        each
        for each in list_nights(connection, night.schedule_id)
        if each.state == NightState.DONE and (each.due_at, each.id) < (night.due_at, night.id)
    ]
    tries = {each.date: each.id for each in [*earlier, night] if each.manual}
    earlier = [each for each in earlier if not each.manual or tries[each.date] == each.id]
    nights = [*earlier[-MOST_NIGHTS:], night]
    members = night_members(connection, [each.id for each in nights])
    evaluations = {member.evaluation_id for of_night in members.values() for member in of_night}
    return NightsBefore(nights, members, read_measured(connection, evaluations))


def candidates(
    connection: Connection, schedule: KnownSchedule, before: NightsBefore, member: NightMember
) -> list[Candidate]:
    """What a system of the last night may be compared with, the latest first; several only where the best is meant.

    The same output counts once. Another edition's numbers are no baseline.
    """
    baseline, night = schedule.baseline, before.nights[-1]
    earlier = before.nights[-2::-1]
    if night.manual:
        # Who tries a night once more wants to know whether it is as good as the one before, not as its first try.
        earlier = [each for each in earlier if each.date < night.date]
    if baseline.kind == BaselineKind.NAMED:
        name = baseline.system or member.system
        if baseline.night:
            nights = [each for each in earlier if each.date == baseline.night]
        else:
            nights = [night, *earlier]
        found = _of_nights(before, nights, name, member)[:1]
        if not found and not baseline.night:
            stored = latest_evaluation(connection, schedule.campaign_id, member.protocol_id, name)
            if stored is not None:
                editions = read_measured(connection, [stored, member.evaluation_id])
                if editions[stored].edition == editions[member.evaluation_id].edition:
                    found = [Candidate(stored, name, None, None)]
        return found
    found = _of_nights(before, earlier, member.system, member)
    return found[:1] if baseline.kind == BaselineKind.PREVIOUS else found


def _of_nights(before: NightsBefore, nights: Sequence[KnownNight], system: str, like: NightMember) -> list[Candidate]:
    found: dict[int, Candidate] = {}
    for night in nights:
        for member in before.members[night.id]:
            if (member.system, member.protocol_id) != (system, like.protocol_id):
                continue
            if before.same_edition(member.evaluation_id, like.evaluation_id):
                candidate = Candidate(member.evaluation_id, system, night.date, night.id)
                found.setdefault(member.evaluation_id, candidate)
    return list(found.values())
