"""Corrected references: what they change."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Request, UploadFile
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel

from campaigns.changes import require_organiser, to_change
from campaigns.corrections import KnownCorrection, compare, correct, count_open, find_correction, list_corrections
from campaigns.errors import Forbidden
from campaigns.permissions import read_sight
from campaigns.test_sets import GivenFile, find_campaign_test_set
from models.database.session import reading, writing
from web.api.campaigns import IfMatch
from web.api.paging import After, Limit, Paged, id_after, in_pages
from web.dependencies import Asking, state_of
from web.uploads.large_bodies import takes_upload
from web.uploads.test_sets import read_sent_correction

router = APIRouter(tags=["corrections"])


class ShownCorrection(BaseModel):
    """A test set that was replaced by one with corrected references."""

    id: int
    test_set: str
    old_test_set: int
    new_test_set: int
    old_version: str
    new_version: str
    reason: str
    made_at: float


class ComparedSystem(BaseModel):
    """A system before the correction and after it."""

    team: str
    system: str
    old: float | None
    new: float | None
    difference: float | None
    ranked: bool
    """By the rule of the leaderboard, now; before the correction ranks are those among the same systems."""
    old_rank: int | None
    new_rank: int | None
    risen: int | None
    """Ranks won (positive) or lost."""


class Compared(BaseModel):
    """A metric against a list of references before the correction and after it."""

    references: list[str]
    metric: str
    title: str
    higher_is_better: bool
    systems: list[ComparedSystem]


class CorrectionInFull(ShownCorrection):
    """A correction with what it has changed."""

    open_evaluations: int
    """How many are still to be done on the new test set."""
    metrics: list[Compared]


@router.get("/campaigns/{name}/corrections")
def list_campaign_corrections(
    request: Request, name: str, principal: Asking, limit: Limit = 50, after: After = ""
) -> Paged[ShownCorrection]:
    """The corrections of a campaign, the newest first."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        corrections = list_corrections(connection, sight, before=id_after(after), limit=limit + 1)
    return Paged(**in_pages(corrections, limit, lambda each: ShownCorrection(**_values(each))))


@router.post("/campaigns/{name}/corrections", status_code=201)
@takes_upload
async def upload_correction(
    request: Request,
    name: str,
    principal: Asking,
    test_set: Annotated[int, Form()],
    reason: Annotated[str, Form(max_length=2000)],
    references: Annotated[list[UploadFile], File()],
    if_match: IfMatch = None,
) -> CorrectionInFull:
    """Replace references of a test set: each file is named like the reference that it corrects, `A.txt`.

    The test set gets a new version, and everything that stands on the old one is measured on the new one. All of it is
    done, or nothing.
    """
    state = state_of(request)
    await run_in_threadpool(require_organiser, state.engine, principal, name)
    files = [GivenFile(each.filename or "file", await each.read()) for each in references]
    texts = await read_sent_correction(state, principal, name, test_set, files)

    def store() -> CorrectionInFull:
        with writing(state.engine) as connection:
            sight = to_change(connection, principal, name, if_match)
            known = find_campaign_test_set(connection, sight, test_set)
            number = correct(connection, state.settings, sight, known, texts, reason)
        with reading(state.engine) as connection:
            sight = read_sight(connection, principal, name)
            correction = find_correction(connection, sight, number)
            left = count_open(connection, sight.campaign_id, correction.new_test_set_id)
        return CorrectionInFull(**_values(correction), open_evaluations=left, metrics=[])

    return await run_in_threadpool(store)


@router.get("/campaigns/{name}/corrections/{correction}")
def read_correction(request: Request, name: str, correction: int, principal: Asking) -> CorrectionInFull:
    """What a correction has changed: scores and ranks of every system before and after. Where scores may be seen."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        known = find_correction(connection, sight, correction)
        if not sight.sees_board:
            raise Forbidden("The scores of this campaign may not be seen now.")
        left = count_open(connection, sight.campaign_id, known.new_test_set_id)
        compared = compare(connection, sight, known)
    return CorrectionInFull(
        **_values(known),
        open_evaluations=left,
        metrics=[
            Compared(
                references=list(each.references),
                metric=each.specification,
                title=each.title,
                higher_is_better=each.higher_is_better,
                systems=[
                    ComparedSystem(
                        team=sight.name_of(row.team),
                        system=sight.system_name_of(row.team, row.system),
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


def _values(correction: KnownCorrection) -> dict[str, Any]:
    return {
        "id": correction.id,
        "test_set": correction.test_set,
        "old_test_set": correction.old_test_set_id,
        "new_test_set": correction.new_test_set_id,
        "old_version": correction.old_version,
        "new_version": correction.new_version,
        "reason": correction.reason,
        "made_at": correction.made_at,
    }
