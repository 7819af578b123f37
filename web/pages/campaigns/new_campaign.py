"""Creating a campaign: its rules and its usual three phases in one form."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile

from campaigns.accounts.principal import Principal
from campaigns.changes import lock_for_change
from campaigns.errors import BadRequest, CampaignsError, Forbidden
from campaigns.fields.times import check_zone, parse_local_time, time_zones
from campaigns.phases import PhaseRules, add_phase
from campaigns.rules import Rules, create_campaign
from models.database.session import writing
from models.schema.base import database_time
from models.schema.roles import Feedback, Joining, PhaseKind, Scope, Visibility
from steelyard.errors import MetricsError
from steelyard.text.names import fault_of_name
from steelyard_client.documents.campaigns.campaign_imports import CampaignImportedResponse
from steelyard_client.documents.campaigns.campaigns import MAX_DESCRIPTION_LENGTH
from web.dependencies import CurrentPrincipal, app_state
from web.pages.forms import FieldReader, InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other
from web.uploads.campaigns import import_sent_campaign
from web.uploads.large_bodies import accepts_upload

router = APIRouter()

DEVELOPMENT, TEST, RESULTS = "Development", "Test", "Results"
TIMES = ("development_ends", "test_starts", "test_ends", "results_at")
LABELS = ("the end of the development phase", "the beginning of the test phase", "its deadline", "the results")
Field = Annotated[str, Form(max_length=500)]


@router.get("/new-campaign")
def show_new_campaign(request: Request, principal: CurrentPrincipal) -> Response:
    """Show the form to create a campaign."""
    _require_may_create(principal)
    return _page(request, {})


@router.post("/new-campaign")
def create_new_campaign(
    request: Request,
    principal: CurrentPrincipal,
    name: Field = "",
    title: Field = "",
    description: Annotated[str, Form(max_length=4 * MAX_DESCRIPTION_LENGTH)] = "",
    time_zone: Field = "UTC",
    visibility: Field = "",
    joining: Field = "",
    development_ends: Field = "",
    test_starts: Field = "",
    test_ends: Field = "",
    results_at: Field = "",
) -> Response:
    """Create a campaign, with those of the usual phases that have a time."""
    _require_may_create(principal)
    given = {
        "name": name.strip(),
        "title": title,
        "description": description,
        "time_zone": time_zone.strip(),
        "visibility": visibility,
        "joining": joining,
        **dict(zip(TIMES, (development_ends, test_starts, test_ends, results_at), strict=True)),
    }
    try:
        with form_errors(), writing(app_state(request).engine) as connection:
            rules, phases = _parse(given, database_time(connection))
            create_campaign(connection, principal, given["name"], rules)
            for phase in phases:
                add_phase(connection, lock_for_change(connection, principal, given["name"]), phase)
    except InvalidForm as invalid:
        return _page(request, given, invalid)
    return see_other(f"/campaigns/{part_of_address(given['name'])}/manage")


@router.post("/new-campaign/import")
@accepts_upload
async def import_campaign(
    request: Request,
    principal: CurrentPrincipal,
    file: Annotated[UploadFile, File()],
    import_name: Field = "",
    do: Field = "add",
) -> Response:
    """Create a campaign from an export, or from a folder of language pairs; with `do=preview` only show what comes."""
    state = app_state(request)
    try:
        found = await import_sent_campaign(state, principal, import_name.strip(), file, preview=do == "preview")
    except (CampaignsError, MetricsError) as error:
        status = getattr(error, "status", 422)
        if status not in (400, 409, 413, 422):
            raise
        more = [str(each) for each in getattr(error, "details", ())]
        given = {"import_name": import_name}
        return _page(request, given, not_imported=" ".join([str(error), *more]), status=status)
    if found.stored and not found.notices:
        return see_other(f"/campaigns/{part_of_address(found.name)}")
    return _page(request, {} if found.stored else {"import_name": import_name}, imported=found)


def _require_may_create(principal: Principal) -> None:
    principal.require(Scope.ORGANISE)
    if not principal.may_create_campaigns:
        raise Forbidden("Only organisers can create campaigns. Ask an administrator to make you one.")


def _parse(given: Mapping[str, str], at: float) -> tuple[Rules, list[PhaseRules]]:
    """Return the rules and the phases. Raises InvalidForm with all that is wrong."""
    form = FieldReader()
    if fault := fault_of_name(given["name"]):
        form.wrong("name", f"This cannot be the name of a campaign: {fault}.")
    zone = form.read("time_zone", check_zone, given["time_zone"]) or "UTC"
    visibility = form.read("visibility", _known_visibility, given["visibility"])
    joining = form.read("joining", _known_joining, given["joining"])
    times = {each: form.read(each, parse_local_time, given[each], zone) for each in TIMES if given[each].strip()}
    ends, starts, deadline, results = (times.get(each) for each in TIMES)
    if (starts is None) != (deadline is None) and not {"test_starts", "test_ends"} & set(form.errors):
        form.wrong("test_starts" if starts is None else "test_ends", "The test phase needs a beginning and a deadline.")
    before, what = at, "now"
    for each, label in zip(TIMES, LABELS, strict=True):
        moment = times.get(each)
        if moment is not None:
            if moment < before:
                form.wrong(each, f"This is before {what}.")
            before, what = moment, label
    form.finish()
    phases = []
    if ends is not None:
        phases.append(PhaseRules(DEVELOPMENT, PhaseKind.OPEN, at, ends))
    if starts is not None:
        phases.append(PhaseRules(TEST, PhaseKind.BLIND, starts, deadline, feedback=Feedback.ROUNDED))
    if results is not None:
        phases.append(PhaseRules(RESULTS, PhaseKind.PUBLISHED, results, None))
    rules = Rules(
        title=given["title"],
        description=given["description"],
        time_zone=given["time_zone"],
        visibility=visibility,
        joining=joining,
    )
    return rules, phases


def _known_visibility(value: str) -> Visibility:
    try:
        return Visibility(value or Visibility.PRIVATE)
    except ValueError as error:
        raise BadRequest("Choose who sees the campaign.") from error


def _known_joining(value: str) -> Joining:
    try:
        return Joining(value or Joining.INVITED)
    except ValueError as error:
        raise BadRequest("Choose who can join.") from error


def _page(
    request: Request,
    given: Mapping[str, str],
    invalid: InvalidForm | None = None,
    *,
    imported: CampaignImportedResponse | None = None,
    not_imported: str = "",
    status: int = 200,
) -> Response:
    blank = dict.fromkeys(("name", "title", "description", "import_name", *TIMES), "")
    return page(
        request,
        "campaigns/new_campaign",
        status=invalid.status if invalid else status,
        title="Create a campaign",
        crumbs=[("Campaigns", "/")],
        given={**blank, "time_zone": "UTC", "visibility": "private", "joining": "invited", **given},
        zones=time_zones(),
        error=str(invalid) if invalid else "",
        errors=defaultdict(str, invalid.fields if invalid else {}),
        imported=imported,
        not_imported=not_imported,
    )
