"""Submissions of the user's teams: the list of a campaign, and the page of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Path, Query, Request, Response

from campaigns.declarations import DeclarationUpdate, declare_submission, reinstate, why_locked, withdraw
from campaigns.errors import CampaignsError, Conflict, Forbidden
from campaigns.leaderboards.choice import find_metric, read_choices
from campaigns.leaderboards.feedback import read_feedback
from campaigns.leaderboards.view import BoardQuery, Boards
from campaigns.permissions import CampaignAccess, read_access
from campaigns.submissions.evaluation_actions import cancel_open_evaluations, retry_evaluations
from campaigns.submissions.failed_metrics import failed_metrics
from campaigns.submissions.history import read_history
from campaigns.submissions.test_sets import offered_test_sets
from campaigns.submissions.views import (
    SubmissionQuery,
    SubmissionView,
    across_corrections,
    earlier_of_system,
    find_submission,
    list_submissions,
)
from models.database.session import reading, writing
from models.schema.roles import DeclaredKind, Scope
from web.dependencies import CurrentPrincipal, app_state
from web.pages.leaderboards.leaderboard import Links
from web.pages.rendering import page, part_of_address, see_other
from web.pages.submissions.scores import column_of, headline, score_table
from web.pages.submissions.submit import CONSTRAINED, KINDS
from web.stored_output import output_response

if TYPE_CHECKING:
    from sqlalchemy import Connection

router = APIRouter()

PAGE = 50
FILTERS = (
    ("", "all"),
    ("primary", "primary"),
    ("contrastive", "contrastive"),
    ("late", "late"),
    ("withdrawn", "withdrawn"),
)
Number = Annotated[int, Path(ge=1, lt=2**63)]


@router.get("/campaigns/{name}/submissions")
def show_list(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    team: str = "",
    test_set: str = "",
    kind: str = "",
    after: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
) -> Response:
    """List the submissions of the user's teams; organisers see all."""
    principal.require(Scope.READ)
    state = app_state(request)
    with reading(state.engine) as connection:
        access = read_access(connection, principal, name)
        if not access.own_teams and not access.organises:
            raise Forbidden("None of your teams participates in this campaign.")
        query = SubmissionQuery(
            team=team, test_set=test_set, kind=kind if (kind, kind) in FILTERS else "", after=after, limit=PAGE
        )
        listed = list_submissions(connection, access, query, state.settings.silent_seconds)
        test_sets = offered_test_sets(connection, access)
    told = read_feedback(state.engine, access, [each.id for each in listed.items], intervals=False)
    score_column, scores = column_of(
        {number: headline(feedback, access.ranked_by) for number, feedback in told.items()}
    )
    address = f"/campaigns/{part_of_address(name)}/submissions"
    kept = {key: value for key, value in (("team", team), ("test_set", test_set), ("kind", query.kind)) if value}
    following = f"{address}?{urlencode({**kept, 'after': listed.next})}" if listed.next is not None else ""
    return page(
        request,
        "submissions/submissions",
        title="Submissions",
        access=access,
        here="submissions",
        address=address,
        listed=listed,
        query=query,
        teams=sorted(access.teams) if access.organises else access.own_teams,
        test_sets=test_sets,
        filters=FILTERS,
        first=f"{address}?{urlencode(kept)}" if after is not None else "",
        following=following,
        score_column=score_column,
        scores=scores,
    )


@router.get("/submissions/{submission}")
def show_submission(request: Request, principal: CurrentPrincipal, submission: Number, saved: str = "") -> Response:
    """Show progress, scores, findings and declaration of a submission."""
    return _page(request, principal, submission, saved=saved)


@router.post("/submissions/{submission}/declaration")
def send_declaration(
    request: Request,
    principal: CurrentPrincipal,
    submission: Number,
    kind: Annotated[str, Form(max_length=20)] = "",
    constrained: Annotated[str, Form(max_length=20)] = "",
    description: Annotated[str, Form()] = "",
) -> Response:
    """Change the declaration."""
    try:
        update = DeclarationUpdate(
            kind=DeclaredKind(kind if kind in set(DeclaredKind) else ""),
            constrained={"true": True, "false": False}.get(constrained),
            unsaid=constrained not in ("true", "false"),
            description=description,
        )
        with writing(app_state(request).engine) as connection:
            declare_submission(connection, principal, submission, update)
    except CampaignsError as error:
        given = {"kind": kind, "constrained": constrained, "description": description}
        return _page(request, principal, submission, error=error, given=given)
    return see_other(f"/submissions/{submission}?saved=declared#declaration")


@router.post("/submissions/{submission}/withdraw")
def send_withdrawal(request: Request, principal: CurrentPrincipal, submission: Number) -> Response:
    """Withdraw the submission."""
    try:
        with writing(app_state(request).engine) as connection:
            withdraw(connection, principal, submission)
    except CampaignsError as error:
        return _page(request, principal, submission, error=error)
    return see_other(f"/submissions/{submission}?saved=withdrawn")


