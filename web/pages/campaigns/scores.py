"""Imported scores of a campaign: versions and where they came from; for organisers import, choice and AutoRank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from campaigns.changes import lock_for_change, require_organiser
from campaigns.errors import BadRequest, CampaignsError, Forbidden
from campaigns.permissions import read_access
from campaigns.score_imports.autorank import autoranks_of, rank_by_autorank
from campaigns.score_imports.importing import ImportResult
from campaigns.score_imports.reductions import reduce_now
from campaigns.score_imports.versions import choose_version, delete_version, list_versions
from campaigns.test_sets.stored import list_campaign_test_sets
from models.database.session import reading, writing
from steelyard.errors import MetricsError
from steelyard.ranking.metric_lists import parse_metric_lists
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page, part_of_address
from web.uploads.large_bodies import accepts_upload
from web.uploads.scores import SentScores, import_sent_scores

router = APIRouter()

WEIGHTS = "Weights are numbers with blanks between them."
BLANK = dict.fromkeys(("test_set", "pairs", "metric", "lower_is_better", "create", "metrics", "weights"), "")
"""The fields of the forms as they are at first."""


@router.get("/campaigns/{name}/scores")
def show_scores(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show all versions of imported scores."""
    return _page(request, name, principal)


@router.post("/campaigns/{name}/scores")
@accepts_upload
async def import_scores(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    files: Annotated[list[UploadFile], File()],
    test_set: Annotated[str, Form(max_length=250)] = "",
    pairs: Annotated[str, Form(max_length=2000)] = "",
    metric: Annotated[str, Form(max_length=250)] = "",
    lower_is_better: Annotated[str, Form(max_length=2000)] = "",
    create: Annotated[str, Form(max_length=10)] = "",
    do: Annotated[str, Form(max_length=10)] = "add",
) -> Response:
    """Import scores, and show what came in; with `do=preview` only show what would."""
    state = app_state(request)
    await run_in_threadpool(require_organiser, state.engine, principal, name)
    preview = do == "preview"
    given = {"test_set": test_set, "pairs": pairs, "metric": metric, "lower_is_better": lower_is_better}
    given |= {"create": create}
    sent = SentScores(test_set, pairs.split(), metric.strip(), lower_is_better.split(), bool(create), preview)
    try:
        found = await import_sent_scores(state, principal, name, sent, files)
    except CampaignsError as error:
        if error.status not in (400, 409, 413, 422):
            raise
        return await run_in_threadpool(_page, request, name, principal, error=error, given=given)
    # What was only looked at is sent again as it was.
    kept = given if preview else None
    return await run_in_threadpool(_page, request, name, principal, found=found, preview=preview, given=kept)


@router.post("/campaigns/{name}/scores/change")
def change_scores(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    do: Annotated[str, Form(max_length=10)],
    title: Annotated[str, Form(max_length=250)],
    test_set: Annotated[str, Form(max_length=250)],
    sure: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Choose or delete a version."""
    state = app_state(request)
    if do == "delete" and not sure:
        raise BadRequest("Tick the box to confirm: the scores are deleted for everybody.")
    with writing(state.engine) as connection:
        access = lock_for_change(connection, principal, name)
        change = delete_version if do == "delete" else choose_version
        change(connection, state.settings, access, title, test_set)
    reduce_now(state.engine, state.settings, name)
    return RedirectResponse(f"/campaigns/{part_of_address(name)}/scores", 303)


@router.post("/campaigns/{name}/autorank")
def rank_campaign(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    rule: Annotated[str, Form(max_length=20)] = "",
    metrics: Annotated[str, Form(max_length=5000)] = "",
    weights: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """Rank by AutoRank of all metrics, or of those that are given, a line each, which may name its test set."""
    state = app_state(request)
    given = {"rule": rule, "metrics": metrics, "weights": weights}
    try:
        numbers = [float(each) for each in weights.split()]
    except ValueError:
        return _page(request, name, principal, error=BadRequest(WEIGHTS), given=given)
    try:
        lists = parse_metric_lists(metrics.splitlines(), "Metrics", for_all=True)
        chosen = {test_set: each.names for test_set, each in lists.items()}
        weighed = {test_set: each.weights for test_set, each in lists.items()} | ({"": numbers} if numbers else {})
        with writing(state.engine) as connection:
            access = lock_for_change(connection, principal, name)
            rank_by_autorank(connection, state.settings, access, rule=rule, metrics=chosen, weights=weighed)
    except MetricsError as error:
        return _page(request, name, principal, error=BadRequest(str(error)), given=given)
    reduce_now(state.engine, state.settings, name)
    return RedirectResponse(f"/campaigns/{part_of_address(name)}/leaderboard", 303)


def _page(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    *,
    found: ImportResult | None = None,
    preview: bool = False,
    error: CampaignsError | None = None,
    given: Mapping[str, str] | None = None,
) -> Response:
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        if not access.sees_board:
            raise Forbidden("Scores of all systems are not shown in this phase.")
        versions = list_versions(connection, access)
        autoranks = autoranks_of(connection, access)
        test_sets = list_campaign_test_sets(connection, access)
    return page(
        request,
        "campaigns/scores",
        status=error.status if error else 200,
        title="Imported scores",
        access=access,
        here="scores",
        versions=versions,
        autoranks=autoranks,
        test_sets=[(each.title, each.title) for each in test_sets if each.replaced_by is None],
        found=found,
        preview=preview,
        error=error,
        given={**BLANK, "rule": "wmt25", **(given or {})},
    )
