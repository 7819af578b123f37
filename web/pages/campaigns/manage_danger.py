"""Deletions by organisers: what there is to delete, and for each what it takes away, confirmed by typing a name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form, Query, Request, Response
from sqlalchemy import Connection, func, select

from campaigns.accounts.principal import Principal
from campaigns.deletion.campaigns import delete_campaign
from campaigns.deletion.counts import Deletion
from campaigns.deletion.imports import delete_human_judgments, delete_imported_scores
from campaigns.deletion.submissions import delete_submission
from campaigns.deletion.teams import delete_team_from_campaign
from campaigns.errors import BadRequest, NotFound
from campaigns.inspection.visible import visible_test_sets
from campaigns.score_imports.reductions import reduce_now
from campaigns.score_imports.versions import list_versions
from campaigns.submissions.views import NOT_VISIBLE, find_submission_row
from models.corpus.judgments import list_judgments_of
from models.database.session import reading, writing
from models.schema.corpus import Submission, System
from runtime.settings import Settings
from web.dependencies import CurrentPrincipal, app_state
from web.pages.campaigns.manage_sections import organiser_access
from web.pages.deletion import deletion_page
from web.pages.forms import InvalidForm, form_errors
from web.pages.rendering import page, part_of_address, see_other

if TYPE_CHECKING:
    from campaigns.permissions import CampaignAccess

router = APIRouter()

What = Annotated[str, Query(max_length=20)]
Which = Annotated[str, Query(max_length=300)]


@router.get("/campaigns/{name}/manage/danger")
def show_danger(request: Request, name: str, principal: CurrentPrincipal, deleted: str = "") -> Response:
    """Show what can be deleted: teams, submissions, imports, the campaign."""
    with reading(app_state(request).engine) as connection:
        access = organiser_access(connection, principal, name)
        submissions = _submissions_of_teams(connection, access.campaign_id)
        scores = list_versions(connection, access)
        test_sets = visible_test_sets(connection, access)
        judgments = list_judgments_of(connection, access.campaign_id, [each.id for each in test_sets])
    return page(
        request,
        "campaigns/manage/danger",
        title="Manage",
        access=access,
        here="manage",
        section="danger",
        deleted=bool(deleted),
        teams=[(each, submissions.get(each, 0)) for each in sorted(access.teams, key=str.casefold)],
        scores=[(each.test_set, f"{each.name}@{each.version}", each.systems) for each in scores],
        judgments=[(each.title, stored.title, stored.kind) for each in test_sets for stored in judgments[each.id]],
    )


@router.get("/campaigns/{name}/manage/delete")
def show_deletion(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    what: What = "campaign",
    which: Which = "",
    test_set: Which = "",
) -> Response:
    """Show what a deletion takes away and what stays, and ask for the name of what is deleted."""
    return _confirmation(request, name, principal, what, which, test_set)


@router.post("/campaigns/{name}/manage/delete")
def delete_it(
    request: Request,
    name: str,
    principal: CurrentPrincipal,
    what: Annotated[str, Form(max_length=20)] = "",
    which: Annotated[str, Form(max_length=300)] = "",
    test_set: Annotated[str, Form(max_length=300)] = "",
    typed: Annotated[str, Form(max_length=300)] = "",
) -> Response:
    """Delete it, if its name was typed."""
    state = app_state(request)
    try:
        with form_errors(), writing(state.engine, durable=True) as connection:
            word, delete = _chosen(connection, state.settings, principal, name, what, which, test_set)
            if typed.strip() != word:
                raise BadRequest(f"Type {word} to delete it.")
            delete(dry_run=False)
    except InvalidForm as invalid:
        return _confirmation(request, name, principal, what, which, test_set, invalid)
    if what == "campaign":
        return see_other("/?deleted=campaign")
    if what == "scores":
        reduce_now(state.engine, state.settings, name)
    return see_other(f"/campaigns/{part_of_address(name)}/manage/danger?deleted={what}")


def _confirmation(
    request: Request,
    name: str,
    principal: Principal,
    what: str,
    which: str,
    test_set: str,
    invalid: InvalidForm | None = None,
) -> Response:
    state = app_state(request)
    with writing(state.engine) as connection:
        word, delete = _chosen(connection, state.settings, principal, name, what, which, test_set)
        found = delete(dry_run=True)
        access = organiser_access(connection, principal, name)
    address = f"/campaigns/{part_of_address(name)}"
    return deletion_page(
        request,
        found,
        word=word,
        back=f"{address}/manage/danger",
        export=f"/api/v1{address}/export",
        fields={"what": what, "which": which, "test_set": test_set},
        invalid=invalid,
        access=access,
        here="manage",
    )


def _chosen(
    connection: Connection, settings: Settings, principal: Principal, name: str, what: str, which: str, test_set: str
) -> tuple[str, Callable[..., Deletion]]:
    """Return the name to type, and what deletes it, or says what would be deleted."""
    access = organiser_access(connection, principal, name)
    if what == "campaign":
        return access.name, partial(delete_campaign, connection, principal, name)
    if what == "team":
        return which, partial(delete_team_from_campaign, connection, principal, name, which)
    if what == "submission":
        return _system_of(connection, principal, access, which), partial(
            delete_submission, connection, principal, int(which)
        )
    if what == "scores":
        return which, partial(delete_imported_scores, connection, settings, principal, name, which, test_set)
    if what == "judgments":
        return which, partial(delete_human_judgments, connection, principal, name, which, test_set)
    raise NotFound


def _system_of(connection: Connection, principal: Principal, access: CampaignAccess, which: str) -> str:
    """Return the system of a submission of this campaign."""
    number = int(which) if which.isascii() and which.isdigit() and len(which) < 19 else 0
    of, row = find_submission_row(connection, principal, number)
    if of.campaign_id != access.campaign_id:
        raise NotFound(NOT_VISIBLE.format(number))
    return str(row.system)


def _submissions_of_teams(connection: Connection, campaign_id: int) -> dict[str, int]:
    rows = connection.execute(
        select(System.team, func.count().label("submissions"))
        .join(Submission, Submission.system_id == System.id)
        .where(Submission.campaign_id == campaign_id)
        .group_by(System.team)
    )
    return {row.team: row.submissions for row in rows}
