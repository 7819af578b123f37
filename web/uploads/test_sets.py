"""Test sets and corrected references that are sent: read in the sandbox, within the limits of all that is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.concurrency import run_in_threadpool

from campaigns.measures import asked_for, protocols_on
from campaigns.permissions import read_sight
from campaigns.sandbox.fair_queue import Owner
from campaigns.sandbox.limits import limits_of
from campaigns.test_sets import find_campaign_test_set, read_given, read_references
from models.database.session import reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from campaigns.accounts.principal import Principal
    from campaigns.measures import Measuring
    from campaigns.test_sets import GivenFile, GivenTestSet
    from metrics.text.folder import CampaignFolder
    from metrics.text.plain import Text
    from web.state import State


async def read_sent_test_set(
    state: State, principal: Principal, campaign: str, given: GivenTestSet, measuring: Measuring, place: Path
) -> CampaignFolder:
    """The files of a test set, for what is to be measured on it; large texts stay at `place`.

    Raises as `read_given` and `campaigns.sandbox` do, and MetricsError for metrics that do not exist.
    """

    def metrics() -> frozenset[str]:
        with reading(state.engine) as connection:
            asked = asked_for(connection, read_sight(connection, principal, campaign), measuring)
        return frozenset(each.specification for each in asked)

    limits, measured = limits_of(state.settings), await run_in_threadpool(metrics)
    return await state.sandbox.run(Owner(principal.account_id), read_given, given, place, limits, measured)


async def read_sent_correction(
    state: State, principal: Principal, campaign: str, test_set: int, files: Sequence[GivenFile]
) -> dict[str, Text]:
    """Corrected references by their labels. Raises NotThere, and as `read_references` and `campaigns.sandbox` do."""

    def metrics() -> frozenset[str]:
        with reading(state.engine) as connection:
            sight = read_sight(connection, principal, campaign)
            known = find_campaign_test_set(connection, sight, test_set)
            measures = protocols_on(connection, sight.campaign_id, known.id)
        return frozenset(metric for each in measures for metric in each.metrics)

    limits, measured = limits_of(state.settings), await run_in_threadpool(metrics)
    return await state.sandbox.run(Owner(principal.account_id), read_references, files, limits, measured)
