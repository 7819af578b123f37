"""The leaderboard of a protocol: its systems with their scores, by rank."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, func, select

from models.errors import NotFound
from models.results.autoranks import autorank_columns, autoranks
from models.results.entries import (
    Entry,
    are_ranked,
    are_repeated,
    entry_of,
    replaced_entries,
    single_entries,
    standing_entries,
)
from models.schema.campaigns import Declaration
from models.schema.column_types import is_known, readable
from models.schema.corpus import Protocol, Submission, System
from models.schema.queue import Evaluation
from models.schema.results import Score
from models.schema.roles import DeclaredKind, SystemOrigin
from models.schema.states import EvaluationState
from models.schema.systems import SystemDescription, is_described
from models.storage.arrays import unpack

_PROGRESS = (
    *(EvaluationState.FAILED, EvaluationState.CANCELLED),
    *(EvaluationState.QUEUED, EvaluationState.RUNNING, EvaluationState.REDUCING, EvaluationState.DONE),
)

Key = TypeVar("Key", bound=Hashable)

AT_ONCE = 1_000
"""Evaluations per statement."""


@dataclass(frozen=True, slots=True, eq=False)
class LeaderboardScore:
    """A system's score by one metric."""

    specification: str
    title: str
    signature: str
    higher_is_better: bool
    scale: float
    score: float | None
    """None where the metric is undefined. For several runs, their mean."""
    run_scores: tuple[float | None, ...]
    """The score of each run, in the order of the row's `runs`."""
    details: Mapping[str, float]
    """Further figures shown with the score, by name; the means of the runs."""
    replicate_scores: NDArray[np.float64]
    """(replicates,), NaN where undefined; compare two systems replicate by replicate. The means of the runs."""
    run_replicate_scores: NDArray[np.float64]
    """(runs, replicates): those of each run."""
    rank: int | None
    """From 1; equal scores share a rank; None without a score."""


@dataclass(frozen=True, slots=True, eq=False)
class LeaderboardRow:
    """A system on a leaderboard, with all its runs."""

    team: str
    system: str
    runs: tuple[str, ...]
    """The names of its runs, sorted; ("",) for a single unnamed run."""
    submissions: tuple[int, ...]
    evaluations: tuple[int, ...]
    """One for each run, in the order of `runs`, as are the submissions."""
    state: EvaluationState
    """The state of the least advanced run."""
    reason: str | None
    runs_done: int
    """The number of finished runs."""
    scores: tuple[LeaderboardScore, ...]
    """In the protocol's order; empty until the evaluation is done."""
    kind: DeclaredKind = DeclaredKind.UNDECLARED
    """The kind that its team has declared."""
    constrained: bool | None = None
    """Whether only permitted training data was used (`constrained_of`); None if its team has not said."""
    late_seconds: float = 0.0
    """Seconds after the deadline."""
    ranked: bool = True
    """Whether it is ranked (`models.results.entries`)."""
    twice: bool = False
    """Whether its system has another standing submission."""
    origin: SystemOrigin = SystemOrigin.TEAM
    """Whose it is."""
    system_id: int = 0


def read_leaderboard(
    connection: Connection,
    protocol_id: int,
    *,
    campaign_id: int | None = None,
    sort_metric: int = 0,
    all_submissions: bool = False,
    submissions: Sequence[int] | None = None,
) -> list[LeaderboardRow]:
    """The systems of a protocol, best first by one of its metrics.

    `models.results.entries` decides which submissions stand and are ranked. A system of several runs has the means of
    their scores, and none until all are done. Systems without a score (not done, failed, undefined) come last.
    Equal ones stand in the order of intake.

    Parameters
    ----------
    sort_metric : int
        A position in the protocol's list of metrics.
    all_submissions : bool
        Include replaced submissions as unranked rows of their own.
    submissions : Collection[int] | None
        Include only these submissions, even withdrawn ones, each as a ranked row of its own.

    Raises
    ------
    NotFound
        If the protocol or its metric does not exist.
    """
    metrics = _metrics(connection, protocol_id, sort_metric)
    rows = read_measured_entries(connection, protocol_id, campaign_id=campaign_id, submissions=submissions)
    if submissions is not None:
        entries = single_entries(rows)
        return _rows(connection, entries, [True] * len(entries), metrics, sort_metric, whole=False)
    standing = standing_entries(rows)
    replaced = replaced_entries(rows, standing) if all_submissions else []
    ranks = [*are_ranked(standing), *[False] * len(replaced)]
    return _rows(connection, [*standing, *replaced], ranks, metrics, sort_metric)


