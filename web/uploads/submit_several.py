"""Submits several files at once, each by itself: of systems named after them, or a system's for many language pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.concurrency import run_in_threadpool

from campaigns.errors import BadRequest
from campaigns.permissions import read_access
from campaigns.sandbox.processes import scratch_folder
from models.database.session import reading
from steelyard.formats.campaign.outputs_of_pairs import outputs_of_pairs
from steelyard.formats.file_names import system_name
from web.uploads.request import SubmissionRequest
from web.uploads.submit import submitting_team
from web.uploads.submit_pairs import PairsOutcome, RefusedOutput, named_test_sets, submit_each

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from campaigns.accounts.principal import Principal
    from campaigns.submissions.upload_file import UploadedFile
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
    if incoming.values.get("system"):
        raise SystemNamed
    await run_in_threadpool(_require_team, state, principal, campaign, incoming.values)
    requests, refused, seen = [], [], set()
    for file in incoming.files:
        system = system_name(file.name)
        if system in seen:
            refused.append(
                RefusedOutput(file.name, f"Another file is of the system {system}, too. Rename one of them.")
            )
        else:
            requests.append((file.name, system, SubmissionRequest({**incoming.values, "system": system}, file)))
        seen.add(system)
    return await submit_each(state, principal, campaign, iter(requests), refused, key=key)


async def submit_files_of_pairs(
    state: State, principal: Principal, campaign: str, incoming: SeveralRequest, *, key: str | None
) -> PairsOutcome:
    """Submit a system's outputs for many test sets, each file named after a language pair or a test set.

    Raises NotFound, Forbidden, and NothingStored with all reasons.
    """
    first = SubmissionRequest(incoming.values, None)
    test_sets = await run_in_threadpool(named_test_sets, state, principal, campaign, first)
    files: dict[str, UploadedFile] = {}
    refused = []
    for file in incoming.files:
        if file.name in files:
            refused.append(RefusedOutput(file.name, "Another file has this name, too. Rename one of them."))
        else:
            files[file.name] = file
    with scratch_folder() as folder:
        # Names alone say which test set a file is for.
        for name in files:
            (folder / name).touch()
        found, misnamed = outputs_of_pairs(folder, test_sets)
    refused += [RefusedOutput(file, reason) for file, reason in misnamed.items()]
    known = {path.name for path in found.values()} | set(misnamed)
    refused += [
        RefusedOutput(name, "Name a text after its language pair, such as en-cs.txt.")
        for name in files
        if name not in known
    ]

    def requests() -> Iterator[tuple[str, str, SubmissionRequest]]:
        for test_set, path in found.items():
            values = {**incoming.values, "test_set": test_set}
            yield path.name, test_set, SubmissionRequest(values, files[path.name])

    return await submit_each(state, principal, campaign, requests(), refused, key=key)


def _require_team(state: State, principal: Principal, campaign: str, values: Mapping[str, object]) -> None:
    """Raise for those who may not submit: once, and not for each file."""
    fields = SubmissionRequest({**values, "system": "each"}, None).fields
    with reading(state.engine) as connection:
        submitting_team(connection, read_access(connection, principal, campaign), fields)
