"""The metrics of a campaign over all of its test sets, as WMT's metrics task ranks them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from analysis.leaderboard.board import read_board
from analysis.meta_evaluation.metrics_and_human import read_judged
from campaigns.background import BackgroundCache
from campaigns.errors import Forbidden
from campaigns.inspection.correlations import LEVEL
from campaigns.inspection.metrics_and_human import default_judgments
from campaigns.leaderboards.choice import read_choices
from campaigns.leaderboards.matrix import one_for_each_test_set
from campaigns.leaderboards.snapshot import read_board_versions
from models.corpus.judgments import list_judgments_of
from models.database.session import reading
from models.errors import NotFound
from steelyard.errors import BadParameter
from steelyard.meta_evaluation.metrics_task import ALPHA, TRIALS, MetricsTask, metrics_task
from steelyard_client.documents.leaderboards.metrics_tasks import MetricsTaskResponse, MetricsTaskTestSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Engine

    from campaigns.leaderboards.choice import BoardChoice
    from campaigns.permissions import CampaignAccess
    from models.corpus.judgments import StoredJudgments
    from steelyard.meta_evaluation.judged_scores import JudgedScores

SEED = 12345


@dataclass(frozen=True, slots=True)
class JudgedChoice:
    """The leaderboard of a test set, and the judgments of it."""

    choice: BoardChoice
    judgments: StoredJudgments
    version: object
    """Of the leaderboard: what it changes with."""


class MetricsTaskCache(BackgroundCache):
    """Tables of metrics tasks, each computed once."""

    def __init__(self) -> None:
        super().__init__("metrics-task")

    def table(
        self,
        engine: Engine,
        campaign: str,
        chosen: Sequence[JudgedChoice],
        missing: Sequence[str],
        patience: float | None,
    ) -> MetricsTaskResponse:
        """Return the document; one that says that it is being computed if it takes more than `patience` seconds."""
        key = tuple(
            (each.choice.listed.protocol_id, each.version, each.judgments.id, each.judgments.created_at)
            for each in chosen
        )
        found: MetricsTask | None = self.get((campaign, key), lambda: _compute(engine, chosen), patience)
        task = found or MetricsTask((), (), (), TRIALS, ALPHA, SEED)
        test_sets = [
            MetricsTaskTestSet(
                pair=each.choice.test_set, references=list(each.choice.listed.references), human=each.judgments.title
            )
            for each in chosen
        ]
        fields = {**task.to_json(), "left_out": [*missing, *task.left_out]}
        return MetricsTaskResponse(campaign=campaign, computing=found is None, test_sets=test_sets, **fields)


def read_metrics_task(
    engine: Engine, cache: MetricsTaskCache, access: CampaignAccess, human: str = "", patience: float | None = None
) -> MetricsTaskResponse:
    """Return how well metrics agree with people over all test sets: of each the leaderboard with most references.

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
        versions = read_board_versions(connection, access.campaign_id, [each.listed.protocol_id for each in offered])
        known = list_judgments_of(connection, access.campaign_id, {each.id for each in offered})
        chosen, missing = [], []
        for each in offered:
            judgments = _judgments(known[each.id], human)
            if judgments is None:
                missing.append(each.test_set)
            else:
                chosen.append(JudgedChoice(each, judgments, versions[each.listed.protocol_id]))
    if human and not chosen:
        raise NotFound(f"No test set of the campaign has judgments called {human[:200]!r}.")
    return cache.table(engine, access.name, chosen, missing, patience)


def _judgments(known: Sequence[StoredJudgments], human: str) -> StoredJudgments | None:
    """Of a test set, the newest version first: those of this name or title, else the default."""
    if not human:
        return default_judgments(known)
    return next((each for each in known if human in (each.name, each.title)), None)


def _compute(engine: Engine, chosen: Sequence[JudgedChoice]) -> MetricsTask:
    pairs: dict[str, JudgedScores] = {}
    with reading(engine) as connection:
        for each in chosen:
            board = read_board(connection, each.choice.listed, LEVEL)
            if board is not None:
                pairs[each.choice.test_set] = read_judged(connection, board, each.judgments.title)
    try:
        return metrics_task(by_title(pairs), seed=SEED)
    except BadParameter:
        return MetricsTask((), (), tuple(sorted(pairs)), TRIALS, ALPHA, SEED)


def by_title(pairs: dict[str, JudgedScores]) -> dict[str, JudgedScores]:
    """The pairs with metrics called as leaderboards entitle them.

    One metric may have a tokenizer for each language, and imported scores the hash of each file in their specification.
    """
    twice = {
        title
        for judged in pairs.values()
        for title, count in Counter(metric.title for metric in judged.metrics).items()
        if count > 1
    }
    return {
        pair: replace(
            judged,
            metrics=[
                metric if metric.title in twice else replace(metric, specification=metric.title)
                for metric in judged.metrics
            ],
        )
        for pair, judged in pairs.items()
    }
