"""All systems on a leaderboard with their scores, at one time.

`models.results.entries` decides which systems are entries and which of them are ranked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, case, func, select

from analysis.leaderboard.column_notices import column_notices
from campaigns.leaderboards.cache import LeaderboardCache
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.scores import (
    NO_SCORES,
    EvaluatedRuns,
    SystemScores,
    read_replicates,
    read_system_scores,
)
from models.results.autoranks import autorank_columns, autoranks
from models.results.boards import BoardSummary
from models.results.entries import Entry, are_ranked, single_entries, standing_entries
from models.results.leaderboard import constrained_of, origin_of, read_measured_entries, state_of_runs
from models.schema.accounts import AuditEntry
from models.schema.campaigns import Declaration
from models.schema.corpus import Submission
from models.schema.declarative import aliased
from models.schema.learned import LearnedColumn, LearnedShard
from models.schema.queue import Evaluation
from models.schema.roles import DeclaredKind, SystemOrigin
from models.schema.states import ColumnState, EvaluationState
from steelyard.resampling.interval import percentile_interval

BoardVersion = tuple[Any, ...]
"""Changes with everything that a leaderboard shows."""

LEARNED = ("scored", "failed")
"""What the last numbers of a version are of: the scores of learned metrics, and their columns that failed."""

STATES = tuple(EvaluationState)

UNNAMED = ("",)
"""The runs of most systems: a single one."""

EntryVersion = tuple[Any, ...]
"""Everything that may change of each run of a system."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardEntry:
    """A system on a leaderboard, with all its runs."""

    team: str
    system: str
    runs: tuple[str, ...]
    submissions: tuple[int, ...]
    measured: EvaluatedRuns
    texts: tuple[int, ...]
    """The texts of its outputs: equal for two systems with identical outputs."""
    state: EvaluationState
    reason: str | None
    runs_done: int
    declared: bool
    """Whether a team has submitted it; otherwise it is the organisers' own."""
    kind: DeclaredKind
    constrained: bool | None
    late_seconds: float
    system_id: int = 0
    origin: SystemOrigin = SystemOrigin.TEAM
    """Whose it is."""
    ranked: bool = True
    number: int = 1
    """Its number among its team's systems here, in the order of submission."""
    of_team: int = 1
    """How many systems its team has here."""
    twice: bool = False
    """Whether the same system is here with another submission, too."""
    alone: bool = False
    """Whether it is one submission by itself, whatever else its system has."""
    scores: SystemScores = NO_SCORES
    """By every metric; empty until it is done."""

    @property
    def evaluations(self) -> tuple[int, ...]:
        """One for each run."""
        return tuple([evaluation for evaluation, _ in self.measured])

    @property
    def submission(self) -> int:
        """Its last one, by which URLs identify it."""
        return max(self.submissions)


@dataclass(frozen=True, slots=True, eq=False)
class BoardSnapshot:
    """All systems on a leaderboard at one time."""

    listed: BoardSummary
    version: BoardVersion
    entries: Sequence[BoardEntry] = field(default_factory=tuple)
    alone: Mapping[EntryVersion, BoardEntry] = field(default_factory=dict)
    """Each entry without what depends on others of its team, by its version."""
    column_notices: Sequence[str] = ()
    """Sentences about columns that still wait for a model or a program."""
    autoranks: Mapping[int, Mapping[EvaluatedRuns, NDArray[np.float64]]] = field(default_factory=dict)
    """The replicates of AutoRanks by position of the column and system: they depend on all systems here."""