def read_selected_systems(
    connection: Connection, protocol_id: int, evaluations: Sequence[Sequence[int]], *, sort_metric: int = 0
) -> list[LeaderboardRow]:
    """As `read_leaderboard`, with exactly these systems, each given by the evaluations of its runs.

    Raises
    ------
    NotFound
        If it does not exist.
    """
    metrics = _metrics(connection, protocol_id, sort_metric)
    wanted = [evaluation for runs in evaluations for evaluation in runs]
    row_of = {row.id: row for row in read_measured_entries(connection, protocol_id, evaluations=wanted)}
    if strangers := [evaluation for evaluation in wanted if evaluation not in row_of]:
        raise NotFound(f"Protocol {protocol_id} has no evaluation {strangers[0]}.")
    entries = [entry_of([row_of[each] for each in runs]) for runs in evaluations]
    return _rows(connection, entries, [True] * len(entries), metrics, sort_metric, whole=False)


def read_measured_entries(
    connection: Connection,
    protocol_id: int | Sequence[int],
    *,
    campaign_id: int | None = None,
    submissions: Sequence[int] | None = None,
    evaluations: Sequence[int] | None = None,
) -> Sequence[Any]:
    """Everything measured by a protocol, or by several, with its declarations; filtered by the arguments.

    Without `submissions` and `evaluations`, withdrawn submissions are left out.
    """
    chosen = (
        select(
            *(Evaluation.id, Evaluation.state, Evaluation.reason, Evaluation.finished_at, Evaluation.submission_id),
            *(Submission.run, Submission.campaign_id, Submission.text_id, System.team, System.name),
            *(Declaration.kind, Declaration.late_seconds, Evaluation.protocol_id, Submission.system_id),
            func.coalesce(Declaration.constrained, SystemDescription.constrained).label("constrained"),
            SystemDescription.origin,
        )
        .join(Submission, Submission.id == Evaluation.submission_id)
        .join(System, System.id == Submission.system_id)
        .outerjoin(Declaration, Declaration.submission_id == Submission.id)
        .outerjoin(SystemDescription, is_described(Submission.campaign_id, Submission.system_id))
        .where(Evaluation.protocol_id.in_([protocol_id] if isinstance(protocol_id, int) else protocol_id))
        .order_by(Evaluation.id)
    )
    if campaign_id is not None:
        chosen = chosen.where(Submission.campaign_id == campaign_id)
    if submissions is not None:
        chosen = chosen.where(Submission.id.in_(submissions))
    if evaluations is not None:
        chosen = chosen.where(Evaluation.id.in_(evaluations))
    if submissions is None and evaluations is None:
        chosen = chosen.where(Declaration.withdrawn_at.is_(None))
    return connection.execute(chosen).all()


def _metrics(connection: Connection, protocol_id: int, sort_metric: int) -> Sequence[str]:
    metrics = connection.scalar(select(Protocol.metrics).where(Protocol.id == protocol_id))
    if metrics is None:
        raise NotFound(f"There is no protocol {protocol_id}.")
    if not 0 <= sort_metric < len(metrics):
        raise NotFound(f"Protocol {protocol_id} has {len(metrics)} metrics; there is no number {sort_metric + 1}.")
    return metrics


def _rows(
    connection: Connection,
    entries: Sequence[Entry],
    ranks: Sequence[bool],
    metrics: Sequence[str],
    sort_metric: int,
    *,
    whole: bool = True,
) -> list[LeaderboardRow]:
    """The rows of entries; AutoRanks, which depend on all systems, only of `whole` leaderboards."""
    scores_of = read_scores(connection, [run.id for entry in entries for run in entry.runs])
    rows = [
        _row(entry, [scores_of.get(run.id, []) for run in entry.runs], len(metrics), ranked=is_ranked, twice=twice)
        for entry, is_ranked, twice in zip(entries, ranks, are_repeated(entries), strict=True)
    ]
    if whole:
        _fill_autoranks(rows, metrics)
    for metric in range(len(metrics)):
        of_metric = {number: row.scores[metric] for number, row in enumerate(rows) if row.scores and row.ranked}
        by_number = {number: each.score for number, each in of_metric.items() if each.score is not None}
        for number, rank in ranked(by_number, all(each.higher_is_better for each in of_metric.values())).items():
            scores = list(rows[number].scores)
            scores[metric] = replace(scores[metric], rank=rank)
            rows[number] = replace(rows[number], scores=tuple(scores))

    # Equal scores stand in the order of intake: that of names would tell something about anonymous teams.
    def place(row: LeaderboardRow) -> tuple[int, float]:
        score = row.scores[sort_metric] if row.scores else None
        if score is None or score.score is None:
            return (1, 0.0)
        return (0, -score.score if score.higher_is_better else score.score)

    return sorted(rows, key=place)


def _fill_autoranks(rows: list[LeaderboardRow], metrics: Sequence[str]) -> None:
    """Give the ranked rows their AutoRanks."""
    for position, column in autorank_columns(metrics).items():
        ranked = [number for number, row in enumerate(rows) if row.ranked]
        found = autoranks(
            column,
            [rows[number].scores for number in ranked],
            lambda number, metric: rows[ranked[number]].scores[metric].replicate_scores,  # noqa: B023 - called at once
        )
        for place, (rank, replicates) in found.items():
            row = rows[ranked[place]]
            scores = list(row.scores)
            scores[position] = replace(scores[position], score=rank, replicate_scores=replicates)
            rows[ranked[place]] = replace(row, scores=tuple(scores))


