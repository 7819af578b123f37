"""All systems on a leaderboard with their scores, at one time.

`models.results.entries` decides which systems are entries and which of them are ranked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, case, func, select

from analysis.leaderboard.column_notices import column_notices
from campaigns.leaderboards.cache import LeaderboardCache
from campaigns.leaderboards.feedback import LEVEL
from campaigns.leaderboards.scores import EvaluatedRuns, SystemScore, read_replicates, read_system_scores
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

EntryVersion = tuple[tuple[Any, ...], ...]
"""Everything that may change of each run of a system."""


@dataclass(frozen=True, slots=True, eq=False)
class BoardEntry:
    """A system on a leaderboard, with all its runs."""

    team: str
    system: str
    runs: tuple[str, ...]
    submissions: tuple[int, ...]
    evaluations: tuple[int, ...]
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
    scores: tuple[SystemScore, ...] = ()
    """By every metric; empty until it is done."""

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
    new = {key: _board_entry(entry) for key, entry in zip(keys, entries, strict=True) if key not in known}
    done = [each.measured for each in new.values() if each.runs_done == len(each.runs)]
    system_scores = read_system_scores(connection, replicates, done, len(listed.metrics))
    for key, each in new.items():
        if each.measured in system_scores:
            new[key] = replace(each, scores=system_scores[each.measured])
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
    entries = [replace(_board_entry(entry), alone=True) for entry in single_entries(rows)]
    done = [each.measured for each in entries if each.runs_done]
    scores = read_system_scores(connection, replicates, done, len(listed.metrics))
    return [replace(each, scores=scores[each.measured]) for each in entries if each.measured in scores]


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
            scores = list(entry.scores)
            scores[position] = replace(scores[position], score=rank, interval=percentile_interval(own, LEVEL))
            found[ranked[place]] = replace(entry, scores=tuple(scores))
    return found, drawn


def _entry_version(group: Sequence[Any]) -> EntryVersion:
    return tuple(
        (row.id, row.state, row.finished_at, row.reason, row.kind, row.constrained, row.late_seconds, row.origin)
        for row in group
    )


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


def _board_entry(entry: Entry) -> BoardEntry:
    group, first = entry.runs, entry.runs[0]
    state, reason, done = state_of_runs(group)
    return BoardEntry(
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
        system_id=first.system_id,
        origin=origin_of(group),
    )
