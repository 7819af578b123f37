"""Columns without texts on the leaderboards of a test set: which there are, in which version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, select, update

from campaigns.measures import MeasureInfo, add_protocols, protocols_on
from models.queue.evaluation_end import cancel_evaluations
from models.schema.campaigns import Campaign, CampaignProtocol
from models.schema.corpus import Submission
from models.schema.queue import Evaluation
from scheduler.ingest.campaigns import NewProtocol, store_protocols
from steelyard.metrics.registry import installed_metrics, parse_metric
from steelyard.metrics.without_texts.imported import Imported
from steelyard.ranking.autorank_column import AutoRank

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess
    from runtime.settings import Settings
    from steelyard.metrics.metric import Metric


def current_measures(connection: Connection, campaign_id: int, test_set_id: int) -> list[MeasureInfo]:
    """The newest protocol of each list of references on a test set."""
    return list({each.references: each for each in protocols_on(connection, campaign_id, test_set_id)}.values())


def current_metrics(connection: Connection, campaign_id: int) -> dict[int, list[str]]:
    """The metrics of the newest protocols on each test set of a campaign, by one statement."""
    newest = {(each.test_set_id, each.references): each for each in protocols_on(connection, campaign_id)}
    found: dict[int, list[str]] = {}
    for each in newest.values():
        known = found.setdefault(each.test_set_id, [])
        known += [metric for metric in each.metrics if metric not in known]
    return found


def with_column(metrics: Sequence[Metric], column: Metric) -> list[Metric]:
    """The metrics with a column, which takes the place of another version of it."""
    if isinstance(column, Imported):
        for position, each in enumerate(metrics):
            if isinstance(each, Imported) and each.metric == column.metric:
                return [*metrics[:position], column, *metrics[position + 1 :]]
    return [*metrics, column] if column not in metrics else list(metrics)


def without_column(metrics: Sequence[Metric], column: Metric) -> list[Metric]:
    """The metrics without a column, and without AutoRanks made of it."""
    gone = metrics.index(column)
    moved: list[Metric] = []
    for position, each in enumerate(metrics):
        if position == gone:
            continue
        if isinstance(each, AutoRank):
            if gone in each.positions:
                continue
            each = each.on_board([place - (place > gone) for place in each.positions])
        moved.append(each)
    return moved


def change_columns(
    connection: Connection,
    settings: Settings,
    access: CampaignAccess,
    test_set_id: int,
    change: Callable[[list[Metric]], list[Metric]],
) -> None:
    """Change the metrics on a test set of a locked campaign; leaderboards that lost a column are removed.

    Their other scores are kept, and imported ones stay stored: choosing a version again computes nothing.
    """
    for measure in current_measures(connection, access.campaign_id, test_set_id):
        before = [parse_metric(each) for each in measure.metrics]
        after = change(before)
        if after == before:
            continue
        kept = {metric.specification for metric in after}
        if after:
            new = NewProtocol(measure.references, after, measure.replicates, measure.seed, measure.resample)
            add_protocols(connection, settings, access, test_set_id, store_protocols(connection, test_set_id, [new]))
        for old in protocols_on(connection, access.campaign_id, test_set_id):
            if old.references == measure.references and _replaced(set(old.metrics), kept):
                remove_protocol(connection, access.campaign_id, old.id)


def _replaced(old: set[str], kept: set[str]) -> bool:
    """Whether a leaderboard with the metrics `kept` replaces an old one, of which nothing is lost that was computed."""
    lost = old - kept
    # Of one without any computed metric nothing is worth keeping.
    return old != kept and _without_texts(lost or old)


def _without_texts(metrics: set[str]) -> bool:
    return not any(metric.reads_texts for metric in installed_metrics(sorted(metrics)))


def remove_protocol(connection: Connection, campaign_id: int, protocol_id: int) -> None:
    """Remove a leaderboard from a campaign, with its evaluations."""
    evaluations = list(
        connection.scalars(
            select(Evaluation.id)
            .join(Submission, Submission.id == Evaluation.submission_id)
            .where(Evaluation.protocol_id == protocol_id, Submission.campaign_id == campaign_id)
            .order_by(Evaluation.id)
        )
    )
    cancel_evaluations(connection, evaluations)
    connection.execute(delete(Evaluation).where(Evaluation.id.in_(evaluations)))
    connection.execute(
        delete(CampaignProtocol).where(
            CampaignProtocol.campaign_id == campaign_id, CampaignProtocol.protocol_id == protocol_id
        )
    )


def rank_by_instead(connection: Connection, access: CampaignAccess, old: str, new: str) -> None:
    """Rank a campaign by `new` where it is ranked by `old`."""
    connection.execute(
        update(Campaign).where(Campaign.id == access.campaign_id, Campaign.ranked_by == old).values(ranked_by=new)
    )
