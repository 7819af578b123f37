"""The systems of a campaign, and the page of each: its address stays after the results are published."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool

from campaigns.changes import lock_for_change, require_organiser
from campaigns.errors import BadRequest, CampaignsError, NotSignedIn
from campaigns.human_ranking.documents import official_places
from campaigns.permissions import read_access
from campaigns.systems.citations import cite_system
from campaigns.systems.descriptions import describe_system, import_descriptions
from campaigns.systems.listing import find_system, systems_by_name
from campaigns.systems.profile import read_scores_of_system
from models.database.session import reading, writing
from models.schema.roles import SystemOrigin, Weights
from runtime.service_settings import site_url
from steelyard.tables.formatting import TYPESET, digits
from steelyard_client.documents.submissions.systems import parameters_text, parse_parameters
from steelyard_client.vocabulary import ORIGINS
from web.dependencies import CurrentPrincipal, app_state
from web.pages.forms import FieldReader, InvalidForm, form_errors
from web.pages.leaderboards.human_cells import human_cells
from web.pages.leaderboards.leaderboard import PAGE as ON_BOARD
from web.pages.rendering import page, part_of_address, see_other
from web.pages.share import picture_address
from web.uploads.large_bodies import accepts_upload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from campaigns.accounts.principal import Principal
    from campaigns.systems.descriptions import ImportedDescriptions
    from steelyard_client.documents.submissions.systems import SystemOnTestSet

router = APIRouter()

TRACKS = (("", "Not specified"), ("yes", "Constrained"), ("no", "Unconstrained"))
CONSTRAINED = {"yes": True, "no": False}
WEIGHTS = ((Weights.UNKNOWN, "Not specified"), (Weights.OPEN, "Open"), (Weights.CLOSED, "Closed"))
WHOSE = (
    (SystemOrigin.TEAM, "A participant's"),
    (SystemOrigin.BASELINE, "A baseline of the organisers"),
    (SystemOrigin.ONLINE, "An online system"),
)
PAGE = 200
"""Systems on one page."""
MAX_TABLE_BYTES = 2_000_000


@router.get("/campaigns/{name}/systems")
def show_systems(
    request: Request, name: str, principal: CurrentPrincipal, first: Annotated[int, Query(ge=0, le=10**9)] = 0
) -> Response:
    """Show a page of the systems that the reader may know of, with what is said of them."""
    return _systems(request, name, principal, first=first)


@router.post("/campaigns/{name}/systems")
@accepts_upload
async def import_systems(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    file: Annotated[UploadFile, File()],
    do: Annotated[str, Form(max_length=10)] = "add",
) -> Response:
    """Import a table of descriptions, or with `do=preview` only show which systems match; then nothing is stored."""
    preview = do == "preview"
    engine = app_state(request).engine
    await run_in_threadpool(require_organiser, engine, principal, name)
    content = await file.read(MAX_TABLE_BYTES + 1)

    def store() -> ImportedDescriptions:
        if len(content) > MAX_TABLE_BYTES:
            raise BadRequest(f"The table has more than {MAX_TABLE_BYTES:,} bytes.")
        try:
            table = content.decode()
        except UnicodeDecodeError as error:
            raise BadRequest(f"The table is not UTF-8, at byte {error.start + 1}. Save it as UTF-8.") from None
        with writing(engine) as connection:
            access = lock_for_change(connection, principal, name)
            return import_descriptions(connection, access, table, preview=preview)

    try:
        found = await run_in_threadpool(store)
    except CampaignsError as error:
        if error.status not in (404, 422):
            raise
        return await run_in_threadpool(_systems, request, name, principal, error=error)
    return await run_in_threadpool(_systems, request, name, principal, found=found, preview=preview)


def _systems(
    request: Request,
    name: str,
    principal: Principal,
    *,
    first: int = 0,
    found: ImportedDescriptions | None = None,
    preview: bool = False,
    error: CampaignsError | None = None,
) -> Response:
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        systems, total = systems_by_name(connection, access, first, PAGE)
    return page(
        request,
        "campaigns/systems",
        status=error.status if error else 200,
        title="Systems",
        access=access,
        here="systems",
        systems=systems,
        first=first,
        page_size=PAGE,
        total=total,
        origins=ORIGINS,
        parameters_text=parameters_text,
        found=found,
        preview=preview,
        error=error,
    )


@router.get("/campaigns/{name}/systems/{system}")
def show_system(request: Request, name: str, system: int, principal: CurrentPrincipal, done: str = "") -> Response:
    """Show a system with all that it scores."""
    return _system(request, name, system, principal, done=done == "saved")


@router.post("/campaigns/{name}/systems/{system}")
def describe(
    request: Request,
    name: str,
    system: int,
    principal: CurrentPrincipal,
    description: Annotated[str, Form(max_length=20_000)] = "",
    affiliation: Annotated[str, Form(max_length=2000)] = "",
    paper_url: Annotated[str, Form(max_length=2000)] = "",
    url: Annotated[str, Form(max_length=2000)] = "",
    parameters: Annotated[str, Form(max_length=100)] = "",
    weights: Annotated[Weights, Form()] = Weights.UNKNOWN,
    track: Annotated[str, Form(max_length=10)] = "",
    origin: Annotated[SystemOrigin | None, Form()] = None,
) -> Response:
    """Save what is said of a system."""
    if not principal.signed_in:
        raise NotSignedIn
    given = {
        "description": description,
        "affiliation": affiliation,
        "paper_url": paper_url,
        "url": url,
        "parameters": parameters,
        "weights": weights,
        "track": track,
        "origin": origin or "",
    }
    try:
        reader = FieldReader()
        number = reader.read("parameters", _parameters, parameters)
        reader.finish()
        said: dict[str, Any] = {
            "description": description,
            "affiliation": affiliation,
            "paper_url": paper_url,
            "url": url,
            "parameters": number,
            "weights": weights,
            "constrained": CONSTRAINED.get(track),
        }
        if origin is not None:
            said["origin"] = origin
        with form_errors(), writing(app_state(request).engine) as connection:
            describe_system(connection, read_access(connection, principal, name), system, said)
    except InvalidForm as error:
        return _system(request, name, system, principal, error=error, given=given)
    return see_other(f"/campaigns/{part_of_address(name)}/systems/{system}?done=saved")


def _parameters(text: str) -> int | None:
    try:
        return parse_parameters(text)
    except ValueError as error:
        raise BadRequest(str(error)) from None


def _system(
    request: Request,
    name: str,
    system: int,
    principal: Principal,
    *,
    done: bool = False,
    error: InvalidForm | None = None,
    given: Mapping[str, str] | None = None,
) -> Response:
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        seen = find_system(connection, access, system)
        human = official_places(connection, access, state.boards.memory)
        scores = read_scores_of_system(connection, state.boards, access, system, human)
    stored = {
        "description": seen.description,
        "affiliation": seen.affiliation,
        "paper_url": seen.paper_url,
        "url": seen.url,
        "parameters": parameters_text(seen.parameters),
        "weights": seen.weights,
        "track": {True: "yes", False: "no", None: ""}[seen.constrained],
        "origin": seen.origin,
    }
    places = [each.human for each in scores if each.human]
    people = iter(human_cells(places)[0])
    columns = list(dict.fromkeys(score.title for each in scores for score in each.scores))
    return page(
        request,
        "campaigns/system",
        status=error.status if error else 200,
        title=seen.system,
        access=access,
        here="systems",
        system=seen,
        picture=picture_address(request, access, f"/campaigns/{part_of_address(name)}/systems/{system}"),
        origin=ORIGINS.get(seen.origin, ""),
        parameters=parameters_text(seen.parameters),
        columns=columns,
        judged=bool(places),
        rows=[
            (
                each,
                next(people) if each.human else None,
                {score.title: _shown(score.score) for score in each.scores},
                *_links(each),
            )
            for each in scores
        ],
        citation=cite_system(access, seen, site_url(state.settings)).strip(),
        may_describe=access.organises or seen.own,
        given={**stored, **(given or {})},
        error=str(error) if error else "",
        wrong=defaultdict(str, error.fields if error else {}),
        done=done,
        tracks=TRACKS,
        weights=WEIGHTS,
        whose=WHOSE,
    )


def _links(each: SystemOnTestSet) -> tuple[str, str]:
    """Return where its row of the leaderboard is, and its segments, both below the address of the campaign."""
    board = {"test_set": f"{each.test_set}@{each.version}", "references": ",".join(each.references)}
    row: dict[str, object] = {} if each.ranked else {"shown": "all"}
    if each.row >= ON_BOARD:
        row["first"] = each.row // ON_BOARD * ON_BOARD
    standing = f"leaderboard?{urlencode({**board, **row})}#s{each.submission}"
    return standing, f"segments?{urlencode({**board, 'system': each.submission})}"


def _shown(score: float | None) -> str:
    return TYPESET.number(score, digits(1.0 if score is not None and abs(score) <= 1 else 100.0))
