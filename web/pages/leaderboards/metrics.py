"""Metrics of a campaign against people and against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, File, Form, Query, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse
from markupsafe import Markup

from analysis.meta_evaluation.correlation_text import explanations
from campaigns.changes import require_organiser
from campaigns.checks.equality import find_equals
from campaigns.errors import BadRequest, CampaignsError
from campaigns.inspection.judgments import remove_judgments
from campaigns.inspection.metrics_and_human import MAX_LEFT_OUT, MetricsView, columns, read_metrics, shown_names
from campaigns.inspection.visible import NoTestSet
from campaigns.permissions import CampaignAccess, read_access
from models.database.session import reading, writing
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page, part_of_address
from web.uploads.judgments import add_judgments
from web.uploads.large_bodies import accepts_upload

router = APIRouter()

PATIENCE = 1.5
"""Seconds that a page waits for each of two computations."""


@router.get("/campaigns/{name}/metrics")
def show_metrics(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    test_set: str = "",
    references: str = "",
    human: str = "",
    stored: str = "",
    without: Annotated[list[int], Query(max_length=MAX_LEFT_OUT)] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """Tables and charts for one test set."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
    return _shown(request, access, test_set, references, human, stored=stored[:300], without=without)


@router.post("/campaigns/{name}/metrics")
@accepts_upload
async def take_human_scores(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    files: Annotated[list[UploadFile], File()],
    test_set: Annotated[str, Form()],
    called: Annotated[str, Form()] = "",
) -> Response:
    """Human scores from a form."""
    state = app_state(request)
    access = await run_in_threadpool(require_organiser, state.engine, principal, name)
    try:
        _, kept, _ = await add_judgments(state, access, test_set, called, files)
    except CampaignsError as error:
        if error.status not in (413, 422):
            raise
        return await run_in_threadpool(_shown, request, access, test_set, error=error, called=called)
    address = f"/campaigns/{part_of_address(name)}/metrics"
    chosen = f"test_set={part_of_address(test_set)}&human={part_of_address(kept.name)}"
    return RedirectResponse(f"{address}?{chosen}&stored={part_of_address(kept.title)}", 303)


@router.post("/campaigns/{name}/metrics/delete")
def delete_human_scores(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    test_set: Annotated[str, Form()],
    title: Annotated[str, Form()],
    sure: Annotated[str, Form()] = "",
) -> Response:
    """Delete human scores."""
    if not sure:
        raise BadRequest("Tick the box to say that you are sure: they are gone for everybody.")
    with writing(app_state(request).engine) as connection:
        remove_judgments(connection, read_access(connection, principal, name), test_set, title)
    return RedirectResponse(f"/campaigns/{part_of_address(name)}/metrics?test_set={part_of_address(test_set)}", 303)


def _shown(
    request: Request,
    access: CampaignAccess,
    test_set: str = "",
    references: str = "",
    human: str = "",
    *,
    stored: str = "",
    error: CampaignsError | None = None,
    called: str = "",
    without: Sequence[int] = (),
) -> Response:
    state = app_state(request)
    try:
        seen = read_metrics(state.engine, access, test_set, references, human, without)
    except NoTestSet as none:
        return page(request, "campaigns/no_test_set", title="Metrics", access=access, here="metrics", why=str(none))
    board, judged = seen.board, seen.judged
    names = shown_names(access, board.rows) if board else []
    # First come first served, in one thread: whoever asks first waits a little, and then sees what there is so far.
    tables = state.metrics.tables(judged, PATIENCE) if judged else []
    scored = board is not None and any(row.scores for row in board.rows)
    scatters = state.metrics.scatters(board, judged, names, PATIENCE) if board and scored else Markup("")
    return page(
        request,
        "leaderboards/metrics",
        status=error.status if error else 200,
        title="Metrics",
        access=access,
        here="metrics",
        seen=seen,
        systems=_systems(access, seen),
        # Who was judged under which name would tell who an anonymous team is.
        tables=[
            (each, columns(each), [said for said in explanations(each) if access.sees_names or "Left out" not in said])
            for each in tables or ()
        ],
        scatters=scatters or "",
        making=tables is None or scatters is None,
        stored=stored,
        error=error,
        called=called,
    )


@dataclass(frozen=True, slots=True)
class Tick:
    """A system that can be left out."""

    submission: int
    name: str
    left_out: bool
    findings: Sequence[str]
    """What its output is equal to; for organisers alone."""


def _systems(access: CampaignAccess, seen: MetricsView) -> list[Tick]:
    """Whoever has an account may leave systems out."""
    if not access.principal.signed_in:
        return []
    ticks = []
    for row, name in zip(seen.systems, shown_names(access, seen.systems), strict=True):
        equals = [seen.equals[each] for each in row.submissions if each in seen.equals]
        findings = dict.fromkeys(finding.message for each in equals for finding in find_equals(each))
        submission = row.submissions[0]
        ticks.append(Tick(submission, name, submission in seen.left_out, list(findings)))
    return ticks
