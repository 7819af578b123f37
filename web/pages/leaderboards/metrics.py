"""Correlation of the metrics of a campaign with human judgments and with each other."""

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
from campaigns.checks.equality import find_equals, told_once
from campaigns.errors import BadRequest, CampaignsError
from campaigns.inspection.judgments import AddedJudgments, remove_judgments, rename_judgments
from campaigns.inspection.metrics_and_human import MAX_LEFT_OUT, MetricsView, columns, read_metrics, shown_names
from campaigns.inspection.visible import NoTestSet
from campaigns.permissions import CampaignAccess, read_access
from campaigns.reports.limits import SCATTER_SYSTEMS
from models.database.session import reading, writing
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page, part_of_address
from web.uploads.judgments import JudgmentsForm, add_judgments
from web.uploads.large_bodies import accepts_upload

router = APIRouter()

CHANGES = ("stored", "renamed", "deleted")
"""What can have been done with human scores before the page is shown."""
TIMEOUT_SECONDS = 1.5
"""Seconds that the page waits for each of two computations."""


@router.get("/campaigns/{name}/metrics")
def show_metrics(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    test_set: str = "",
    references: str = "",
    human: str = "",
    done: str = "",
    which: str = "",
    without: Annotated[list[int], Query(max_length=MAX_LEFT_OUT)] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """Show tables and charts for one test set."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
    changed = (which[:300], done) if done in CHANGES else None
    return _page(request, access, test_set, references, human, changed=changed, without=without)


@router.post("/campaigns/{name}/metrics")
@accepts_upload
async def add_human_scores(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    files: Annotated[list[UploadFile], File()],
    test_set: Annotated[str, Form()],
    called: Annotated[str, Form()] = "",
    rename: Annotated[str, Form()] = "",
    do: Annotated[str, Form()] = "add",
) -> Response:
    """Upload human scores, or see what would be stored."""
    state = app_state(request)
    access = await run_in_threadpool(require_organiser, state.engine, principal, name)
    try:
        form = JudgmentsForm(test_set, called, rename=[rename], preview=do == "preview")
        added = await add_judgments(state, access, form, files)
    except CampaignsError as error:
        if error.status not in (413, 422):
            raise
        return await run_in_threadpool(_page, request, access, test_set, error=error, called=called, rename=rename)
    if added.preview:
        return await run_in_threadpool(_page, request, access, test_set, called=called, rename=rename, preview=added)
    kept = added.ingested.stored
    address = f"/campaigns/{part_of_address(name)}/metrics"
    chosen = f"test_set={part_of_address(test_set)}&human={part_of_address(kept.name)}"
    # The form leads to its own place, where what is wrong is said; that something is stored is said at the top.
    return RedirectResponse(f"{address}?{chosen}&done=stored&which={part_of_address(kept.title)}#content", 303)


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
        raise BadRequest("Tick the box to confirm: the scores are deleted for everybody.")
    with writing(app_state(request).engine) as connection:
        remove_judgments(connection, read_access(connection, principal, name), test_set, title)
    chosen = f"test_set={part_of_address(test_set)}&done=deleted&which={part_of_address(title)}"
    return RedirectResponse(f"/campaigns/{part_of_address(name)}/metrics?{chosen}", 303)


@router.post("/campaigns/{name}/metrics/rename")
def rename_human_scores(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    test_set: Annotated[str, Form()],
    title: Annotated[str, Form()],
    new_name: Annotated[str, Form()],
) -> Response:
    """Give human scores another name."""
    with writing(app_state(request).engine) as connection:
        rename_judgments(connection, read_access(connection, principal, name), test_set, title, new_name.strip())
    called = part_of_address(new_name.strip())
    chosen = f"test_set={part_of_address(test_set)}&human={called}&done=renamed&which={called}"
    return RedirectResponse(f"/campaigns/{part_of_address(name)}/metrics?{chosen}", 303)


def _page(
    request: Request,
    access: CampaignAccess,
    test_set: str = "",
    references: str = "",
    human: str = "",
    *,
    changed: tuple[str, str] | None = None,
    error: CampaignsError | None = None,
    called: str = "",
    rename: str = "",
    preview: AddedJudgments | None = None,
    without: Sequence[int] = (),
) -> Response:
    state = app_state(request)
    try:
        view = read_metrics(state.boards, access, test_set, references, human, without)
    except NoTestSet as none:
        return page(request, "campaigns/no_test_set", title="Metrics", access=access, here="metrics", why=str(none))
    board, judged = view.board, view.judged
    all_names = shown_names(access, view.systems)
    names = shown_names(access, board.rows) if board and view.left_out else all_names
    # One thread computes, in order of requests; a page waits briefly and then shows what is ready.
    tables = state.metrics.tables(judged, TIMEOUT_SECONDS) if judged else []
    scored = board is not None and any(row.scores for row in board.rows)
    scatters = state.metrics.scatters(board, judged, names, TIMEOUT_SECONDS) if board and scored else Markup("")
    # Only organisers see how single annotators judge.
    described = None
    if access.organises and view.chosen:
        described = state.metrics.annotation(state.engine, view.chosen, TIMEOUT_SECONDS)
    return page(
        request,
        "leaderboards/metrics",
        most_listed=SCATTER_SYSTEMS,
        status=error.status if error else 200,
        title="Metrics",
        access=access,
        here="metrics",
        view=view,
        systems=_systems(access, view, all_names),
        # The names under which systems were judged would reveal anonymous teams.
        tables=[(each, columns(each), explanations(each, name_systems=access.sees_names)) for each in tables or ()],
        scatters=scatters or "",
        computing=tables is None or scatters is None,
        described=described,
        changed=changed,
        error=error,
        called=called,
        rename=rename,
        preview=preview,
    )


@dataclass(frozen=True, slots=True)
class ExcludableSystem:
    """A system that can be excluded."""

    submission: int
    name: str
    left_out: bool
    equal: bool
    """Whether its output is that of another one, or a reference."""
    findings: Sequence[str]
    """What its output is equal to, unless another one that it equals says so. For organisers only."""
    is_reference: bool
    """Whether that is a reference."""


def _systems(access: CampaignAccess, view: MetricsView, names: Sequence[str]) -> list[ExcludableSystem]:
    """Return the systems that can be excluded, which requires an account; of many the first ones.

    Those that are left out, and those that equal another one or a reference, come before them.
    """
    if not access.principal.signed_in:
        return []
    systems: list[ExcludableSystem] = []
    told = told_once(view.equals)
    for row, name in zip(view.systems, names, strict=True):
        submission, equals = row.submissions[0], [view.equals[each] for each in row.submissions if each in view.equals]
        left_out, listed = submission in view.left_out, len(systems) < SCATTER_SYSTEMS
        if left_out or equals or listed:
            first = [told[each] for each in row.submissions if each in told]
            findings = {finding.message: finding.code for each in first for finding in find_equals(each)}
            is_reference = "same_as_reference" in findings.values()
            systems.append(ExcludableSystem(submission, name, left_out, bool(equals), list(findings), is_reference))
    if len(view.systems) > SCATTER_SYSTEMS:
        systems.sort(key=lambda each: (not each.left_out, not each.equal))
    return systems
