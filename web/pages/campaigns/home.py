"""The first page: what Steelyard is, the campaigns that the user may see, and the demo campaign in one click."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from campaigns.demo import open_demo
from campaigns.overviews import CampaignOverview, overviews
from campaigns.permissions import UnreadableCampaign, visible_campaigns
from campaigns.setup import setup_steps
from models.database.session import reading
from models.schema.roles import Scope
from web.dependencies import CurrentPrincipal, app_state
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

GROUPS = (
    ("open", "Open for submissions"),
    ("coming", "Coming"),
    ("closed", "Closed, results to come"),
    ("over", "Results"),
)
SETTING_UP = 3
"""Checklists shown at most; the campaigns themselves have theirs."""


@router.get("/")
def home(request: Request, principal: CurrentPrincipal, deleted: str = "") -> Response:
    """List the campaigns that the user may see: open ones first, with pairs, deadline, teams and own rank."""
    with reading(app_state(request).engine) as connection:
        unreadable: list[UnreadableCampaign] = []
        accesses = visible_campaigns(connection, principal, unreadable=unreadable)
        found = overviews(connection, accesses)
    checklists = [(each, steps) for each in accesses if (steps := setup_steps(each))]
    return page(
        request,
        "campaigns/home",
        title="Campaigns" if found and principal.signed_in else "Which translation system is better?",
        groups=[(title, listed) for status, title in GROUPS if (listed := _of(found, status))],
        # To whom everything is known already, it says nothing of itself.
        introduced=not principal.signed_in or not found,
        counts_down=any(each.counts_down_to is not None for each in found),
        checklists=checklists[:SETTING_UP],
        unreadable=unreadable,
        deleted=deleted == "campaign",
    )


@router.post("/demo-campaign")
def show_demo(request: Request, principal: CurrentPrincipal) -> Response:
    """Create the organiser's demo campaign if there is none yet, and show it."""
    principal.require(Scope.ORGANISE)
    state = app_state(request)
    return see_other(f"/campaigns/{part_of_address(open_demo(state.engine, state.settings, principal))}")


def _of(found: list[CampaignOverview], status: str) -> list[CampaignOverview]:
    """Return the campaigns of a status; open ones by deadline, all others newest first."""
    listed = [each for each in found if each.status == status]
    if status != "open":
        return listed
    return sorted(listed, key=lambda each: each.deadline if each.deadline is not None else float("inf"))
