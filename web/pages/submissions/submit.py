"""The form by which a team hands in an output."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError

from campaigns.accounts.principal import Principal
from campaigns.accounts.secrets import new_secret
from campaigns.checks.finding import Finding
from campaigns.errors import CampaignsError, Forbidden
from campaigns.permissions import CampaignAccess, read_access
from campaigns.submissions.errors import ReusedKey
from campaigns.submissions.submission_window import read_submission_window
from campaigns.submissions.test_sets import offered_test_sets
from metrics.errors import MetricsError
from models.database.session import reading
from models.errors import ModelsError
from models.schema.roles import DeclaredKind, Scope
from scheduler.errors import SchedulerError
from web.dependencies import CurrentPrincipal, app_state
from web.error_mapping import as_campaigns_error
from web.pages.rendering import page, part_of_address, see_other
from web.uploads.large_bodies import accepts_upload
from web.uploads.request import ReceivedSubmission, SubmissionRequest
from web.uploads.submit import BadOutput, NoOutput, submit_request

router = APIRouter()

KINDS = (
    (DeclaredKind.UNDECLARED, "Not said"),
    (DeclaredKind.PRIMARY, "Primary"),
    (DeclaredKind.CONTRASTIVE, "Contrastive"),
)
CONSTRAINED = (("", "Not said"), ("true", "Constrained"), ("false", "Unconstrained"))


@router.get("/campaigns/{name}/submit")
def show_form(request: Request, name: str, principal: CurrentPrincipal, team: str = "", test_set: str = "") -> Response:
    """The form, with what is left of the quotas."""
    principal.require(Scope.SUBMIT)
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
    return _form(request, access, {"team": team, "test_set": test_set})


@router.post("/campaigns/{name}/submit")
@accepts_upload
async def send_form(request: Request, name: str, principal: CurrentPrincipal, incoming: ReceivedSubmission) -> Response:
    """Hand it in, and go on to its page; or the form again, with all that is wrong."""
    try:
        done = await _hand_in_once(request, name, principal, incoming)
        return see_other(f"/submissions/{done}")
    except (RequestValidationError, CampaignsError, SchedulerError, MetricsError, ModelsError) as error:
        return await run_in_threadpool(_again, request, name, principal, incoming.values, error)


async def _hand_in_once(request: Request, name: str, principal: CurrentPrincipal, incoming: SubmissionRequest) -> int:
    """Hand it in; a form that is sent twice, by a double click or a lost answer, hands in once."""
    state = app_state(request)
    key = str(incoming.values.get("key") or "")[:200] or None
    try:
        return (await submit_request(state, principal, name, incoming, key=key)).submitted.submission
    except ReusedKey:
        # Somebody went back to the form and chose another file.
        return (await submit_request(state, principal, name, incoming, key=None)).submitted.submission


def _again(request: Request, name: str, principal: Principal, given: Mapping[str, Any], error: Exception) -> Response:
    """The form with what was filled in, and what is wrong with it."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
    if isinstance(error, RequestValidationError):
        faults = {str(each["loc"][-1]): _said(each) for each in error.errors()}
        return _form(request, access, given, faults=faults, status=422)
    wrong = as_campaigns_error(error)
    if isinstance(wrong, NoOutput):
        return _form(request, access, given, faults={"file": str(wrong)}, status=422)
    findings = wrong.findings if isinstance(wrong, BadOutput) else ()
    return _form(request, access, given, wrong=wrong, findings=findings, status=wrong.status)


def _form(
    request: Request,
    access: CampaignAccess,
    given: Mapping[str, Any],
    *,
    faults: Mapping[str, str] | None = None,
    wrong: CampaignsError | None = None,
    findings: Sequence[Finding] = (),
    status: int = 200,
) -> Response:
    teams = access.own_teams
    if not teams and not access.organises:
        raise Forbidden(
            "None of your teams takes part in this campaign. Join it with a team on its page, or ask its organisers."
        )
    with reading(app_state(request).engine) as connection:
        standings = [read_submission_window(connection, access, team) for team in teams]
        test_sets = offered_test_sets(connection, access)
    return page(
        request,
        "submissions/submit",
        status=status,
        title="Submit an output",
        access=access,
        here="submit",
        address=f"/campaigns/{part_of_address(access.name)}/submit",
        standings=standings,
        teams=[*teams, *(sorted(set(access.teams) - set(teams)) if access.organises else ())],
        test_sets=test_sets,
        given={"team": "", "test_set": "", "system": "", "run": "", "kind": "", "constrained": "", "description": ""}
        | {"override": ""}
        | {key: value for key, value in given.items() if isinstance(value, str)},
        faults=defaultdict(str, faults or {}),
        wrong=wrong,
        findings=findings,
        kinds=[(str(value), title) for value, title in KINDS],
        constrained=CONSTRAINED,
        key=new_secret(),
        settings=app_state(request).settings,
    )


def _said(error: Mapping[str, Any]) -> str:
    """What is wrong with a field, for people."""
    if error.get("type") in ("missing", "string_too_short"):
        return "Fill this in."
    if error.get("type") == "string_too_long":
        return f"Give {error['ctx']['max_length']:,} characters at most."
    return str(error["msg"])