def _versions_statement() -> Select[Any]:
    states = case({state: number for number, state in enumerate(STATES, 1)}, value=Evaluation.state)
    kinds = case({DeclaredKind.PRIMARY: 2, DeclaredKind.CONTRASTIVE: 3}, value=Declaration.kind, else_=1)
    constrained = case((Declaration.constrained.is_(True), 1), (Declaration.constrained.is_(False), 2), else_=0)
    measured = aliased(Evaluation)
    logged = select(func.max(AuditEntry.id)).where(AuditEntry.campaign_id == bindparam("campaign_id"))
    scored = select(func.sum(LearnedShard.scored)).where(LearnedShard.protocol_id == Evaluation.protocol_id)
    failed = (
        select(func.count())
        .select_from(LearnedColumn)
        .join(measured, measured.id == LearnedColumn.evaluation_id)
        .where(measured.protocol_id == Evaluation.protocol_id, LearnedColumn.state == ColumnState.FAILED)
    )
    return (
        select(
            Evaluation.protocol_id,
            func.count(Evaluation.id),
            func.max(Evaluation.id),
            func.max(Evaluation.finished_at),
            func.sum(Evaluation.id * states),
            func.sum(Evaluation.id * kinds),
            func.sum(Evaluation.id * constrained),
            func.sum(case((Declaration.withdrawn_at.is_not(None), Evaluation.id), else_=0)),
            func.sum(Declaration.late_seconds),
            # Sums could stay equal by chance; every change adds an audit log entry.
            logged.scalar_subquery(),
            scored.correlate(Evaluation).scalar_subquery(),
            failed.correlate(Evaluation).scalar_subquery(),
        )
        .join(Submission, Submission.id == Evaluation.submission_id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .where(
            Evaluation.protocol_id.in_(bindparam("protocols", expanding=True)),
            Submission.campaign_id == bindparam("campaign_id"),
        )
        .group_by(Evaluation.protocol_id)
    )


# Built once: building it takes as long as executing it.
_VERSIONS = _versions_statement()


def read_board_versions(connection: Connection, campaign_id: int, protocols: Sequence[int]) -> dict[int, BoardVersion]:
    """Return the versions of leaderboards of a campaign, by protocol: quick to read, however large they are."""
    rows = connection.execute(_VERSIONS, {"protocols": list(protocols), "campaign_id": campaign_id}).all()
    found = {row.protocol_id: tuple(None if each is None else float(each) for each in row[1:]) for row in rows}
    # One without any evaluation has no row.
    return {protocol: found.get(protocol, ()) for protocol in protocols}


def read_snapshot(
    connection: Connection,
    replicates: LeaderboardCache,
    listed: BoardSummary,
    version: BoardVersion,
    before: BoardSnapshot | None = None,
) -> BoardSnapshot:
    """Read the entries of a leaderboard with scores, reusing what has not changed since `before`.

    `replicates` keeps those of the scores that were read.
    """
    entries = standing_entries(read_measured_entries(connection, listed.protocol_id, campaign_id=listed.campaign_id))
    keys = [_entry_version(entry.runs) for entry in entries]
    known = {} if before is None else before.alone
    fresh = {key: entry for key, entry in zip(keys, entries, strict=True) if key not in known}
    new = dict(zip(fresh, _board_entries(connection, replicates, listed, fresh.values()), strict=True))
    alone = {key: new.get(key) or known[key] for key in keys}
    notices = column_notices(connection, listed.metrics, [run.id for entry in entries for run in entry.runs])
    found, drawn = _with_autoranks(connection, replicates, listed.metrics, _with_team_context(list(alone.values())))
    return BoardSnapshot(listed, version, found, alone, notices, drawn)


def read_single_entries(
    connection: Connection,
    replicates: LeaderboardCache,
    listed: BoardSummary,
    submissions: Sequence[int],
    *,
    campaign_id: int | None,
) -> list[BoardEntry]:
    """Return measured submissions by themselves, also replaced ones; of any campaign without `campaign_id`."""
    rows = read_measured_entries(connection, listed.protocol_id, campaign_id=campaign_id, submissions=submissions)
    entries = _board_entries(connection, replicates, listed, single_entries(rows))
    return [replace(each, alone=True) for each in entries if each.scores]


def _with_autoranks(
    connection: Connection, replicates: LeaderboardCache, metrics: Sequence[str], entries: Sequence[BoardEntry]
) -> tuple[list[BoardEntry], dict[int, Mapping[EvaluatedRuns, NDArray[np.float64]]]]:
    """Return the entries with AutoRanks of the ranked ones, and the replicates of these by column."""
    found = list(entries)
    drawn: dict[int, Mapping[EvaluatedRuns, NDArray[np.float64]]] = {}
    ranked = [number for number, each in enumerate(entries) if each.ranked and each.scores]
    for position, column in autorank_columns(metrics).items() if ranked else ():
        measured = [entries[number].measured for number in ranked]
        of_metrics = {metric: read_replicates(connection, replicates, measured, metric) for metric in column.positions}
        ranks = autoranks(
            column,
            [entries[number].scores for number in ranked],
            lambda number, metric: of_metrics[metric][number],  # noqa: B023 - called at once
        )
        drawn[position] = {measured[place]: own for place, (_, own) in ranks.items()}
        for place, (rank, own) in ranks.items():
            entry = found[ranked[place]]
            scores = entry.scores.with_score(position, rank, percentile_interval(own, LEVEL))
            found[ranked[place]] = replace(entry, scores=scores)
    return found, drawn


def _entry_version(group: Sequence[Any]) -> EntryVersion:
    found: list[Any] = []
    for row in group:
        found += row.id, row.state, row.finished_at, row.reason
        found += row.kind, row.constrained, row.late_seconds, row.origin
    return tuple(found)


def _with_team_context(found: list[BoardEntry]) -> list[BoardEntry]:
    """Return the entries with what depends on the other systems of their teams."""
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


def _board_entries(
    connection: Connection, replicates: LeaderboardCache, listed: BoardSummary, entries: Collection[Entry]
) -> list[BoardEntry]:
    """Return systems by themselves, with the scores of those whose runs are all done."""
    measured = [tuple([(row.id, row.finished_at) for row in entry.runs]) for entry in entries]
    states = [state_of_runs(entry.runs) for entry in entries]
    done = [each for each, (_, _, runs) in zip(measured, states, strict=True) if runs == len(each)]
    scores = read_system_scores(connection, replicates, done, len(listed.metrics))
    return [
        BoardEntry(
            # Names recur on the leaderboards of a campaign, and of other campaigns.
            team=intern(entry.runs[0].team),
            system=intern(entry.runs[0].name),
            runs=_runs_of(entry),
            submissions=tuple([row.submission_id for row in entry.runs]),
            measured=own,
            texts=tuple([row.text_id for row in entry.runs]),
            state=state,
            reason=reason,
            runs_done=runs_done,
            declared=entry.declared,
            kind=entry.kind,
            constrained=constrained_of(entry.runs),
            late_seconds=max([row.late_seconds or 0.0 for row in entry.runs]),
            system_id=entry.runs[0].system_id,
            origin=origin_of(entry.runs),
            scores=scores.get(own, NO_SCORES),
        )
        for entry, own, (state, reason, runs_done) in zip(entries, measured, states, strict=True)
    ]


def _runs_of(entry: Entry) -> tuple[str, ...]:
    names = tuple([intern(row.run) for row in entry.runs])
    return UNNAMED if names == UNNAMED else names