@router.post("/submissions/{submission}/reinstate")
def send_reinstatement(request: Request, principal: CurrentPrincipal, submission: Number) -> Response:
    """Undo the withdrawal."""
    state = app_state(request)
    try:
        with writing(state.engine) as connection:
            reinstate(connection, state.settings, principal, submission)
    except CampaignsError as error:
        return _page(request, principal, submission, error=error)
    return see_other(f"/submissions/{submission}?saved=reinstated")


@router.post("/submissions/{submission}/cancel")
def send_cancellation(
    request: Request,
    principal: CurrentPrincipal,
    submission: Number,
    reason: Annotated[str, Form()] = "",
    counts: Annotated[str, Form()] = "",
) -> Response:
    """Cancel its open evaluations. For organisers."""
    state = app_state(request)
    try:
        with writing(state.engine, durable=True) as connection:
            access, view = find_submission(connection, principal, submission, state.settings.silent_seconds)
            numbers = [each.id for each in view.evaluations]
            cancel_open_evaluations(
                connection, access, numbers, f"submission {submission}", reason=reason.strip(), counts=counts == "yes"
            )
    except Conflict as error:
        return _page(request, principal, submission, error=error)
    return see_other(f"/submissions/{submission}")


@router.post("/submissions/{submission}/retry")
def send_retry(request: Request, principal: CurrentPrincipal, submission: Number) -> Response:
    """Retry its evaluations that failed, were cancelled or lack a metric that failed. For organisers."""
    state = app_state(request)
    try:
        with writing(state.engine, durable=True) as connection:
            access, view = find_submission(connection, principal, submission, state.settings.silent_seconds)
            retry_evaluations(
                connection, state.settings, access, [each.id for each in view.evaluations], f"submission {submission}"
            )
    except Conflict as error:
        return _page(request, principal, submission, error=error)
    return see_other(f"/submissions/{submission}")


@router.get("/submissions/{submission}/output")
def download(request: Request, principal: CurrentPrincipal, submission: Number) -> Response:
    """Download the submitted text."""
    return output_response(app_state(request), principal, submission)


def _page(
    request: Request,
    principal: CurrentPrincipal,
    submission: int,
    *,
    saved: str = "",
    error: CampaignsError | None = None,
    given: dict[str, str] | None = None,
) -> Response:
    state = app_state(request)
    with reading(state.engine) as connection:
        access, view = find_submission(connection, principal, submission, state.settings.silent_seconds)
        before, after = across_corrections(connection, access, view)
        history = read_history(connection, access, view)
        others = earlier_of_system(connection, access, view, state.settings.silent_seconds)
        place = _place(connection, state.boards, access, view) if access.sees_board else None
        failed = failed_metrics(connection, access, view)
    told = read_feedback(state.engine, access, [view.id, *(each.id for each in others)])
    score_column, scores_of_others = column_of({each.id: headline(told[each.id], access.ranked_by) for each in others})
    locked_reason = why_locked(access, view.test_set.id)
    if given is None:
        constrained = {True: "true", False: "false", None: ""}[view.constrained]
        given = {"kind": str(view.kind), "constrained": constrained, "description": view.description}
    return page(
        request,
        "submissions/submission",
        status=error.status if error is not None else 200,
        title=f"Submission {view.id}",
        access=access,
        here="submissions",
        crumbs=[
            ("Campaigns", "/"),
            (access.title, f"/campaigns/{part_of_address(access.name)}"),
            ("Submissions", f"/campaigns/{part_of_address(access.name)}/submissions"),
        ],
        submission=view,
        scores=score_table(told[view.id], [told[each.id] for each in others]),
        place=place,
        failed_metrics=failed,
        others=others,
        score_column=score_column,
        scores_of_others=scores_of_others,
        history=history,
        before=before,
        after=after,
        locked_reason=locked_reason,
        changeable=access.organises or (view.team in access.own_teams and not locked_reason),
        given=given,
        saved=saved,
        error=error,
        kinds=[(str(value), title) for value, title in KINDS],
        constrained=CONSTRAINED,
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Where a submission stands on the leaderboard that counts."""

    rank: int
    of: int
    low: int | None
    high: int | None
    metric: str
    address: str


def _place(connection: Connection, boards: Boards, access: CampaignAccess, view: SubmissionView) -> Place | None:
    """Return the rank against most references; None if the submission does not stand on that leaderboard."""
    choices = read_choices(connection, access)
    choice = next((each for each in choices if each.id == view.test_set.id and not each.superseded), None)
    if choice is None:
        return None
    board = boards.view(connection, choice.listed, BoardQuery(find_metric(choice.listed, "", access.ranked_by)))
    line = next((each for each in board.lines if view.id in each.entry.submissions), None)
    if line is None or line.rank is None:
        return None
    low, high = (line.place.low, line.place.high) if line.place else (None, None)
    ranked = sum(each.rank is not None for each in board.lines)
    address = f"{Links(access.name, choice, board).board()}#s{line.entry.submission}"
    return Place(line.rank, ranked, low, high, board.titles[board.query.metric].removesuffix(" ↓"), address)
