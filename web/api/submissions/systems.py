"""Systems of a campaign: what is said of them, what they score, and how to cite them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from campaigns.changes import lock_for_change
from campaigns.human_ranking.documents import official_places
from campaigns.permissions import read_access
from campaigns.systems.citations import MEDIA_TYPE, cite_campaign, cite_system
from campaigns.systems.descriptions import describe_system, import_descriptions
from campaigns.systems.listing import find_system, list_systems
from campaigns.systems.profile import read_scores_of_system, system_document
from models.database.session import reading, writing
from runtime.service_settings import site_url
from steelyard_client.documents.paging import Page
from steelyard_client.documents.submissions.systems import (
    SystemResponse,
    SystemsImport,
    SystemsImportedResponse,
    SystemUpdate,
    SystemWithScoresResponse,
)
from web.api.paging import After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state
from web.uploads.large_bodies import accepts_upload

router = APIRouter(tags=["submissions"])

SystemId = Annotated[int, Path(ge=1, lt=2**63)]
BIBTEX: dict[int | str, dict[str, object]] = {200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}}


@router.get("/campaigns/{name}/systems")
def list_campaign_systems(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[SystemResponse]:
    """List the systems of your teams, and those of others where the leaderboard shows names; organisers see all."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        found = list_systems(connection, access, limit=limit, after=parse_cursor(after))
    return Page[SystemResponse](**make_page(found, limit, system_document))


@router.post("/campaigns/{name}/systems", name="import_campaign_systems")
@accepts_upload
def import_systems(
    request: Request, name: str, principal: CurrentPrincipal, new: SystemsImport
) -> SystemsImportedResponse:
    """Store a table of descriptions of systems, such as systems.tsv of WMT25; all of it or nothing. For organisers."""
    with writing(app_state(request).engine) as connection:
        access = lock_for_change(connection, principal, name)
        found = import_descriptions(connection, access, new.table, preview=new.preview)
    return SystemsImportedResponse(
        matched=found.matched, unknown=found.unknown, missing=found.missing, stored=not new.preview
    )


@router.get("/campaigns/{name}/systems/{system}", name="read_campaign_system")
def read_system(request: Request, name: str, system: SystemId, principal: CurrentPrincipal) -> SystemWithScoresResponse:
    """Read a system with what is said of it, and what it scores on all test sets where leaderboards are shown."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        seen = find_system(connection, access, system)
        human = official_places(connection, access, state.boards.memory)
        scores = read_scores_of_system(connection, state.boards, access, system, human)
    return SystemWithScoresResponse(**system_document(seen).model_dump(), scores=scores)


@router.patch("/campaigns/{name}/systems/{system}", name="update_campaign_system")
def update_system(
    request: Request, name: str, system: SystemId, new: SystemUpdate, principal: CurrentPrincipal
) -> SystemResponse:
    """Change what is said of a system. For members of its team and for organisers."""
    nothing = ("parameters", "constrained")
    said = {
        key: value for key, value in new.model_dump(exclude_unset=True).items() if value is not None or key in nothing
    }
    with writing(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        describe_system(connection, access, system, said)
        return system_document(find_system(connection, access, system))


@router.get(
    "/campaigns/{name}/systems/{system}/citation",
    name="cite_campaign_system",
    response_class=Response,
    responses=BIBTEX,
)
def cite_one_system(request: Request, name: str, system: SystemId, principal: CurrentPrincipal) -> Response:
    """Download BibTeX for a system of a campaign."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        seen = find_system(connection, access, system)
    return bibtex(cite_system(access, seen, site_url(state.settings)), f"system-{system}.bib")


@router.get("/campaigns/{name}/citation", name="cite_campaign", response_class=Response, responses=BIBTEX)
def cite_whole_campaign(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Download BibTeX for the results of a campaign."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
    return bibtex(cite_campaign(access, site_url(state.settings)), "campaign.bib")


def bibtex(text: str, name: str) -> Response:
    """A file of BibTeX."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=MEDIA_TYPE, headers=headers)
