"""The metrics of a campaign over all of its test sets, as WMT's metrics task ranks them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from analysis.leaderboard.board import read_board
from analysis.meta_evaluation.metrics_and_human import read_judged
from analysis.meta_evaluation.metrics_task_parts import SEED, unpack_result
from campaigns.background import BackgroundCache
from campaigns.errors import Forbidden
from campaigns.inspection.correlations import LEVEL
from campaigns.inspection.metrics_and_human import default_judgments
from campaigns.leaderboards.choice import read_choices
from campaigns.leaderboards.matrix import one_for_each_test_set
from campaigns.leaderboards.snapshot import LEARNED, read_board_versions
from models.corpus.judgments import list_judgments_of
from models.database.session import reading
from models.errors import NotFound
from models.results.leaderboard import read_measured_entries
from models.schema.queue import MetricsTaskPart
from models.schema.states import OPEN, EvaluationState, LeaseState
from scheduler.enqueue.metrics_task_parts import WantedPart, read_parts, request_parts
from steelyard.errors import BadParameter
from steelyard.meta_evaluation.metrics_task import ALPHA, TRIALS, MetricsTask, rank_metrics
from steelyard.meta_evaluation.task_results import STATISTICS, TaskResult, compare_in_task
from steelyard.metrics.metric import EDITION
from steelyard_client.documents.leaderboards.metrics_tasks import MetricsTaskResponse, MetricsTaskTestSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from campaigns.leaderboards.choice import BoardChoice
    from campaigns.permissions import CampaignAccess
    from models.corpus.judgments import StoredJudgments
    from runtime.settings import Settings

    Titled = tuple[TaskResult, dict[str, str]]
    """A result, and the titles of its metrics by their specifications."""

SECONDS = 1e-7
"""To exchange and compare one score of each of two systems by each of two metrics in all trials, at most."""


@dataclass(frozen=True, slots=True)
class JudgedChoice:
    """The leaderboard of a test set, and the judgments of it."""

    choice: BoardChoice
    judgments: StoredJudgments
    measured: tuple[object, ...]
    """Of the evaluations of the leaderboard what scores and names depend on."""
    learned: object
    """What changes with the scores of learned metrics."""

    def parts(self) -> list[WantedPart]:
        """Its columns."""
        listed, judgments = self.choice.listed, self.judgments
        depends = (
            self.measured,
            self.learned,
            judgments.created_at,
            self.choice.test_set,
            listed.metrics,
            TRIALS,
            SEED,
            EDITION,
        )
        inputs = sha256(repr(depends).encode()).hexdigest()
        return [
            WantedPart(
                listed.campaign_id, listed.protocol_id, judgments.id, self.choice.test_set[:300], statistic, inputs
            )
            for statistic in STATISTICS
        ]

    @property
    def seconds(self) -> float:
        """What its columns take, estimated from above."""
        systems, metrics, segments = len(self.measured), len(self.choice.listed.metrics), self.choice.listed.segments
        return SECONDS * systems * systems * metrics * metrics * (segments + TRIALS)


class MetricsTaskCache(BackgroundCache):
    """Tables of metrics tasks, each put together once."""

    def __init__(self) -> None:
        super().__init__("metrics-task")


def read_metrics_task(
    engine: Engine,
    settings: Settings,
    cache: MetricsTaskCache,
    access: CampaignAccess,
    human: str = "",
    patience: float | None = None,
) -> MetricsTaskResponse:
    """Return how well metrics agree with people over all test sets: of each the leaderboard with most references.

    What takes long is computed by workers, one column at a time, and stored; the document says how far they are.

    Raises
    ------
    Forbidden
        If the leaderboard is not visible.
    NotFound
        If the campaign has no leaderboard, or `human` is the name of no judgments.
    """
    if not access.sees_board:
        raise Forbidden("Scores of all systems are hidden in this phase, and so is the comparison of metrics.")
    with reading(engine) as connection:
        offered = one_for_each_test_set(read_choices(connection, access), ())
        protocols = [each.listed.protocol_id for each in offered]
        versions = read_board_versions(connection, access.campaign_id, protocols)
        entries = read_measured_entries(connection, protocols, campaign_id=access.campaign_id)
        measured = _measured(protocols, entries)
        known = list_judgments_of(connection, access.campaign_id, {each.id for each in offered})
        chosen, missing = [], []
        for each in offered:
            judgments, protocol = _judgments(known[each.id], human), each.listed.protocol_id
            if judgments is None:
                missing.append(each.test_set)
            else:
                learned = versions[protocol][-len(LEARNED) :]
                chosen.append(JudgedChoice(each, judgments, tuple(measured[protocol]), learned))
        parts = [part for each in chosen for part in each.parts()]
        states = read_parts(connection, access.campaign_id, parts)
    if human and not chosen:
        raise NotFound(f"No test set of the campaign has judgments called {human[:200]!r}.")
    stored = bool(states) or sum(each.seconds for each in chosen) > settings.at_once_seconds
    if stored and (new := [part for part in parts if part not in states]):
        request_parts(engine, settings, new)
    done = {part: state.id for part, state in states.items() if state.state == LeaseState.DONE}
    failed = {part: state for part, state in states.items() if state.state in (LeaseState.FAILED, LeaseState.CANCELLED)}
    found: MetricsTask | None = None
    if not stored:
        found = cache.get((access.name, tuple(parts)), lambda: _compute(engine, chosen), patience)
    elif len(done) + len(failed) == len(parts):
        found = cache.get(
            (access.name, tuple(done.items())), lambda: _put_together(engine, list(done.values())), patience
        )
    task = found or MetricsTask((), (), (), TRIALS, ALPHA, SEED)
    test_sets = [
        MetricsTaskTestSet(
            pair=each.choice.test_set, references=list(each.choice.listed.references), human=each.judgments.title
        )
        for each in chosen
    ]
    return MetricsTaskResponse(
        campaign=access.name,
        computing=found is None,
        test_sets=test_sets,
        columns=len(parts),
        evaluations_waiting=_waiting(chosen, entries),
        columns_done=len(parts) if found is not None and not failed else len(done),
        failures=[f"{part.pair}, {part.statistic}: {state.error or 'cancelled'}" for part, state in failed.items()],
        **{**task.to_json(), "left_out": [*missing, *task.left_out]},
    )


def _measured(protocols: Sequence[int], entries: Sequence[Any]) -> dict[int, list[object]]:
    """By protocol: what names, ranks and scores of the systems come from. Whether one waits or runs does not matter."""
    found: dict[int, list[object]] = {protocol: [] for protocol in protocols}
    for row in entries:
        finished = row.finished_at if row.state == EvaluationState.DONE else None
        found[row.protocol_id].append((row.id, finished, row.team, row.name, row.run, row.kind))
    return found


def _waiting(chosen: Sequence[JudgedChoice], entries: Sequence[Any]) -> int:
    """Of the leaderboards the evaluations that will have scores, but have none yet."""
    protocols = {each.choice.listed.protocol_id for each in chosen}
    return sum(row.protocol_id in protocols and row.state in OPEN for row in entries)


def _judgments(known: Sequence[StoredJudgments], human: str) -> StoredJudgments | None:
    """Of a test set, the newest version first: those of this name or title, else the default."""
    if not human:
        return default_judgments(known)
    return next((each for each in known if human in (each.name, each.title)), None)


def _compute(engine: Engine, chosen: Sequence[JudgedChoice]) -> MetricsTask:
    """All columns at once."""
    results: list[Titled] = []
    for each in chosen:
        with reading(engine) as connection:
            board = read_board(connection, each.choice.listed, LEVEL)
            judged = None if board is None else read_judged(connection, board, each.judgments.title)
        if judged is not None:
            titles = {metric.specification: metric.title for metric in judged.metrics}
            results += [
                (compare_in_task(judged, each.choice.test_set, statistic, trials=TRIALS, seed=SEED), titles)
                for statistic in STATISTICS
            ]
    return _ranked(results)


def _put_together(engine: Engine, parts: Sequence[int]) -> MetricsTask:
    """Of stored columns."""
    results: list[Titled] = []
    for part in parts:
        with reading(engine) as connection:
            blob = connection.scalar(select(MetricsTaskPart.result).where(MetricsTaskPart.id == part))
        if blob is not None:
            results.append(unpack_result(blob))
    return _ranked(results)


def _ranked(results: Sequence[Titled]) -> MetricsTask:
    try:
        return rank_metrics(by_title(results), trials=TRIALS, seed=SEED)
    except BadParameter:
        pairs = {result.task.pair for result, _ in results}
        return MetricsTask((), (), tuple(sorted(pairs)), TRIALS, ALPHA, SEED)


def by_title(results: Sequence[Titled]) -> list[TaskResult]:
    """The results with metrics called as leaderboards entitle them.

    One metric may have a tokenizer for each language, and imported scores the hash of each file in their specification.
    """
    twice = {title for _, titles in results for title, count in Counter(titles.values()).items() if count > 1}
    return [
        replace(result, metrics=tuple(name if titles[name] in twice else titles[name] for name in result.metrics))
        for result, titles in results
    ]
