"""A campaign at a glance: what it is, where it stands, what is open to whoever looks."""

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

WHAT_HAPPENS = {
    PhaseKind.OPEN: "Teams hand in, and see the scores of all.",
    PhaseKind.BLIND: "Teams hand in, and do not see the scores of others.",
    PhaseKind.CLOSED: "Nothing is handed in.",
    PhaseKind.PUBLISHED: "The results are out.",
}


@router.get("/campaigns/{name}")
def show_campaign(request: Request, name: str, principal: CurrentPrincipal) -> Response:
    """The overview of a campaign."""
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
        phases=[(each, access.standing_of(each), WHAT_HAPPENS[each.kind]) for each in access.phases],
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
    """Let one's team take part."""
    with writing(app_state(request).engine) as connection:
        join_with_team(connection, principal, name, team)
    return see_other(f"/campaigns/{part_of_address(name)}")


@router.post("/campaigns/{name}/leave")
def leave_campaign(
    request: Request, name: str, principal: CurrentPrincipal, team: Annotated[str, Form(max_length=100)]
) -> Response:
    """Let one's team take part no longer."""
    with writing(app_state(request).engine) as connection:
        leave_with_team(connection, principal, name, team)
    return see_other("/teams")


@router.get("/campaigns/{name}/corrections/{correction}")
def show_correction(request: Request, name: str, correction: int, principal: CurrentPrincipal) -> Response:
    """Scores and ranks before a correction and after it, side by side."""
    with reading(app_state(request).engine) as connection:
        access = read_access(connection, principal, name)
        known = find_correction(connection, access, correction)
        if not access.sees_board:
            if not principal.signed_in:
                raise NotSignedIn
            raise Forbidden("The scores of this campaign may not be seen now.")
        compared = compare_correction(connection, access, known)
        left = count_open_evaluations(connection, access.campaign_id, known.new_test_set_id)
    title = f"Corrected references of {known.test_set}"
    return page(
        request,
        "campaigns/correction",
        title=title,
        access=access,
        known=known,
        compared=compared,
        left=left,
        ranking_rule=RULE,
    )


def _deadline(access: CampaignAccess) -> float | None:
    """Until when teams can hand in in the phase of now, before they are late."""
    phase = access.phase
    if phase is None or phase.kind not in TAKING:
        return None
    following = [each.starts_at for each in access.phases if each.starts_at > phase.starts_at]
    # A phase without a deadline ends when the next one begins.
    return phase.ends_at if phase.ends_at is not None else min(following, default=None)


def _joinable(access: CampaignAccess) -> list[str]:
    """Teams that the account could let take part by itself."""
    if access.joining != Joining.OPEN:
        return []
    return [team for team, role in access.principal.teams.items() if role == TeamRole.LEAD and team not in access.teams]


def _natural(name: str) -> tuple[str, int, str]:
    """Team 7 before Team 12."""
    word, _, number = name.rpartition(" ")
    key: Any = (word.casefold(), int(number), "") if number.isascii() and number.isdigit() else (name.casefold(), 0, "")
    return (key[0], key[1], name)
