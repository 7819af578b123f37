"""Uploads of test sets and corrected references: parsed in the sandbox, within the limits of all uploads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.concurrency import run_in_threadpool

from campaigns.measures import parse_measure_request, protocols_on
from campaigns.permissions import read_access
from campaigns.sandbox.fair_queue import Owner
from campaigns.sandbox.limits import limits_of
from campaigns.test_sets.files import read_reference_files, read_test_set_files
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import reading

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from campaigns.accounts.principal import Principal
    from campaigns.measures import MeasureRequest
    from campaigns.test_sets.files import InputTestSet, NamedContent
    from steelyard.formats.campaign.folder import CampaignFolder
    from steelyard.formats.plain import Text
    from web.state import State


async def read_sent_test_set(
    state: State, principal: Principal, campaign: str, given: InputTestSet, measuring: MeasureRequest, place: Path
) -> CampaignFolder:
    """Parse the files of a test set for the requested metrics; large texts stay in the folder `place`.

    Raises as `read_given` and `campaigns.sandbox` do, and MetricsError for metrics that do not exist.
    """

    def metrics() -> frozenset[str]:
        with reading(state.engine) as connection:
            access = read_access(connection, principal, campaign)
            asked = parse_measure_request(connection, state.settings, access, measuring)
        return frozenset(each.specification for each in asked)

    limits, measured = limits_of(state.settings), await run_in_threadpool(metrics)
    return await state.sandbox.run(Owner(principal.account_id), read_test_set_files, given, place, limits, measured)


async def read_sent_correction(
    state: State, principal: Principal, campaign: str, test_set: int, files: Sequence[NamedContent]
) -> dict[str, Text]:
    """Parse corrected references, by label. Raises NotFound, and as `read_references` and `campaigns.sandbox` do."""

    def metrics() -> frozenset[str]:
        with reading(state.engine) as connection:
            access = read_access(connection, principal, campaign)
            known = find_campaign_test_set(connection, access, test_set)
            measures = protocols_on(connection, access.campaign_id, known.id)
        return frozenset(metric for each in measures for metric in each.metrics)

    limits, measured = limits_of(state.settings), await run_in_threadpool(metrics)
    return await state.sandbox.run(Owner(principal.account_id), read_reference_files, files, limits, measured)
