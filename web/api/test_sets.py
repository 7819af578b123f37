"""Test sets of a campaign: uploaded, bound to phases, released."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from campaigns.changes import require_organiser, to_change
from campaigns.measures import KnownMeasure, Measuring, add_measures, protocols_on
from campaigns.permissions import Sight, read_sight
from campaigns.sandbox.processes import scratch_folder
from campaigns.test_sets import (
    GivenFile,
    GivenTestSet,
    KnownTestSet,
    add_test_set,
    find_campaign_test_set,
    list_campaign_test_sets,
    remove_test_set,
    set_test_set,
)
from campaigns.texts import lines_of, reference_text, source_text
from metrics.text.folder import CampaignFolder
from models.database.session import reading, writing
from web.api.campaigns import IfMatch
from web.api.paging import After, Limit, Paged, part_of
from web.dependencies import Asking, state_of
from web.uploads.large_bodies import takes_upload
from web.uploads.test_sets import read_sent_test_set

router = APIRouter(tags=["test sets"])


class Measure(BaseModel):
    """A list of references with the metrics that are measured against it."""

    references: list[str]
    metrics: list[str]
    replicates: int
    seed: int


class ShownTestSet(BaseModel):
    """A test set of a campaign."""

    id: int
    name: str
    version: str
    segments: int
    source_language: str
    target_language: str
    references: list[str]
    """Labels."""
    phase: str
    """The only phase in which outputs for it are taken; "" for all."""
    source_visible: bool
    """Whether the account may have its source."""
    references_visible: bool
    """Whether the account may see its references."""
    released_at: float | None
    """Since when its references are released, in seconds since 1970."""
    replaced_by: int | None
    """The test set with corrected references that stands for it now."""
    measures: list[Measure]


class AddedTestSet(ShownTestSet):
    """A test set that was added just now."""

    notices: list[str]
    """What was odd in its files, each a sentence."""


class TestSetChange(BaseModel):
    """What is to become of a test set; what is left out stays as it is."""

    __test__ = False
    model_config = ConfigDict(extra="forbid")

    phase: str | None = Field(default=None, max_length=100)
    """The only phase in which outputs for it are taken, by its name; "" for all."""
    released: bool | None = None
    """Whether its references may be seen by all who see the campaign."""
    early: bool = False
    """Release them although outputs are still taken."""


class NewMeasures(BaseModel):
    """What is to be measured, too."""

    model_config = ConfigDict(extra="forbid")

    metrics: list[str] = Field(min_length=1, max_length=50)
    references: list[list[str]] = Field(default=[], max_length=50)
    """Lists of labels; without any each reference alone, then all together."""
    replicates: int = Field(default=1000, ge=0, le=100_000)
    seed: int = Field(default=12345, ge=0, lt=2**63)


@router.get("/campaigns/{name}/test-sets")
def list_test_sets(
    request: Request, name: str, principal: Asking, limit: Limit = 50, after: After = ""
) -> Paged[ShownTestSet]:
    """The test sets of a campaign, those whose references were corrected last."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        found, going_on = part_of(list_campaign_test_sets(connection, sight), limit, after)
        measures = protocols_on(connection, sight.campaign_id)
    return Paged(items=[ShownTestSet(**_values(sight, each, measures)) for each in found], next=going_on)


@router.post("/campaigns/{name}/test-sets", status_code=201)
@takes_upload
async def upload_test_set(
    request: Request,
    name: str,
    principal: Asking,
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
    if_match: IfMatch = None,
) -> AddedTestSet:
    """Upload a test set, with what is measured on it.

    References are labelled by the names of their files (`A.txt`), or named in files in mteval's format or WMT's XML.
    `documents` is a table with the columns segment, doc_id and perhaps domain and test_suite. `reference_lists` are
    labels with commas between them; without any, each reference is measured alone, then all together. All files are
    checked before anything is stored.
    """
    state = state_of(request)
    await run_in_threadpool(require_organiser, state.engine, principal, name)
    given = GivenTestSet(
        references=[await _file(each) for each in references],
        source=await _file(source) if source else None,
        documents=await _file(documents) if documents else None,
        source_language=source_language,
        target_language=target_language,
        variable_references=variable_references,
    )
    measuring = Measuring(
        metrics=metrics or (),
        reference_lists=[each.split(",") for each in reference_lists or ()],
        replicates=replicates,
        seed=seed,
    )

    def store(folder: CampaignFolder) -> AddedTestSet:
        with writing(state.engine) as connection:
            sight = to_change(connection, principal, name, if_match)
            added, notices = add_test_set(connection, state.settings, sight, title, folder, measuring, phase=phase)
            return AddedTestSet(**_read(connection, principal, name, added), notices=notices)

    with scratch_folder() as place:
        read = await read_sent_test_set(state, principal, name, given, measuring, place)
        return await run_in_threadpool(store, read)


