"""The form to submit an output."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError

from campaigns.accounts.principal import Principal
from campaigns.accounts.secrets import new_secret
from campaigns.errors import CampaignsError, Forbidden
from campaigns.permissions import CampaignAccess, read_access
from campaigns.submissions.errors import ReusedKey
from campaigns.submissions.submission_window import read_submission_window
from campaigns.submissions.test_sets import OfferedTestSet, offered_test_sets
from models.database.session import reading
from models.errors import ModelsError
from models.schema.roles import DeclaredKind, Scope, SystemOrigin
from scheduler.errors import SchedulerError
from steelyard.checks.finding import Finding, is_fatal
from steelyard.errors import MetricsError
from steelyard.formats.file_names import system_name
from web.dependencies import CurrentPrincipal, app_state
from web.error_mapping import as_campaigns_error
from web.pages.rendering import page, part_of_address, see_other
from web.uploads.large_bodies import accepts_upload
from web.uploads.request import ReceivedSubmissions, SeveralRequest, SubmissionRequest
from web.uploads.submit import BadOutput, NoOutput, check_request, submit_request
from web.uploads.submit_pairs import CheckedOutput, PairsCheck, PairsOutcome, check_pairs, submit_pairs
from web.uploads.submit_several import SystemNamed, check_systems, submit_systems

router = APIRouter()

ALL_PAIRS = "*"
"""In place of a test set: an output for each, in a zip or as several files."""
KINDS = (
    (DeclaredKind.UNDECLARED, "Not specified"),
    (DeclaredKind.PRIMARY, "Primary"),
    (DeclaredKind.CONTRASTIVE, "Contrastive"),
)
ORIGINS = (
    ("", "A team's system"),
    (SystemOrigin.BASELINE, "A baseline", "Yours, as organisers: of no team."),
    (SystemOrigin.ONLINE, "An online system", "Whose output you fetched."),
)
CONSTRAINED = (("", "Not specified"), ("true", "Constrained"), ("false", "Unconstrained"))


@router.get("/campaigns/{name}/submit")
def show_form(
    request: Request, name: str, principal: CurrentPrincipal, team: str = "", test_set: str = "", origin: str = ""
) -> Response:
    """Show the form, with the remaining quotas."""
    principal.require(Scope.SUBMIT)
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
    return _form(request, access, {"team": team, "test_set": test_set, "origin": origin})


@router.post("/campaigns/{name}/submit")
@accepts_upload
async def send_form(
    request: Request, name: str, principal: CurrentPrincipal, incoming: ReceivedSubmissions
) -> Response:
    """Submit and redirect to the submission, show what became of several, or show the form again with all errors."""
    try:
        if incoming.values.get("do") == "preview":
            return await _check(request, name, principal, incoming)
        if incoming.values.get("test_set") == ALL_PAIRS or len(incoming.files) > 1:
            return await _submit_several(request, name, principal, incoming)
        submission = await _submit_once(request, name, principal, incoming.single)
        return see_other(f"/submissions/{submission}")
    except (RequestValidationError, CampaignsError, SchedulerError, MetricsError, ModelsError) as error:
        return await run_in_threadpool(_form_with_errors, request, name, principal, incoming.values, error)


async def _submit_several(request: Request, name: str, principal: Principal, incoming: SeveralRequest) -> Response:
    """Submit several files, or those in a zip, and show what became of each."""
    state = app_state(request)
    key = str(incoming.values.get("key") or "")[:100] or None
    if incoming.values.get("test_set") != ALL_PAIRS:
        done = await submit_systems(state, principal, name, incoming, key=key)
    else:
        done = await submit_pairs(state, principal, name, incoming, key=key)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        test_sets = {each.id: each.title for each in offered_test_sets(connection, access)}
    stored = [
        (each.system, test_sets[each.submitted.measures.test_set.id], each.submitted.submission) for each in done.stored
    ]
    if done.refused:
        # The form again, for those that were refused. A single one has a name there, no longer that of its file alone.
        given = dict(incoming.values)
        if len(done.refused) == 1 and given.get("test_set") != ALL_PAIRS:
            given["system"] = system_name(done.refused[0].file)
        return await run_in_threadpool(_form, request, access, given, stored=stored, done=done)
    template = "submissions/submitted_outputs"
    return page(
        request, template, title="Outputs submitted", access=access, here="submit", stored=stored,
        left_out=done.left_out,
    )  # fmt: skip


async def _check(request: Request, name: str, principal: Principal, incoming: SeveralRequest) -> Response:
    """Show the form with what would become of each file; nothing is stored."""
    state = app_state(request)
    if incoming.values.get("test_set") == ALL_PAIRS:
        check = await check_pairs(state, principal, name, incoming)
    elif len(incoming.files) > 1:
        check = await check_systems(state, principal, name, incoming)
    else:
        one = incoming.single
        findings = await check_request(state, principal, name, one)
        if is_fatal(findings):
            raise BadOutput(findings)
        test_set = str(incoming.values.get("test_set") or "")
        check = PairsCheck([CheckedOutput(one.file.name if one.file else "", test_set, findings)], [], [])
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
    return await run_in_threadpool(_form, request, access, dict(incoming.values), check=check)


async def _submit_once(request: Request, name: str, principal: CurrentPrincipal, incoming: SubmissionRequest) -> int:
    """Submit once, even if the form is sent twice by a double click or after a lost response."""
    state = app_state(request)
    key = str(incoming.values.get("key") or "")[:200] or None
    try:
        return (await submit_request(state, principal, name, incoming, key=key)).submitted.submission
    except ReusedKey:
        # The user went back to the form and chose another file.
        return (await submit_request(state, principal, name, incoming, key=None)).submitted.submission


def _form_with_errors(
    request: Request, name: str, principal: Principal, given: Mapping[str, Any], error: Exception
) -> Response:
    """Show the form with its input and the errors in it."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
    if isinstance(error, RequestValidationError):
        field_errors = {str(each["loc"][-1]): _field_message(each) for each in error.errors()}
        return _form(request, access, given, field_errors=field_errors, status=422)
    mapped = as_campaigns_error(error)
    if isinstance(mapped, SystemNamed):
        return _form(request, access, given, field_errors={"system": str(mapped)}, status=422)
    if isinstance(mapped, NoOutput):
        return _form(request, access, given, field_errors={"file": str(mapped)}, status=422)
    findings = mapped.findings if isinstance(mapped, BadOutput) else ()
    return _form(request, access, given, error=mapped, findings=findings, status=mapped.status)


