"""Test sets of a campaign: upload, assign to phases, release references."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from sqlalchemy import Connection

from campaigns.changes import lock_for_change, require_organiser
from campaigns.measures import MeasureInfo, MeasureRequest, add_measures, protocols_on
from campaigns.permissions import CampaignAccess, read_access
from campaigns.sandbox.processes import scratch_folder
from campaigns.test_sets.files import InputTestSet, NamedContent
from campaigns.test_sets.stored import (
    CampaignTestSetInfo,
    add_test_set,
    find_campaign_test_set,
    list_campaign_test_sets,
    remove_test_set,
    set_test_set,
)
from campaigns.texts import lines_of, reference_text, source_text
from models.database.session import reading, writing
from steelyard.formats.campaign.folder import CampaignFolder
from steelyard_client.documents.campaigns.test_sets import (
    MeasureResponse,
    MeasuresCreate,
    TestSetCreatedResponse,
    TestSetResponse,
    TestSetUpdate,
)
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from steelyard_client.vocabulary import ResamplingUnit
from web.api.campaigns.campaigns import IfMatch
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state
from web.uploads.large_bodies import accepts_upload
from web.uploads.test_sets import read_sent_test_set

router = APIRouter(tags=["test sets"])

TEXT: dict[int | str, dict[str, Any]] = {200: {"content": {"text/plain": {"schema": {"type": "string"}}}}}


@router.get("/campaigns/{name}/test-sets")
def list_test_sets(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[TestSetResponse]:
    """List the test sets of a campaign; versions replaced by a correction come last."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        found, going_on = slice_page(list_campaign_test_sets(connection, access), limit, after)
        measures = protocols_on(connection, access.campaign_id)
    return Page(items=[TestSetResponse(**_values(access, each, measures)) for each in found], next=going_on)


@router.post("/campaigns/{name}/test-sets", status_code=201)
@accepts_upload
async def create_test_set(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    title: Annotated[str, Form(alias="name", max_length=100)],
    references: Annotated[list[UploadFile], File()],
    source: Annotated[UploadFile | None, File()] = None,
    documents: Annotated[UploadFile | None, File()] = None,
    source_language: Annotated[str, Form(max_length=35)] = "",
    target_language: Annotated[str, Form(max_length=35)] = "",
    variable_references: Annotated[bool, Form()] = False,
    phase: Annotated[str, Form(max_length=100)] = "",
    metrics: Annotated[list[str] | None, Form()] = None,
    reference_lists: Annotated[list[str] | None, Form()] = None,
    replicates: Annotated[int, Form(ge=0, le=100_000)] = 1000,
    seed: Annotated[int, Form(ge=0, lt=2**63)] = 12345,
    resample: Annotated[ResamplingUnit, Form()] = ResamplingUnit.SEGMENT,
    if_match: IfMatch = None,
) -> TestSetCreatedResponse:
    """Upload a test set, with the metrics to measure on it.

    References are labelled by their file names (`A.txt`), or inside files in mteval's format or WMT's XML. `documents`
    is a table with the columns segment, doc_id and optionally domain and test_suite. `reference_lists` are labels
    separated by commas; by default each reference is measured alone, then all together. All files are checked before
    anything is stored.
    """
    state = app_state(request)
    await run_in_threadpool(require_organiser, state.engine, principal, name)
    given = InputTestSet(
        references=[await _file(each) for each in references],
        source=await _file(source) if source else None,
        documents=await _file(documents) if documents else None,
        source_language=source_language,
        target_language=target_language,
        variable_references=variable_references,
    )
    measuring = MeasureRequest(
        metrics=metrics or (),
        reference_lists=[each.split(",") for each in reference_lists or ()],
        replicates=replicates,
        seed=seed,
        resample=resample,
    )

    def store(folder: CampaignFolder) -> TestSetCreatedResponse:
        with writing(state.engine) as connection:
            access = lock_for_change(connection, principal, name, if_match)
            added, notices = add_test_set(connection, state.settings, access, title, folder, measuring, phase=phase)
            return TestSetCreatedResponse(**_read(connection, principal, name, added), notices=notices)

    with scratch_folder() as place:
        read = await read_sent_test_set(state, principal, name, given, measuring, place)
        return await run_in_threadpool(store, read)


@router.get("/campaigns/{name}/test-sets/{test_set}")
def read_test_set(request: Request, name: str, test_set: int, principal: CurrentPrincipal) -> TestSetResponse:
    """Read a test set of a campaign."""
    with reading(app_state(request).engine) as connection:
        return TestSetResponse(**_read(connection, principal, name, test_set))


