"""Scores that were made elsewhere: import, choose and delete them; AutoRank."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool

from campaigns.changes import lock_for_change
from campaigns.errors import Forbidden
from campaigns.permissions import read_access
from campaigns.score_imports.autorank import autoranks_of, rank_by_autorank
from campaigns.score_imports.importing import ImportResult
from campaigns.score_imports.reductions import reduce_now
from campaigns.score_imports.versions import ImportedVersion, choose_version, delete_version, list_versions
from models.database.session import reading, writing
from steelyard_client.documents.document import utc
from steelyard_client.documents.leaderboards.imported_scores import (
    AutoRankResponse,
    AutoRankUpdate,
    ImportedColumnResponse,
    ImportedScoresResponse,
    ScoreFileResponse,
    ScoresImportedResponse,
)
from steelyard_client.documents.paging import Page
from web.api.campaigns.campaigns import IfMatch
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state
from web.uploads.large_bodies import accepts_upload
from web.uploads.scores import SentScores, import_sent_scores, require_importer

router = APIRouter(tags=["imported scores"])


@router.get("/campaigns/{name}/scores")
def list_imported_scores(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[ImportedScoresResponse]:
    """List the imported scores by test set, all versions; only for organisers while the leaderboard is hidden."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        if not access.sees_board:
            raise Forbidden("Scores of all systems are not shown in this phase.")
        found = list_versions(connection, access)
    items, following = slice_page([_response(each) for each in found], limit, after)
    return Page(items=list(items), next=following)


@router.post("/campaigns/{name}/scores", status_code=201)
@accepts_upload
async def import_scores(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    files: Annotated[list[UploadFile], File()],
    response: Response,
    test_set: Annotated[str, Form(max_length=250)] = "",
    pairs: Annotated[list[str] | None, Form()] = None,
    metric: Annotated[str, Form(max_length=250)] = "",
    lower_is_better: Annotated[list[str] | None, Form()] = None,
    create: Annotated[bool, Form()] = False,
    preview: Annotated[bool, Form()] = False,
    if_match: IfMatch = None,
) -> ScoresImportedResponse:
    """Import scores from files in the formats of `steelyard rank`, as columns of leaderboards.

    Each language pair goes to the test set of its name or languages, or to `test_set`; `create` makes test sets without
    texts for the others, and the campaign where there is none, for those who may create campaigns. `metric` is NAME or
    NAME@VERSION: one in the files, or the name for their only one. The same scores again change nothing; others are the
    next version, which takes the place of the earlier one on leaderboards. With `preview` nothing is stored, and the
    status is 200: the response says what would be, and what is left out.
    """
    state = app_state(request)
    sent = SentScores(test_set, tuple(pairs or ()), metric, tuple(lower_is_better or ()), create, preview)
    await run_in_threadpool(require_importer, state, principal, name, sent)
    found: ImportResult = await import_sent_scores(state, principal, name, sent, files, if_match)
    columns = [
        ImportedColumnResponse(
            test_set=each.test_set,
            name=each.name,
            version=each.version,
            level=each.level,
            higher_is_better=each.higher_is_better,
            systems=each.systems,
            new=each.new,
        )
        for each in found.columns
    ]
    if preview:
        response.status_code = 200
    return ScoresImportedResponse(stored=not preview, columns=columns, notices=found.notices)


@router.post("/campaigns/{name}/scores/{title}/choose", status_code=204)
def choose_imported_scores(
    request: Request,
    name: str,
    title: str,
    principal: CurrentPrincipal,
    test_set: str = "",
    if_match: IfMatch = None,
) -> Response:
    """Show a version, NAME@VERSION, on the leaderboards instead of the others of its metric. For organisers."""
    state = app_state(request)
    with writing(state.engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        choose_version(connection, state.settings, access, title, test_set)
    reduce_now(state.engine, state.settings, name)
    return Response(status_code=204)


@router.delete("/campaigns/{name}/scores/{title}", status_code=204)
def delete_imported_scores(
    request: Request,
    name: str,
    title: str,
    principal: CurrentPrincipal,
    test_set: str = "",
    if_match: IfMatch = None,
) -> Response:
    """Delete a version, NAME@VERSION, or all versions of a metric, NAME, with its column. For organisers."""
    state = app_state(request)
    with writing(state.engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        delete_version(connection, state.settings, access, title, test_set)
    reduce_now(state.engine, state.settings, name)
    return Response(status_code=204)


@router.put("/campaigns/{name}/autorank")
def rank_campaign_by_autorank(
    request: Request, name: str, new: AutoRankUpdate, principal: CurrentPrincipal, if_match: IfMatch = None
) -> AutoRankResponse:
    """Rank a campaign by AutoRank, with a column of it on the leaderboards of its test sets. For organisers."""
    state = app_state(request)
    with writing(state.engine) as connection:
        access = lock_for_change(connection, principal, name, if_match)
        ranked_by = rank_by_autorank(
            connection, state.settings, access, rule=new.rule, metrics=new.metrics, weights=new.weights
        )
        columns = autoranks_of(connection, access)
    reduce_now(state.engine, state.settings, name)
    return AutoRankResponse(ranked_by=ranked_by, columns=columns)


def _response(version: ImportedVersion) -> ImportedScoresResponse:
    return ImportedScoresResponse(
        test_set=version.test_set,
        name=version.name,
        version=version.version,
        shown=version.shown,
        level=version.level,
        higher_is_better=version.higher_is_better,
        systems=version.systems,
        sha256=version.sha256,
        files=[ScoreFileResponse(name=each.name, sha256=each.sha256) for each in version.files],
        notices=list(version.notices),
        imported_by=version.actor,
        created_at=utc(version.at),
    )
