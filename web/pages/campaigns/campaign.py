"""The overview of a campaign, joining it, and the corrections of its references."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from campaigns.corrections import compare_correction, count_open_evaluations, find_correction, list_corrections
from campaigns.errors import Forbidden, NotSignedIn
from campaigns.participants import join_with_team, leave_with_team
from campaigns.permissions import CampaignAccess, read_access
from campaigns.test_sets import list_campaign_test_sets
from models.corpus.phases import TAKING
from models.database.session import reading, writing
from models.results.entries import RULE
from models.schema.roles import Joining, PhaseKind, TeamRole
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

PHASE_DESCRIPTIONS = {
    PhaseKind.OPEN: "Teams submit and see all scores.",
    PhaseKind.BLIND: "Teams submit and do not see each other's scores.",
    PhaseKind.CLOSED: "No submissions.",
    PhaseKind.PUBLISHED: "The results are published.",
}


@router.get("/campaigns/{name}")
def show_campaign(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """Show the overview of a campaign."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        test_sets = list_campaign_test_sets(connection, access)
        corrections = list_corrections(connection, access)
    return page(
        request,
        "campaigns/campaign",
        title=access.title,
        access=access,
        here="",
        phases=[(each, access.phase_status(each), PHASE_DESCRIPTIONS[each.kind]) for each in access.phases],
        current=access.phase,
        coming=min(
            (each for each in access.phases if each.starts_at > access.at),
            key=lambda each: each.starts_at,
            default=None,
        ),
        deadline=_deadline(access),
        test_sets=[each for each in test_sets if each.replaced_by is None],
        corrections=corrections,
        teams=sorted((access.name_of(each) for each in access.teams), key=_natural),
        joinable=[(each, each) for each in _joinable(access)],
        paragraphs=[each.strip() for each in access.description.split("\n\n") if each.strip()],
    )


@router.post("/campaigns/{name}/join")
def join_campaign(
    request: Request, name: str, principal: CurrentPrincipal, team: Annotated[str, Form(max_length=100)]
) -> Response:
    """Join the campaign with one of the user's teams."""
    with writing(app_state(request).engine) as connection:
        join_with_team(connection, principal, name, team)
    return see_other(f"/campaigns/{part_of_address(name)}")


@router.post("/campaigns/{name}/leave")
def leave_campaign(
    request: Request, name: str, principal: CurrentPrincipal, team: Annotated[str, Form(max_length=100)]
) -> Response:
    """Leave the campaign with one of the user's teams."""
    with writing(app_state(request).engine) as connection:
        leave_with_team(connection, principal, name, team)
    return see_other("/teams")


@router.get("/campaigns/{name}/corrections/{correction}")
def show_correction(request: Request, name: str, correction: int, principal: CurrentPrincipal) -> Response:
    """Show scores and ranks before and after a correction, side by side."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        info = find_correction(connection, access, correction)
        if not access.sees_board:
            if not principal.signed_in:
                raise NotSignedIn
            raise Forbidden("The scores of this campaign are hidden at the moment.")
        compared = compare_correction(connection, access, info)
        left = count_open_evaluations(connection, access.campaign_id, info.new_test_set_id)
    title = f"Corrected references of {info.test_set}"
    return page(
        request,
        "campaigns/correction",
        title=title,
        access=access,
        correction=info,
        compared=compared,
        left=left,
        ranking_rule=RULE,
    )


def _deadline(access: CampaignAccess) -> float | None:
    """Return the deadline of the current phase; None if it takes no submissions or has no end."""
    phase = access.phase
    if phase is None or phase.kind not in TAKING:
        return None
    following = [each.starts_at for each in access.phases if each.starts_at > phase.starts_at]
    # A phase without a deadline ends when the next one begins.
    return phase.ends_at if phase.ends_at is not None else min(following, default=None)


def _joinable(access: CampaignAccess) -> list[str]:
    """Return the teams with which the account may join the campaign."""
    if access.joining != Joining.OPEN:
        return []
    return [team for team, role in access.principal.teams.items() if role == TeamRole.LEAD and team not in access.teams]


def _natural(name: str) -> tuple[str, int, str]:
    """Return a sort key that puts Team 7 before Team 12."""
    word, _, number = name.rpartition(" ")
    key: Any = (word.casefold(), int(number), "") if number.isascii() and number.isdigit() else (name.casefold(), 0, "")
    return (key[0], key[1], name)
