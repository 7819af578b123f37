"""All systems on a board with their scores, as they were at a moment.

Who stands and is ranked is `models.results.entries`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection, Select, bindparam, case, func, select

from campaigns.leaderboards.cache import Memory
from campaigns.leaderboards.scores import Figure, Measured, read_figures
from models.results.boards import ListedBoard
from models.results.entries import Entry, are_ranked, standing_entries
from models.results.leaderboard import constrained_of, read_entries, state_of_runs
from models.schema.accounts import AuditEntry
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind
from models.schema.states import EvaluationState

Stamp = tuple[Any, ...]
"""What changes with whatever a board shows."""

STATES = tuple(EvaluationState)

Known = tuple[tuple[Any, ...], ...]
"""Of each run of a system all that may change."""


@dataclass(frozen=True, slots=True, eq=False)
class Contender:
    """A system on a board, with all its runs."""

    team: str
    system: str
    runs: tuple[str, ...]
    submissions: tuple[int, ...]
    evaluations: tuple[int, ...]
    measured: Measured
    texts: tuple[int, ...]
    """Of its outputs: those of two systems are the same where these are."""
    state: EvaluationState
    reason: str | None
    runs_done: int
    declared: bool
    """Whether a team has handed it in; else it is the organisers' own."""
    kind: DeclaredKind
    constrained: bool | None
    late_seconds: float
    ranked: bool = True
    number: int = 1
    """Which of its team's systems here it is, in the order in which they came."""
    of_team: int = 1
    """How many its team has here."""
    twice: bool = False
    """Whether the same system stands here with another submission."""
    figures: tuple[Figure, ...] = ()
    """By every metric; empty until it is done."""

    @property
    def submission(self) -> int:
        """Its last one, by which it is known in addresses."""
        return max(self.submissions)


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """All systems on a board as they were at a moment."""

    listed: ListedBoard
    stamp: Stamp
    contenders: Sequence[Contender] = field(default_factory=tuple)
    alone: Mapping[Known, Contender] = field(default_factory=dict)
    """Each as it would stand without the others of its team, by all that it was made of."""


def _stamp_statement() -> Select[Any]:
    states = case({state: number for number, state in enumerate(STATES, 1)}, value=Evaluation.state)
    kinds = case({DeclaredKind.PRIMARY: 2, DeclaredKind.CONTRASTIVE: 3}, value=Declaration.kind, else_=1)
    constrained = case((Declaration.constrained.is_(True), 1), (Declaration.constrained.is_(False), 2), else_=0)
    logged = select(func.max(AuditEntry.id)).where(AuditEntry.campaign_id == bindparam("campaign_id"))
    return (
        select(
            func.count(Evaluation.id),
            func.max(Evaluation.id),
            func.max(Evaluation.finished_at),
            func.sum(Evaluation.id * states),
            func.sum(Evaluation.id * kinds),
            func.sum(Evaluation.id * constrained),
            func.sum(case((Declaration.withdrawn_at.is_not(None), Evaluation.id), else_=0)),
            func.sum(Declaration.late_seconds),
            # Sums could stay the same by chance; no change comes without an entry in the log.
            logged.scalar_subquery(),
        )
        .join(Submission, Submission.id == Evaluation.submission_id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .where(Evaluation.protocol_id == bindparam("protocol_id"), Submission.campaign_id == bindparam("campaign_id"))
    )


# Made once: to put it together takes as long as to ask.
_STAMP = _stamp_statement()


def read_stamp(connection: Connection, listed: ListedBoard) -> Stamp:
    """What says that a board has changed: quickly read, however large the board."""
    row = connection.execute(_STAMP, {"protocol_id": listed.protocol_id, "campaign_id": listed.campaign_id}).one()
    return tuple(None if each is None else float(each) for each in row)


def read_standing(
    connection: Connection, memory: Memory, listed: ListedBoard, stamp: Stamp, before: Standing | None = None
) -> Standing:
    """Who stands on a board now, with scores. What has not changed since `before` is taken from there."""
    entries = standing_entries(read_entries(connection, listed.protocol_id, campaign_id=listed.campaign_id))
    keys = [_known(entry.runs) for entry in entries]
    known = {} if before is None else before.alone
    fresh = {key: _contender(entry) for key, entry in zip(keys, entries, strict=True) if key not in known}
    done = [each.measured for each in fresh.values() if each.runs_done == len(each.runs)]
    figures = read_figures(connection, memory, done, len(listed.metrics))
    for key, each in fresh.items():
        if each.measured in figures:
            fresh[key] = replace(each, figures=figures[each.measured])
    alone = {key: fresh.get(key) or known[key] for key in keys}
    return Standing(listed, stamp, _placed(list(alone.values())), alone)


def _known(group: Sequence[Any]) -> Known:
    return tuple(
        (row.id, row.state, row.finished_at, row.reason, row.kind, row.constrained, row.late_seconds) for row in group
    )


def _placed(found: list[Contender]) -> list[Contender]:
    """The same with what follows from the other systems of their teams."""
    of_team: dict[str, list[int]] = {}
    of_system: dict[tuple[str, str], int] = {}
    for position, each in enumerate(found):
        of_team.setdefault(each.team, []).append(position)
        of_system[each.team, each.system] = of_system.get((each.team, each.system), 0) + 1
    ranked = are_ranked(found)
    for positions in of_team.values():
        for number, position in enumerate(positions, 1):
            each = found[position]
            twice = of_system[each.team, each.system] > 1
            if not ranked[position] or len(positions) > 1 or twice:
                found[position] = replace(
                    each, ranked=ranked[position], number=number, of_team=len(positions), twice=twice
                )
    return found


def _contender(entry: Entry) -> Contender:
    group, first = entry.runs, entry.runs[0]
    state, reason, done = state_of_runs(group)
    return Contender(
        team=first.team,
        system=first.name,
        runs=tuple(row.run for row in group),
        submissions=tuple(row.submission_id for row in group),
        evaluations=tuple(row.id for row in group),
        measured=tuple((row.id, row.finished_at) for row in group),
        texts=tuple(row.text_id for row in group),
        state=state,
        reason=reason,
        runs_done=done,
        declared=entry.declared,
        kind=entry.kind,
        constrained=constrained_of(group),
        late_seconds=max(row.late_seconds or 0.0 for row in group),
    )