def _form(
    request: Request,
    access: CampaignAccess,
    given: Mapping[str, Any],
    *,
    field_errors: Mapping[str, str] | None = None,
    error: CampaignsError | None = None,
    findings: Sequence[Finding] = (),
    stored: Sequence[tuple[str, str, int]] = (),
    done: PairsOutcome | None = None,
    check: PairsCheck | None = None,
    status: int = 200,
) -> Response:
    teams = access.own_teams
    if not teams and not access.organises:
        raise Forbidden(
            "None of your teams participates in this campaign. Join on its overview page, or ask the organisers."
        )
    with reading(app_state(request).engine) as connection:
        windows = [read_submission_window(connection, access, team) for team in teams]
        test_sets = offered_test_sets(connection, access)
    return page(
        request,
        "submissions/submit",
        status=status,
        title="Submit an output",
        access=access,
        here="submit",
        address=f"/campaigns/{part_of_address(access.name)}/submit",
        windows=windows,
        teams=[*teams, *(sorted(set(access.teams) - set(teams)) if access.organises else ())],
        test_sets=test_sets,
        open_test_set=_open_test_set(access, test_sets),
        given={"team": "", "test_set": "", "system": "", "run": "", "kind": "", "constrained": "", "description": ""}
        | {"override": "", "origin": ""}
        | {key: value for key, value in given.items() if isinstance(value, str)},
        field_errors=defaultdict(str, field_errors or {}),
        error=error,
        findings=findings,
        stored=stored,
        refused=done.refused if done else (),
        left_out=done.left_out if done else (),
        check=check,
        kinds=[(str(value), title) for value, title in KINDS],
        constrained=CONSTRAINED,
        origins=ORIGINS,
        key=new_secret(),
        all_pairs=ALL_PAIRS,
        settings=app_state(request).settings,
    )


def _open_test_set(access: CampaignAccess, test_sets: Sequence[OfferedTestSet]) -> str:
    """Return the value of the only test set that takes outputs now; "" if there are several or none."""
    phase = access.phase.name if access.phase else ""
    open_now = [each.value for each in test_sets if not each.phase or each.phase == phase]
    return open_now[0] if len(open_now) == 1 else ""


def _field_message(error: Mapping[str, Any]) -> str:
    """Return the error message for a field."""
    if error.get("type") in ("missing", "string_too_short"):
        return "This field is required."
    if error.get("type") == "string_too_long":
        return f"At most {error['ctx']['max_length']:,} characters."
    return str(error["msg"])
