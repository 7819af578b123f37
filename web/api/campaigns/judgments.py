"""Human judgments."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool

from campaigns.changes import require_organiser
from campaigns.errors import Forbidden
from campaigns.inspection.judged_systems import judgments_response, read_details
from campaigns.inspection.judgments import judgments_of, remove_judgments, rename_judgments
from campaigns.inspection.visible import visible_test_sets
from campaigns.permissions import read_access
from models.corpus.judgments import list_judgments_of, read_segments
from models.database.session import reading, writing
from models.schema.states import JudgmentKind
from steelyard.meta_evaluation.human.rankings import rankings
from steelyard_client.documents.leaderboards.judgments import (
    HumanScoresCreatedResponse,
    HumanScoresDetails,
    HumanScoresRename,
    HumanScoresResponse,
    JudgedSegment,
)
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, parse_cursor, slice_page
from web.dependencies import CurrentPrincipal, app_state
from web.uploads.judgments import MAX_RENAMED, MAX_WEIGHTS, JudgmentsForm, add_judgments
from web.uploads.large_bodies import accepts_upload

router = APIRouter(tags=["human scores"])

MAX_SEGMENTS = 10_000
"""Scores of segments in one response."""


@router.get("/campaigns/{name}/human-scores")
def list_human_scores(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[HumanScoresResponse]:
    """List the human judgments; only for organisers while the leaderboard is hidden."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        if not access.sees_board:
            raise Forbidden("Scores of all systems are not shown in this phase.")
        test_sets = visible_test_sets(connection, access)
        stored = list_judgments_of(connection, access.campaign_id, [each.id for each in test_sets])
    found = [judgments_response(name, test_set.title, each) for test_set in test_sets for each in stored[test_set.id]]
    items, following = slice_page(found, limit, after)
    return Page(items=list(items), next=following)


@router.post("/campaigns/{name}/human-scores", status_code=201)
@accepts_upload
async def add_human_scores(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    files: Annotated[list[UploadFile], File()],
    response: Response,
    test_set: Annotated[str, Form()] = "",
    called: Annotated[str, Form()] = "",
    pair: Annotated[str, Form(max_length=100)] = "",
    rename: Annotated[list[str], Form(max_length=MAX_RENAMED)] = [],  # noqa: B006 - FastAPI copies it
    preview: Annotated[bool, Form()] = False,
    kind: Annotated[JudgmentKind | Literal[""], Form()] = "",
    by_document: Annotated[bool, Form()] = False,
    first_segment: Annotated[int | None, Form(ge=0, le=1)] = None,
    weights: Annotated[list[str], Form(max_length=MAX_WEIGHTS)] = [],  # noqa: B006 - FastAPI copies it
    standardise: Annotated[bool | None, Form()] = None,
    aggregation: Annotated[Literal["auto", "means", "wins", "better-or-equal", "none"], Form()] = "auto",
) -> HumanScoresCreatedResponse:
    """Add human judgments: one or more files in the formats of `steelyard judgments import` (docs/how-to/human.md).

    Identical content under the same name is stored once; other content becomes the next version. If there are
    submissions and none of their systems was judged, nothing is stored. With `preview` nothing is stored at all, and
    the status is 200: the response says which systems and segments match, and what is left out. `pair` chooses one of
    several language pairs in the files; `rename` says OLD=NEW where systems have other names here.
    """
    state = app_state(request)
    access = await run_in_threadpool(require_organiser, state.engine, principal, name)
    form = JudgmentsForm(
        *(test_set, called, pair, rename, preview, kind or None, by_document, first_segment, weights, standardise),
        aggregation,
    )
    added = await add_judgments(state, access, form, files)
    if preview:
        response.status_code = 200
    judged, matched = added.judged, added.ingested.matched
    return HumanScoresCreatedResponse(
        **judgments_response(name, added.test_set, added.ingested.stored).model_dump(),
        stored=not preview,
        new=added.ingested.new,
        judgments=len(judged.judgments),
        rankings=len(rankings(judged.judgments)) if judged.kind == JudgmentKind.RANKINGS else 0,
        annotators=len({each.annotator for each in judged.judgments} - {""}),
        judged_segments=len({each.segment for each in judged.segments}),
        system_scores=len(judged.systems),
        segment_scores=len(judged.segments),
        segments=added.segments,
        error_spans=added.ingested.error_spans,
        notices=added.notices,
        matched=list(matched.systems),
        unknown=list(matched.unknown),
        references=list(matched.references),
        not_judged=list(matched.not_judged),
    )


@router.get("/campaigns/{name}/human-scores/{title}")
def read_human_scores(
    request: Request,
    name: str,
    title: str,
    principal: CurrentPrincipal,
    test_set: str = "",
    shared_segments: Annotated[
        bool, Query(description="Compare two systems on the segments only that were judged of both.")
    ] = False,
) -> HumanScoresDetails:
    """Read human judgments, with the systems that they rank. For organisers."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        stored, chosen = judgments_of(connection, access, test_set, title)
        return read_details(connection, access, chosen, stored, shared=shared_segments)


@router.get("/campaigns/{name}/human-scores/{title}/segments")
def list_judged_segments(
    request: Request,
    name: str,
    title: str,
    principal: CurrentPrincipal,
    test_set: str = "",
    limit: Annotated[int, Query(ge=1, le=MAX_SEGMENTS)] = 1000,
    after: After = "",
) -> Page[JudgedSegment]:
    """List human scores of segments, by system and segment. For organisers."""
    begin = parse_cursor(after) or 0
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        stored, _ = judgments_of(connection, access, test_set, title)
        rows = read_segments(connection, stored.id, begin, limit + 1)
    items = [
        JudgedSegment(system=row.system, segment=row.segment, score=row.score, raw=row.raw, n_judgments=row.judgments)
        for row in rows[:limit]
    ]
    return Page(items=items, next=str(begin + limit) if len(rows) > limit else None)


@router.patch("/campaigns/{name}/human-scores/{title}", status_code=204)
def rename_human_scores(
    request: Request, name: str, title: str, principal: CurrentPrincipal, asked: HumanScoresRename, test_set: str = ""
) -> Response:
    """Rename human judgments: all versions of a name. For organisers."""
    with writing(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        rename_judgments(connection, access, test_set, title.partition("@")[0], asked.name)
    return Response(status_code=204)


@router.delete("/campaigns/{name}/human-scores/{title}", status_code=204)
def delete_human_scores(
    request: Request, name: str, title: str, principal: CurrentPrincipal, test_set: str = ""
) -> Response:
    """Delete one version of human judgments, NAME@VERSION or NAME for the newest. For organisers."""
    with writing(app_state(request).engine) as connection:
        remove_judgments(connection, read_access(connection, principal, name), test_set, title)
    return Response(status_code=204)