def read_scores(connection: Connection, evaluations: Sequence[int]) -> dict[int, list[Any]]:
    """The rows of Score of these evaluations, without the sums, in the protocol's order."""
    columns = [column for column in Score.__table__.columns if column.name not in {"sums", "columns"}]
    found: dict[int, list[Any]] = {}
    for begin in range(0, len(evaluations), AT_ONCE):
        some = evaluations[begin : begin + AT_ONCE]
        wanted = select(*columns).where(Score.evaluation_id.in_(some)).order_by(Score.evaluation_id, Score.metric)
        for row in connection.execute(wanted):
            found.setdefault(row.evaluation_id, []).append(row)
    return found


def state_of_runs(runs: Sequence[Any]) -> tuple[EvaluationState, str | None, int]:
    """The state of the least advanced run, its reason, and the number of finished runs."""
    states = [run.state for run in runs]
    least = min(
        range(len(runs)),
        key=lambda number: (_PROGRESS.index(states[number]) if is_known(states[number]) else -1, number),
    )
    return states[least], runs[least].reason, states.count(EvaluationState.DONE)


def constrained_of(runs: Sequence[Any]) -> bool | None:
    """Whether a system of these runs is constrained: one unconstrained run makes it unconstrained."""
    said = {run.constrained for run in runs}
    return False if False in said else True if said == {True} else None


def _row(entry: Entry, scores: Sequence[Sequence[Any]], metrics: int, *, ranked: bool, twice: bool) -> LeaderboardRow:
    """The row of one system; `scores` are the rows of Score of each run."""
    runs = entry.runs
    state, reason, done = state_of_runs(runs)
    complete = all(len(of_run) == metrics for of_run in scores)
    return LeaderboardRow(
        team=runs[0].team,
        system=runs[0].name,
        runs=tuple(run.run for run in runs),
        submissions=tuple(run.submission_id for run in runs),
        evaluations=tuple(run.id for run in runs),
        state=state,
        reason=reason,
        runs_done=done,
        scores=tuple(score_of_runs(of_runs) for of_runs in zip(*scores, strict=True)) if complete else (),
        kind=entry.kind,
        constrained=constrained_of(runs),
        late_seconds=max(run.late_seconds or 0.0 for run in runs),
        ranked=ranked,
        twice=twice,
        origin=origin_of(runs),
        system_id=runs[0].system_id,
    )


def origin_of(runs: Sequence[Any]) -> SystemOrigin:
    """Whose the system of these runs is: a team's unless something else that this release knows is said."""
    said = runs[0].origin
    return said if said is not None and is_known(said) else SystemOrigin.TEAM


def score_of_runs(runs: Sequence[Any]) -> LeaderboardScore:
    """A system's score by one metric from those of its runs, rows of Score."""
    first, values = runs[0], [run.score for run in runs]
    # For a single run, they are a column of one array and need not be copied.
    replicates = (
        np.stack([unpack(run.replicate_scores, columns=1)[:, 0] for run in runs])
        if len(runs) > 1
        else unpack(first.replicate_scores, columns=1).T
    )
    return LeaderboardScore(
        specification=first.specification,
        title=first.title,
        signature=first.signature,
        higher_is_better=first.higher_is_better,
        scale=first.scale,
        score=None if None in values else math.fsum(values) / len(values),
        run_scores=tuple(values),
        details=details_of_runs(runs),
        replicate_scores=mean_of_runs(replicates),
        run_replicate_scores=replicates,
        rank=None,
    )


def mean_of_runs(replicates: NDArray[np.float64]) -> NDArray[np.float64]:
    """The replicates of a system, (replicates,): the means of those of its runs, (runs, replicates)."""
    if len(replicates) == 1:
        return np.asarray(replicates[0])
    # fsum: the mean does not depend on the order of the runs.
    return np.array([math.fsum(of_runs) / len(replicates) for of_runs in replicates.T.tolist()])


def details_of_runs(runs: Sequence[Any]) -> dict[str, float]:
    """The further figures of a system by one metric: the means of what all its runs, rows of Score, have."""
    details = [readable(run.details, {}) for run in runs]
    names = [name for name in details[0] if all(name in each for each in details)]
    return {name: math.fsum(each[name] for each in details) / len(runs) for name in names}


def ranked(scores: dict[Key, float], higher_is_better: bool) -> dict[Key, int]:
    """Ranks from 1; equal scores share a rank, and the following ranks are skipped."""
    ordered = sorted(scores.values(), reverse=higher_is_better)
    first_place = {score: place for place, score in reversed(list(enumerate(ordered, start=1)))}
    return {key: first_place[score] for key, score in scores.items()}
