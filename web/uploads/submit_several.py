"""Submits several files at once, each by itself: of systems named after them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from fastapi.concurrency import run_in_threadpool

from campaigns.errors import BadRequest
from campaigns.permissions import read_access
from models.database.session import reading
from steelyard.formats.file_names import system_name
from web.uploads.request import SubmissionRequest
from web.uploads.submit import count_check, submitting_team
from web.uploads.submit_pairs import PairsCheck, PairsOutcome, RefusedOutput, check_each, submit_each

if TYPE_CHECKING:
    from collections.abc import Mapping

    from campaigns.accounts.principal import Principal
    from web.state import State
    from web.uploads.request import SeveralRequest


class SystemNamed(BadRequest):
    """Leave this empty: of several files for one test set, each is of the system that it is named after."""


async def submit_systems(
    state: State, principal: Principal, campaign: str, incoming: SeveralRequest, *, key: str | None
) -> PairsOutcome:
    """Submit outputs of several systems for one test set, each named after its file.

    Raises NotFound, Forbidden, SystemNamed, and NothingStored with all reasons.
    """
    requests, refused = await _by_system(state, principal, campaign, incoming)
    return await submit_each(state, principal, campaign, iter(requests), refused, key=key)


async def check_systems(state: State, principal: Principal, campaign: str, incoming: SeveralRequest) -> PairsCheck:
    """Say what `submit_systems` would do of each file, by the checks alone; raises as it does. It is one check."""
    requests, refused = await _by_system(state, principal, campaign, incoming, count=True)
    checked, left_out = await check_each(state, principal, campaign, iter(requests), refused)
    test_set = str(incoming.values.get("test_set") or "")
    return PairsCheck([replace(each, test_set=test_set) for each in checked], left_out, [])


async def _by_system(
    state: State, principal: Principal, campaign: str, incoming: SeveralRequest, *, count: bool = False
) -> tuple[list[tuple[str, str, SubmissionRequest]], list[RefusedOutput]]:
    """A request for each file, and all files of systems that several are of."""
    if incoming.values.get("system"):
        raise SystemNamed
    await run_in_threadpool(_require_team, state, principal, campaign, incoming.values, count=count)
    requests, refused = [], []
    times = Counter(system_name(file.name) for file in incoming.files)
    for file in incoming.files:
        system = system_name(file.name)
        if times[system] > 1:
            refused.append(
                RefusedOutput(file.name, f"Another file is of the system {system}, too. Rename one of them.")
            )
        else:
            requests.append((file.name, system, SubmissionRequest({**incoming.values, "system": system}, file)))
    return requests, refused


def _require_team(
    state: State, principal: Principal, campaign: str, values: Mapping[str, object], *, count: bool
) -> None:
    """Raise for those who may not submit: once, and not for each file."""
    fields = SubmissionRequest({**values, "system": "each"}, None).fields
    with reading(state.engine) as connection:
        access = read_access(connection, principal, campaign)
        team = submitting_team(connection, access, fields)
    if count:
        count_check(state, access, team)