@router.get("/campaigns/{name}/test-sets/{test_set}")
def read_test_set(request: Request, name: str, test_set: int, principal: Asking) -> ShownTestSet:
    """One test set of a campaign."""
    with reading(state_of(request).engine) as connection:
        return ShownTestSet(**_read(connection, principal, name, test_set))


@router.patch("/campaigns/{name}/test-sets/{test_set}")
def change_test_set(
    request: Request, name: str, test_set: int, new: TestSetChange, principal: Asking, if_match: IfMatch = None
) -> ShownTestSet:
    """Bind a test set to a phase, or to none; release its references, or hide them again."""
    with writing(state_of(request).engine) as connection:
        sight = to_change(connection, principal, name, if_match)
        known = find_campaign_test_set(connection, sight, test_set)
        set_test_set(connection, sight, known, phase=new.phase, released=new.released, early=new.early)
        return ShownTestSet(**_read(connection, principal, name, test_set))


@router.delete("/campaigns/{name}/test-sets/{test_set}", status_code=204)
def let_test_set_go(
    request: Request, name: str, test_set: int, principal: Asking, if_match: IfMatch = None
) -> Response:
    """Remove a test set for which nothing was handed in."""
    with writing(state_of(request).engine) as connection:
        sight = to_change(connection, principal, name, if_match)
        remove_test_set(connection, sight, find_campaign_test_set(connection, sight, test_set))
    return Response(status_code=204)


@router.post("/campaigns/{name}/test-sets/{test_set}/measures", status_code=201)
def measure_more(
    request: Request, name: str, test_set: int, new: NewMeasures, principal: Asking, if_match: IfMatch = None
) -> AddedTestSet:
    """Measure more on a test set; what was handed in is queued for it, and what was measured is not done again."""
    state = state_of(request)
    with writing(state.engine) as connection:
        sight = to_change(connection, principal, name, if_match)
        known = find_campaign_test_set(connection, sight, test_set)
        measuring = Measuring(new.metrics, new.references, new.replicates, new.seed)
        notices = add_measures(connection, state.settings, sight, known.id, measuring)
        return AddedTestSet(**_read(connection, principal, name, test_set), notices=notices)


@router.get("/campaigns/{name}/test-sets/{test_set}/source", response_class=StreamingResponse)
def download_source(request: Request, name: str, test_set: int, principal: Asking) -> Response:
    """The source, one segment per line, once the phase of the test set has begun."""
    state = state_of(request)
    with reading(state.engine) as connection:
        sight = read_sight(connection, principal, name)
        known = find_campaign_test_set(connection, sight, test_set)
        text = source_text(connection, sight, known.id)
    return StreamingResponse(lines_of(state.engine, text), media_type="text/plain", headers=_saved("source.txt"))


@router.get("/campaigns/{name}/test-sets/{test_set}/references/{label}", response_class=StreamingResponse)
def download_reference(request: Request, name: str, test_set: int, label: str, principal: Asking) -> Response:
    """A reference, one segment per line, once it is released."""
    state = state_of(request)
    with reading(state.engine) as connection:
        sight = read_sight(connection, principal, name)
        known = find_campaign_test_set(connection, sight, test_set)
        text = reference_text(connection, sight, known.id, label)
    return StreamingResponse(lines_of(state.engine, text), media_type="text/plain", headers=_saved("reference.txt"))


async def _file(upload: UploadFile) -> GivenFile:
    return GivenFile(upload.filename or "file", await upload.read())


def _saved(name: str) -> dict[str, str]:
    """Let browsers store it instead of showing it: what is in it is not ours."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}


def _read(connection: Connection, principal: Asking, name: str, test_set: int) -> dict[str, Any]:
    sight = read_sight(connection, principal, name)
    known = find_campaign_test_set(connection, sight, test_set)
    return _values(sight, known, protocols_on(connection, sight.campaign_id, known.id))


def _values(sight: Sight, test_set: KnownTestSet, measures: list[KnownMeasure]) -> dict[str, Any]:
    return {
        "id": test_set.id,
        "name": test_set.name,
        "version": test_set.version,
        "segments": test_set.segments,
        "source_language": test_set.source_language,
        "target_language": test_set.target_language,
        "references": list(test_set.references),
        "phase": test_set.phase,
        "source_visible": test_set.has_source and sight.sees_source(test_set.id),
        "references_visible": sight.sees_references(test_set.id),
        "released_at": test_set.released_at,
        "replaced_by": test_set.replaced_by,
        "measures": [
            Measure(
                references=list(each.references), metrics=list(each.metrics), replicates=each.replicates, seed=each.seed
            )
            for each in measures
            if each.test_set_id == test_set.id
        ],
    }
