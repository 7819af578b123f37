"""Submits a system's outputs for many language pairs at once, in one file, a zip or several files: each by itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from zipfile import ZipFile

from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError

from campaigns.errors import BadRequest, CampaignsError
from campaigns.permissions import read_access
from campaigns.sandbox.fair_queue import Owner
from campaigns.sandbox.limits import limits_of
from campaigns.sandbox.processes import scratch_folder
from campaigns.submissions.test_sets import offered_test_sets
from campaigns.submissions.upload_file import UploadedFile
from campaigns.submissions.zip_archive import is_zip
from models.database.session import reading
from models.errors import ModelsError
from scheduler.errors import SchedulerError
from steelyard.checks.finding import is_fatal
from steelyard.errors import MetricsError
from steelyard.formats.campaign.outputs_of_pairs import (
    OutputOfPair,
    each_pair_alone,
    left_out_of,
    outputs_in,
    outputs_of_pairs,
)
from steelyard.formats.campaign.zips import DAMAGED, only_folder, unpack
from web.error_mapping import as_campaigns_error
from web.uploads.request import SubmissionRequest
from web.uploads.submit import (
    BadOutput,
    NoOutput,
    SubmitOutcome,
    check_request,
    count_check,
    submit_request,
    submitting_team,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from campaigns.accounts.principal import Principal
    from campaigns.submissions.form import SubmissionFields
    from steelyard.checks.finding import Finding
    from steelyard.text.limits import TextLimits
    from web.state import State
    from web.uploads.request import SeveralRequest

CHUNK_BYTES = 1 << 20
REFUSALS = (RequestValidationError, CampaignsError, SchedulerError, MetricsError, ModelsError)
"""For which one output is refused, and the others are not."""


@dataclass(frozen=True, slots=True)
class RefusedOutput:
    """A file of which nothing was stored."""

    file: str
    reason: str
    details: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class PairsOutcome:
    """What became of each file."""

    stored: Sequence[SubmitOutcome]
    refused: Sequence[RefusedOutput]
    left_out: Sequence[str] = ()
    """Files of a zip that cannot be outputs."""


@dataclass(frozen=True, slots=True)
class CheckedOutput:
    """A file that can be stored, as far as the checks say."""

    file: str
    test_set: str
    """By its name, or NAME@VERSION."""
    findings: Sequence[Finding]


@dataclass(frozen=True, slots=True)
class PairsCheck:
    """What would become of each file."""

    checked: Sequence[CheckedOutput]
    refused: Sequence[RefusedOutput]
    missing: Sequence[str]
    """Test sets without an output."""
    left_out: Sequence[str] = ()
    """Files of a zip that cannot be outputs."""


class NothingStored(BadRequest):
    """None of the outputs was stored."""

    code = "bad_output"

    def __init__(self, refused: Sequence[RefusedOutput]) -> None:
        lines = [
            " ".join([f"{each.file}: {each.reason.removeprefix(f'{each.file}: ')}", *each.details]) for each in refused
        ]
        super().__init__("None of the outputs could be stored.", details=lines)
        self.refused = tuple(refused)


async def submit_pairs(
    state: State, principal: Principal, campaign: str, incoming: SeveralRequest, *, key: str | None
) -> PairsOutcome:
    """Submit every output of a request, named after language pairs or test sets: files, or those of a zip.

    A file in JSON Lines whose documents name their pairs is for all of them. Raises NotFound, Forbidden, BadRequest
    for a damaged zip, what `campaigns.sandbox` raises, and NothingStored with all reasons.
    """
    fields = _fields(incoming)
    test_sets = await run_in_threadpool(named_test_sets, state, principal, campaign, fields)
    with scratch_folder() as place:
        owner = Owner(principal.account_id, fields.team)
        found, refused, left_out = await _matched(state, owner, incoming, test_sets, place)
        requests = _requests(state, incoming, found)
        return replace(await submit_each(state, principal, campaign, requests, refused, key=key), left_out=left_out)


async def check_pairs(state: State, principal: Principal, campaign: str, incoming: SeveralRequest) -> PairsCheck:
    """Say what `submit_pairs` would do of each file, by the checks alone: nothing is stored, and no quota is used.

    It counts as one check. Raises as `submit_pairs`, and TooMany beyond the team's daily limit.
    """
    fields = _fields(incoming)
    test_sets = await run_in_threadpool(named_test_sets, state, principal, campaign, fields, count=True)
    with scratch_folder() as place:
        owner = Owner(principal.account_id, fields.team)
        found, refused, left_out = await _matched(state, owner, incoming, test_sets, place)
        checked, refused = await check_each(state, principal, campaign, _requests(state, incoming, found), refused)
    return PairsCheck(checked, refused, [each for each in test_sets if each not in found], left_out)


async def check_each(
    state: State,
    principal: Principal,
    campaign: str,
    requests: Iterator[tuple[str, str, SubmissionRequest]],
    refused: Sequence[RefusedOutput],
) -> tuple[list[CheckedOutput], list[RefusedOutput]]:
    """Check outputs one after the other, as `submit_each` submits them: those that may come in, and the others."""
    checked: list[CheckedOutput] = []
    all_refused = list(refused)
    while (following := await run_in_threadpool(next, requests, None)) is not None:
        shown, mark, one = following
        try:
            findings = await check_request(state, principal, campaign, one, counted=False)
            if is_fatal(findings):
                raise BadOutput(findings)
        except REFUSALS as error:
            all_refused.append(_refused(shown, error))
        else:
            checked.append(CheckedOutput(shown, mark, tuple(findings)))
    return checked, all_refused


async def _matched(
    state: State, owner: Owner, incoming: SeveralRequest, test_sets: Mapping[str, str], place: Path
) -> tuple[dict[str, OutputOfPair], list[RefusedOutput], list[str]]:
    """The output of each test set, in the folder `place` where it was packed, what is refused, and what is left out."""
    times = Counter(each.name for each in incoming.files)
    files = {each.name: each.path for each in incoming.files if times[each.name] == 1}
    named_twice = [
        RefusedOutput(each.name, "Another file has this name, too. Rename one of them.")
        for each in incoming.files
        if times[each.name] > 1
    ]
    if not files:
        return {}, named_twice, []
    limits = limits_of(state.settings).text
    found, refused, left_out = await state.sandbox.run(owner, read_pairs, files, place, limits, test_sets)
    return found, named_twice + [RefusedOutput(file, reason) for file, reason in refused.items()], left_out


def _requests(
    state: State, incoming: SeveralRequest, found: Mapping[str, OutputOfPair]
) -> Iterator[tuple[str, str, SubmissionRequest]]:
    for test_set, output in found.items():
        with UploadedFile(state.settings, name=output.shown) as file:
            _copy(output.path, file)
            yield output.shown, test_set, SubmissionRequest({**incoming.values, "test_set": test_set}, file)


async def submit_each(
    state: State,
    principal: Principal,
    campaign: str,
    requests: Iterator[tuple[str, str, SubmissionRequest]],
    refused: Sequence[RefusedOutput],
    *,
    key: str | None,
) -> PairsOutcome:
    """Submit outputs one after the other; each comes with its file's name and what tells it from the others.

    `refused` are files that are refused already. Raises NothingStored with all reasons.
    """
    stored: list[SubmitOutcome] = []
    all_refused = list(refused)
    while (following := await run_in_threadpool(next, requests, None)) is not None:
        shown, mark, one = following
        try:
            own_key = f"{key}:{mark}"[-200:] if key else None
            stored.append(await submit_request(state, principal, campaign, one, key=own_key))
        except REFUSALS as error:
            all_refused.append(_refused(shown, error))
    if not stored:
        raise NothingStored(all_refused)
    return PairsOutcome(stored, all_refused)


def _refused(shown: str, error: Exception) -> RefusedOutput:
    if isinstance(error, RequestValidationError):
        return RefusedOutput(shown, "; ".join(str(each["msg"]) for each in error.errors()))
    mapped = as_campaigns_error(error)
    details = [each.message for each in mapped.findings] if isinstance(mapped, BadOutput) else []
    return RefusedOutput(shown, str(mapped), details)


def read_pairs(
    files: Mapping[str, Path], place: Path, limits: TextLimits, test_sets: Mapping[str, str]
) -> tuple[dict[str, OutputOfPair], dict[str, str], list[str]]:
    """The output of each test set, files and reasons of what is refused, and files of a zip that are left out.

    A zip alone is unpacked into `place`, and a file for all pairs is cut there, so that each output is read once.

    Raises BadRequest, for a zip that is damaged or has no outputs, and BadText.
    """
    path = next(iter(files.values()))
    if len(files) > 1 or not is_zip(path):
        found, refused = outputs_of_pairs(files, test_sets)
        return each_pair_alone(found, place / "pairs"), refused, []
    root = place / "unpacked"
    try:
        with ZipFile(path) as archive:
            unpack(archive, root, limits)
    except DAMAGED as error:
        raise BadRequest("This zip is damaged. Send one with an output for each pair.") from error
    # The only folder may be of one pair, or one around all of them.
    for folder in (root, only_folder(root)):
        found, refused = outputs_of_pairs(outputs_in(folder), test_sets)
        if found:
            break
    if not found and not refused:
        raise BadRequest("The zip has no outputs. Name each after its language pair, such as en-cs.txt.")
    return each_pair_alone(found, place / "pairs"), refused, left_out_of(folder)


def _fields(incoming: SeveralRequest) -> SubmissionFields:
    """What is said of all outputs. Raises NoOutput without any."""
    fields = SubmissionRequest(incoming.values, None).fields
    if not any(each.size for each in incoming.files):
        raise NoOutput("There is no file. Choose a zip with an output for each language pair.")
    return fields


def named_test_sets(
    state: State, principal: Principal, campaign: str, fields: SubmissionFields, *, count: bool = False
) -> dict[str, str]:
    """The test sets that take outputs, with their pairs. Raises for those who may not submit.

    With `count` this is counted as a check of the team.
    """
    with reading(state.engine) as connection:
        access = read_access(connection, principal, campaign)
        team = submitting_team(connection, access, fields)
        offered = offered_test_sets(connection, access)
    if count:
        count_check(state, access, team)
    several = {each.name for each in offered if sum(other.name == each.name for other in offered) > 1}
    return {
        each.value if each.name in several else each.name: f"{each.source_language}-{each.target_language}"
        if each.source_language and each.target_language
        else ""
        for each in offered
    }


def _copy(path: Path, file: UploadedFile) -> None:
    with path.open("rb") as content:
        while chunk := content.read(CHUNK_BYTES):
            file.write(chunk)
