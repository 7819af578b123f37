"""AutoRank as a column that a campaign ranks by: of the metrics of each of its test sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import Connection, update

from campaigns.errors import BadRequest
from campaigns.pinned_autoranks import pinned_autoranks
from campaigns.score_imports.columns import change_columns, current_measures, current_metrics
from campaigns.test_sets.stored import list_campaign_test_sets
from models.schema.campaigns import Campaign
from steelyard.metrics.registry import parse_metric
from steelyard.metrics.without_texts.imported import written_name
from steelyard.ranking.autorank import AUTORANK, NEWEST
from steelyard.ranking.autorank_column import AutoRank
from steelyard.text.findings import quoted
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess
    from runtime.settings import Settings
    from steelyard.metrics.metric import Metric


def rank_by_autorank(
    connection: Connection,
    settings: Settings,
    access: CampaignAccess,
    *,
    rule: str = "",
    metrics: Mapping[str, Sequence[str]] | None = None,
    weights: Mapping[str, Sequence[float]] | None = None,
) -> str:
    """Rank a locked campaign by AutoRank, with a column of it on the leaderboards of its test sets.

    Parameters
    ----------
    rule : str
        The version, wmt24 or wmt25; by default the newest.
    metrics : mapping of str to sequence of str
        The metrics of each test set, which it is made of; "" is for those that are not named. By default all of a
        leaderboard's.
    weights : mapping of str to sequence of float
        What these metrics weigh; by default all the same.

    Returns
    -------
    str
        What the campaign is ranked by.

    Raises
    ------
    BadRequest
        For a test set that the campaign lacks, and where no test set has a leaderboard.
    BadParameter
        For an unknown version, a metric that a leaderboard lacks, and other numbers of weights.
    """
    chosen, weighed = dict(metrics or {}), dict(weights or {})
    asked = AutoRank.from_texts({"rule": rule or NEWEST})
    test_sets = [each for each in list_campaign_test_sets(connection, access) if each.replaced_by is None]
    if unknown := sorted(
        {*chosen, *weighed} - {"", *(each.name for each in test_sets), *(each.title for each in test_sets)}
    ):
        known = listed([each.title for each in test_sets], 40)
        raise BadRequest(f"The campaign has no test set {listed([quoted(each) for each in unknown])}. It has {known}.")
    measured = False
    for each in test_sets:
        named = next((name for name in (each.title, each.name) if name in chosen or name in weighed), "")
        names, shares = chosen.get(named, ()), weighed.get(named, ())
        column = AutoRank.from_texts(
            {
                "rule": asked.rule,
                "weights": ",".join(f"{share:g}" for share in shares),
                "of": ",".join(written_name(name) for name in names),
            }
        )
        measured = measured or bool(current_measures(connection, access.campaign_id, each.id))
        change_columns(connection, settings, access, each.id, partial(_with_autorank, column))
    if not measured:
        raise BadRequest("Nothing is measured in this campaign yet: AutoRank is made of the columns of leaderboards.")
    ranked_by = f"{AUTORANK}:rule={asked.rule}"
    connection.execute(update(Campaign).where(Campaign.id == access.campaign_id).values(ranked_by=ranked_by))
    access.principal.audit(
        connection,
        "campaign.rules",
        f"campaign {access.name}",
        campaign_id=access.campaign_id,
        ranked_by=[access.ranked_by, ranked_by],
        autorank={name: list(each) for name, each in chosen.items()},
        weights={name: list(each) for name, each in weighed.items()},
    )
    return ranked_by


def autoranks_of(connection: Connection, access: CampaignAccess) -> dict[str, list[str]]:
    """The AutoRanks on the leaderboards of each test set."""
    found = {}
    metrics = current_metrics(connection, access.campaign_id)
    for each in list_campaign_test_sets(connection, access):
        if columns := [metric for metric in metrics.get(each.id, ()) if metric.partition(":")[0] == AUTORANK]:
            found[each.title] = columns
    return found


def _with_autorank(column: AutoRank, metrics: list[Metric]) -> list[Metric]:
    """The metrics with this AutoRank instead of one of the same version."""
    for position, each in enumerate(metrics):
        if isinstance(each, AutoRank) and each.rule == column.rule:
            # In its place: the metrics of other AutoRanks are positions.
            return pinned_autoranks([*metrics[:position], column, *metrics[position + 1 :]])
    return pinned_autoranks([*metrics, column])


def autorank_formulas(metrics: Sequence[str], titles: Sequence[str]) -> list[str]:
    """What the AutoRanks of a leaderboard are, in words."""
    parsed = [parse_metric(each) for each in metrics if each.partition(":")[0] == AUTORANK]
    return [each.formula(titles) for each in parsed if isinstance(each, AutoRank)]
