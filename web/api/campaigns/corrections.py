"""Corrections of references, and their effect on scores and ranks."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, UploadFile
from fastapi.concurrency import run_in_threadpool

from campaigns.changes import lock_for_change, require_organiser
from campaigns.corrections.comparison import compare_correction
from campaigns.corrections.corrections import (
    CorrectionInfo,
    correct_test_set,
    count_open_evaluations,
    find_correction,
    list_corrections,
)
from campaigns.errors import Forbidden
from campaigns.permissions import read_access
from campaigns.test_sets.files import NamedContent
from campaigns.test_sets.stored import find_campaign_test_set
from models.database.session import reading, writing
from steelyard_client.documents.campaigns.corrections import (
    CorrectedMetric,
    CorrectedSystem,
    CorrectionDetailsResponse,
    CorrectionResponse,
)
from steelyard_client.documents.document import utc
from steelyard_client.documents.paging import Page
from web.api.campaigns.campaigns import IfMatch
from web.api.paging import After, Limit, make_page, parse_cursor
from web.dependencies import CurrentPrincipal, app_state
from web.uploads.large_bodies import accepts_upload
from web.uploads.test_sets import read_sent_correction

router = APIRouter(tags=["corrections"])


@router.get("/campaigns/{name}/corrections", name="list_corrections")
def list_campaign_corrections(
    request: Request, name: str, principal: CurrentPrincipal, limit: Limit = 50, after: After = ""
) -> Page[CorrectionResponse]:
    """List the corrections of a campaign, newest first."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        corrections = list_corrections(connection, access, before=parse_cursor(after), limit=limit + 1)
    return Page(**make_page(corrections, limit, lambda each: CorrectionResponse(**_values(each))))


@router.post("/campaigns/{name}/corrections", status_code=201)
@accepts_upload
async def create_correction(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    test_set: Annotated[int, Form()],
    reason: Annotated[str, Form(max_length=2000)],
    references: Annotated[list[UploadFile], File()],
    if_match: IfMatch = None,
) -> CorrectionDetailsResponse:
    """Replace references of a test set: each file is named like the reference that it corrects, `A.txt`.

    The test set gets a new version, and every standing submission is evaluated on it. All or nothing.
    """
    state = app_state(request)
    await run_in_threadpool(require_organiser, state.engine, principal, name)
    files = [NamedContent(each.filename or "file", await each.read()) for each in references]
    texts = await read_sent_correction(state, principal, name, test_set, files)

    def store() -> CorrectionDetailsResponse:
        with writing(state.engine) as connection:
            access = lock_for_change(connection, principal, name, if_match)
            known = find_campaign_test_set(connection, access, test_set)
            number = correct_test_set(connection, state.settings, access, known, texts, reason)
        with reading(state.engine) as connection:
            access = read_access(connection, principal, name)
            correction = find_correction(connection, access, number)
            left = count_open_evaluations(connection, access.campaign_id, correction.new_test_set_id)
        return CorrectionDetailsResponse(**_values(correction), open_evaluations=left, metrics=[])

    return await run_in_threadpool(store)


@router.get("/campaigns/{name}/corrections/{correction}")
def read_correction(
    request: Request, name: str, correction: int, principal: CurrentPrincipal
) -> CorrectionDetailsResponse:
    """Read a correction: scores and ranks of every system before and after. Requires access to the leaderboard."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        known = find_correction(connection, access, correction)
        if not access.sees_board:
            raise Forbidden("The scores of this campaign are not shown now.")
        left = count_open_evaluations(connection, access.campaign_id, known.new_test_set_id)
        compared = compare_correction(connection, access, known)
    return CorrectionDetailsResponse(
        **_values(known),
        open_evaluations=left,
        metrics=[
            CorrectedMetric(
                references=list(each.references),
                metric=each.specification,
                title=each.title,
                higher_is_better=each.higher_is_better,
                systems=[
                    CorrectedSystem(
                        team=access.name_of(row.team),
                        system=access.system_name_of(row.team, row.system),
                        old=row.old,
                        new=row.new,
                        difference=row.difference,
                        ranked=row.ranked,
                        old_rank=row.old_rank,
                        new_rank=row.new_rank,
                        risen=row.risen,
                    )
                    for row in each.rows
                ],
            )
            for each in compared
        ],
    )


def _values(correction: CorrectionInfo) -> dict[str, Any]:
    return {
        "id": correction.id,
        "test_set": correction.test_set,
        "old_test_set": correction.old_test_set_id,
        "new_test_set": correction.new_test_set_id,
        "old_version": correction.old_version,
        "new_version": correction.new_version,
        "reason": correction.reason,
        "made_at": utc(correction.made_at),
    }