@router.patch("/campaigns/{name}/test-sets/{test_set}")
def update_test_set(
    request: Request,
    name: str,
    test_set: int,
    new: TestSetUpdate,
    principal: CurrentPrincipal,
    if_match: IfMatch = None,
) -> TestSetResponse:
    """Assign a test set to a phase or to all; release its references, or hide them again."""
    with writing(app_state(request).engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        known = find_campaign_test_set(connection, access, test_set)
        set_test_set(connection, access, known, phase=new.phase, released=new.released, early=new.early)
        return TestSetResponse(**_read(connection, principal, name, test_set))


@router.delete("/campaigns/{name}/test-sets/{test_set}", status_code=204)
def delete_test_set(
    request: Request, name: str, test_set: int, principal: CurrentPrincipal, if_match: IfMatch = None
) -> Response:
    """Delete a test set without submissions."""
    with writing(app_state(request).engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        remove_test_set(connection, access, find_campaign_test_set(connection, access, test_set))
    return Response(status_code=204)


@router.post("/campaigns/{name}/test-sets/{test_set}/measures", status_code=201)
def add_test_set_measures(
    request: Request,
    name: str,
    test_set: int,
    new: MeasuresCreate,
    principal: CurrentPrincipal,
    if_match: IfMatch = None,
) -> TestSetCreatedResponse:
    """Add metrics or references to a test set; submissions are queued for them, and existing statistics are reused."""
    state = app_state(request)
    with writing(state.engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        known = find_campaign_test_set(connection, access, test_set)
        measuring = MeasureRequest(new.metrics, new.references, new.replicates, new.seed, new.resample)
        notices = add_measures(connection, state.settings, access, known.id, measuring)
        return TestSetCreatedResponse(**_read(connection, principal, name, test_set), notices=notices)


@router.get("/campaigns/{name}/test-sets/{test_set}/source", response_class=StreamingResponse, responses=TEXT)
def download_source(request: Request, name: str, test_set: int, principal: CurrentPrincipal) -> Response:
    """Download the source, one segment per line, once the phase of the test set has begun."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        known = find_campaign_test_set(connection, access, test_set)
        text = source_text(connection, access, known.id)
    return StreamingResponse(lines_of(state.engine, text), media_type="text/plain", headers=_attachment("source.txt"))


@router.get(
    "/campaigns/{name}/test-sets/{test_set}/references/{label}", response_class=StreamingResponse, responses=TEXT
)
def download_reference(request: Request, name: str, test_set: int, label: str, principal: CurrentPrincipal) -> Response:
    """Download a reference, one segment per line, once it is released."""
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        known = find_campaign_test_set(connection, access, test_set)
        text = reference_text(connection, access, known.id, label)
    return StreamingResponse(
        lines_of(state.engine, text), media_type="text/plain", headers=_attachment("reference.txt")
    )


async def _file(upload: UploadFile) -> NamedContent:
    return NamedContent(upload.filename or "file", await upload.read())


def _attachment(name: str) -> dict[str, str]:
    """Headers that make browsers save the file: its content is not trusted to be shown."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _read(connection: Connection, principal: CurrentPrincipal, name: str, test_set: int) -> dict[str, Any]:
    access = read_access(connection, principal, name)
    known = find_campaign_test_set(connection, access, test_set)
    return _values(access, known, protocols_on(connection, access.campaign_id, known.id))


def _values(access: CampaignAccess, test_set: CampaignTestSetInfo, measures: list[MeasureInfo]) -> dict[str, Any]:
    return {
        "id": test_set.id,
        "name": test_set.name,
        "version": test_set.version,
        "segments": test_set.segments,
        "source_language": test_set.source_language,
        "target_language": test_set.target_language,
        "references": list(test_set.references),
        "phase": test_set.phase,
        "source_visible": test_set.has_source and access.sees_source(test_set.id),
        "references_visible": access.sees_references(test_set.id),
        "released_at": utc(test_set.released_at),
        "replaced_by": test_set.replaced_by,
        "measures": [
            MeasureResponse(
                references=list(each.references),
                metrics=list(each.metrics),
                replicates=each.replicates,
                seed=each.seed,
                resample=each.resample,
            )
            for each in measures
            if each.test_set_id == test_set.id
        ],
    }
