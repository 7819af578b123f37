"""Baselines of a nightly run's systems: another system, or the same one in an earlier run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from models.nightly.runs import list_nightly_runs, read_nightly_run_members
from models.nightly.scores import latest_evaluation, read_measured_outputs
from models.schema.states import BaselineKind, NightlyRunState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlalchemy import Connection

    from models.nightly.runs import NightlyRunInfo, NightlyRunMember
    from models.nightly.schedules import ScheduleInfo
    from models.nightly.scores import MeasuredOutput

MAX_RUNS = 100
"""Maximum number of earlier runs that are read."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An evaluation that may be the baseline of another."""

    evaluation_id: int
    system: str
    date: str | None
    """Date of the nightly run that scored it; None without one."""
    nightly_run_id: int | None
    """Id of that run."""


@dataclass(frozen=True)
class RunHistory:
    """A nightly run to be judged and its predecessors, with their evaluations."""

    nightly_runs: Sequence[NightlyRunInfo]
    """The last one is the run to judge; before it up to `MAX_RUNS` judged runs, earliest first.

    Of several manual runs with one date only the last is included.
    """
    members: Mapping[int, Sequence[NightlyRunMember]]
    """The members of each of these runs, by its id."""
    measured: Mapping[int, MeasuredOutput]
    """The outputs of all members, by evaluation."""

    def same_edition(self, one: int, other: int) -> bool:
        """Whether the scores of two evaluations are of one edition, and so comparable."""
        return self.measured[one].edition == self.measured[other].edition


def read_run_history(connection: Connection, nightly_run: NightlyRunInfo) -> RunHistory:
    """The run with its judged predecessors."""
    earlier = [
        each
        for each in list_nightly_runs(connection, nightly_run.schedule_id)
        if each.state == NightlyRunState.DONE and (each.due_at, each.id) < (nightly_run.due_at, nightly_run.id)
    ]
    tries = {each.date: each.id for each in [*earlier, nightly_run] if each.manual}
    earlier = [each for each in earlier if not each.manual or tries[each.date] == each.id]
    nightly_runs = [*earlier[-MAX_RUNS:], nightly_run]
    members = read_nightly_run_members(connection, [each.id for each in nightly_runs])
    evaluations = {member.evaluation_id for run_members in members.values() for member in run_members}
    return RunHistory(nightly_runs, members, read_measured_outputs(connection, evaluations))


def candidates(
    connection: Connection, schedule: ScheduleInfo, history: RunHistory, member: NightlyRunMember
) -> list[Candidate]:
    """The possible baselines of a system of the last run, the latest first; several only for the best run.

    Each evaluation counts once. Scores of another edition are no baseline.
    """
    baseline, nightly_run = schedule.baseline, history.nightly_runs[-1]
    earlier = history.nightly_runs[-2::-1]
    if nightly_run.manual:
        # A repeated manual run is compared with the run before, not with its own first try.
        earlier = [each for each in earlier if each.date < nightly_run.date]
    if baseline.kind == BaselineKind.NAMED:
        name = baseline.system or member.system
        if baseline.date:
            nightly_runs = [each for each in earlier if each.date == baseline.date]
        else:
            nightly_runs = [nightly_run, *earlier]
        found = _of_runs(history, nightly_runs, name, member)[:1]
        if not found and not baseline.date:
            stored = latest_evaluation(connection, schedule.campaign_id, member.protocol_id, name)
            if stored is not None:
                editions = read_measured_outputs(connection, [stored, member.evaluation_id])
                if editions[stored].edition == editions[member.evaluation_id].edition:
                    found = [Candidate(stored, name, None, None)]
        return found
    found = _of_runs(history, earlier, member.system, member)
    return found[:1] if baseline.kind == BaselineKind.PREVIOUS else found


def _of_runs(
    history: RunHistory, nightly_runs: Sequence[NightlyRunInfo], system: str, like: NightlyRunMember
) -> list[Candidate]:
    found: dict[int, Candidate] = {}
    for nightly_run in nightly_runs:
        for member in history.members[nightly_run.id]:
            if (member.system, member.protocol_id) != (system, like.protocol_id):
                continue
            if history.same_edition(member.evaluation_id, like.evaluation_id):
                candidate = Candidate(member.evaluation_id, system, nightly_run.date, nightly_run.id)
                found.setdefault(member.evaluation_id, candidate)
    return list(found.values())
