"""Human judgments, and the correlation of metrics with them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool

from analysis.meta_evaluation.correlation_json import correlation_object
from campaigns.changes import require_organiser
from campaigns.errors import Forbidden, NotFound
from campaigns.inspection.judgments import remove_judgments
from campaigns.inspection.metrics_and_human import MAX_LEFT_OUT, read_metrics
from campaigns.inspection.visible import NoTestSet, visible_test_sets
from campaigns.permissions import read_access
from models.corpus.judgments import StoredJudgments, list_judgments_of
from models.database.session import reading, writing
from steelyard_client.documents.document import utc
from steelyard_client.documents.judgments import CorrelationsResponse, HumanScoresCreatedResponse, HumanScoresResponse
from steelyard_client.documents.paging import Page
from web.api.paging import After, Limit, slice_page
from web.dependencies import CurrentPrincipal, app_state
from web.uploads.judgments import add_judgments
from web.uploads.large_bodies import accepts_upload

router = APIRouter(tags=["human scores"])


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
    found = [_human_scores_response(test_set.title, each) for test_set in test_sets for each in stored[test_set.id]]
    items, following = slice_page(found, limit, after)
    return Page(items=list(items), next=following)


@router.post("/campaigns/{name}/human-scores", status_code=201)
@accepts_upload
async def add_human_scores(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    files: Annotated[list[UploadFile], File()],
    test_set: Annotated[str, Form()] = "",
    called: Annotated[str, Form()] = "",
) -> HumanScoresCreatedResponse:
    """Add human judgments: one or more tables in the formats of `steelyard human import` (docs/how-to/human.md).

    Identical content under the same name is stored once; other content becomes the next version. If there are
    submissions and none of their systems was judged, nothing is stored.
    """
    state = app_state(request)
    access = await run_in_threadpool(require_organiser, state.engine, principal, name)
    title, stored, matched = await add_judgments(state, access, test_set, called, files)
    return HumanScoresCreatedResponse(
        **_human_scores_response(title, stored).model_dump(),
        matched=list(matched.systems),
        unknown=list(matched.unknown),
        not_judged=list(matched.not_judged),
    )


@router.delete("/campaigns/{name}/human-scores/{title}", status_code=204)
def delete_human_scores(
    request: Request, name: str, title: str, principal: CurrentPrincipal, test_set: str = ""
) -> Response:
    """Delete one version of human judgments, NAME@VERSION. For organisers."""
    with writing(app_state(request).engine) as connection:
        remove_judgments(connection, read_access(connection, principal, name), test_set, title)
    return Response(status_code=204)


@router.get("/campaigns/{name}/correlations")
def read_correlations(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    test_set: str = "",
    references: str = "",
    human: str = "",
    without: Annotated[
        list[int], Query(max_length=MAX_LEFT_OUT, description="Submission numbers of systems to leave out.")
    ] = [],  # noqa: B006 - FastAPI copies it
) -> CorrelationsResponse:
    """Read correlations of metrics with human judgments, with intervals and tests of each metric against the best.

    `without` leaves systems out, such as an output that equals a reference; it requires an account.
    """
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
    try:
        seen = read_metrics(state.engine, access, test_set, references, human, without)
    except NoTestSet:
        if test_set or references or human or without:
            raise
        return CorrelationsResponse(test_set=None, references=[], human=None, tables=[])
    ranked = {submission for row in seen.systems for submission in row.submissions}
    if unknown := sorted(set(without) - ranked):
        raise NotFound(f"Submission {unknown[0]} is not on this leaderboard, so it cannot be left out.")
    computed = (state.metrics.tables(seen.judged) if seen.judged else None) or []
    tables = [correlation_object(each) for each in computed]
    if not access.sees_names:
        for table in tables:
            # The name under which a system was judged would identify an anonymous team.
            del table["left_out"], table["systems"]
    return CorrelationsResponse(
        test_set=seen.test_set.title,
        references=list(seen.board.listed.references) if seen.board else [],
        human=seen.judged.human.title if seen.judged else None,
        tables=tables,
    )


def _human_scores_response(test_set: str, stored: StoredJudgments) -> HumanScoresResponse:
    return HumanScoresResponse(
        test_set=test_set,
        name=stored.name,
        version=stored.version,
        kind=stored.kind,
        method=dict(stored.method),
        created_at=utc(stored.created_at),
    )
