"""Baselines of a night's systems: another system, or the same one in an earlier night."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.nightly.runs import list_nights, night_members
from models.nightly.scores import latest_evaluation, read_measured_outputs
from models.schema.states import BaselineKind, NightState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from models.nightly.runs import NightInfo, NightMember
    from models.nightly.schedules import ScheduleInfo
    from models.nightly.scores import MeasuredOutput

MOST_NIGHTS = 100
"""Nights that are searched for a baseline or a change."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An evaluation that may be the baseline of another."""

    evaluation_id: int
    system: str
    date: str | None
    """Date of the night that scored it; None where no night did."""
    night_id: int | None
    """Id of that night."""


@dataclass(frozen=True)
class NightsBefore:
    """The nights up to the one to judge, with their evaluations."""

    nights: Sequence[NightInfo]
    """The last one is the night to judge; before it up to `MOST_NIGHTS` judged nights, earliest first.

    Of several manual nights with one date only the last is included.
    """
    members: Mapping[int, Sequence[NightMember]]
    """The members of each of these nights, by its id."""
    measured: Mapping[int, MeasuredOutput]
    """The outputs of all members, by evaluation."""

    def same_edition(self, one: int, other: int) -> bool:
        """Whether the scores of two evaluations are of one edition, and so comparable."""
        return self.measured[one].edition == self.measured[other].edition


def read_nights_before(connection: Connection, night: NightInfo) -> NightsBefore:
    """The night with the judged nights before it."""
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
    return NightsBefore(nights, members, read_measured_outputs(connection, evaluations))


def candidates(
    connection: Connection, schedule: ScheduleInfo, before: NightsBefore, member: NightMember
) -> list[Candidate]:
    """The possible baselines of a system of the last night, the latest first; several only for the best night.

    The same evaluation counts once. Scores of another edition are no baseline.
    """
    baseline, night = schedule.baseline, before.nights[-1]
    earlier = before.nights[-2::-1]
    if night.manual:
        # A repeated manual night is compared with the night before, not with its own first run.
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
                editions = read_measured_outputs(connection, [stored, member.evaluation_id])
                if editions[stored].edition == editions[member.evaluation_id].edition:
                    found = [Candidate(stored, name, None, None)]
        return found
    found = _of_nights(before, earlier, member.system, member)
    return found[:1] if baseline.kind == BaselineKind.PREVIOUS else found


def _of_nights(before: NightsBefore, nights: Sequence[NightInfo], system: str, like: NightMember) -> list[Candidate]:
    found: dict[int, Candidate] = {}
    for night in nights:
        for member in before.members[night.id]:
            if (member.system, member.protocol_id) != (system, like.protocol_id):
                continue
            if before.same_edition(member.evaluation_id, like.evaluation_id):
                candidate = Candidate(member.evaluation_id, system, night.date, night.id)
                found.setdefault(member.evaluation_id, candidate)
    return list(found.values())
