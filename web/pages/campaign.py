"""A campaign at a glance: what it is, where it stands, what is open to whoever looks."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from campaigns.corrections import compare, count_open, find_correction, list_corrections
from campaigns.errors import Forbidden, NotSignedIn
from campaigns.participants import join, leave
from campaigns.permissions import Sight, read_sight
from campaigns.test_sets import list_campaign_test_sets
from models.corpus.phases import TAKING
from models.database.session import reading, writing
from models.results.entries import RULE
from models.schema.roles import Joining, PhaseKind, TeamRole
from web.dependencies import Asking, state_of
from web.pages.rendering import page, part_of_address, see_other

router = APIRouter()

WHAT_HAPPENS = {
    PhaseKind.OPEN: "Teams hand in, and see the scores of all.",
    PhaseKind.BLIND: "Teams hand in, and do not see the scores of others.",
    PhaseKind.CLOSED: "Nothing is handed in.",
    PhaseKind.PUBLISHED: "The results are out.",
}


@router.get("/campaigns/{name}")
def show_campaign(request: Request, name: str, principal: Asking) -> Response:
    """The overview of a campaign."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        test_sets = list_campaign_test_sets(connection, sight)
        corrections = list_corrections(connection, sight)
    return page(
        request,
        "campaign",
        title=sight.title,
        sight=sight,
        here="",
        phases=[(each, sight.standing_of(each), WHAT_HAPPENS[each.kind]) for each in sight.phases],
        current=sight.phase,
        coming=min(
            (each for each in sight.phases if each.starts_at > sight.at),
            key=lambda each: each.starts_at,
            default=None,
        ),
        deadline=_deadline(sight),
        test_sets=[each for each in test_sets if each.replaced_by is None],
        corrections=corrections,
        teams=sorted((sight.name_of(each) for each in sight.teams), key=_natural),
        joinable=[(each, each) for each in _joinable(sight)],
        paragraphs=[each.strip() for each in sight.description.split("\n\n") if each.strip()],
    )


@router.post("/campaigns/{name}/join")
def let_join(request: Request, name: str, principal: Asking, team: Annotated[str, Form(max_length=100)]) -> Response:
    """Let one's team take part."""
    with writing(state_of(request).engine) as connection:
        join(connection, principal, name, team)
    return see_other(f"/campaigns/{part_of_address(name)}")


@router.post("/campaigns/{name}/leave")
def let_leave(request: Request, name: str, principal: Asking, team: Annotated[str, Form(max_length=100)]) -> Response:
    """Let one's team take part no longer."""
    with writing(state_of(request).engine) as connection:
        leave(connection, principal, name, team)
    return see_other("/teams")


@router.get("/campaigns/{name}/corrections/{correction}")
def show_correction(request: Request, name: str, correction: int, principal: Asking) -> Response:
    """Scores and ranks before a correction and after it, side by side."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        known = find_correction(connection, sight, correction)
        if not sight.sees_board:
            if not principal.signed_in:
                raise NotSignedIn
            raise Forbidden("The scores of this campaign may not be seen now.")
        compared = compare(connection, sight, known)
        left = count_open(connection, sight.campaign_id, known.new_test_set_id)
    title = f"Corrected references of {known.test_set}"
    return page(
        request,
        "correction",
        title=title,
        sight=sight,
        known=known,
        compared=compared,
        left=left,
        ranking_rule=RULE,
    )


def _deadline(sight: Sight) -> float | None:
    """Until when teams can hand in in the phase of now, before they are late."""
    phase = sight.phase
    if phase is None or phase.kind not in TAKING:
        return None
    following = [each.starts_at for each in sight.phases if each.starts_at > phase.starts_at]
    # A phase without a deadline ends when the next one begins.
    return phase.ends_at if phase.ends_at is not None else min(following, default=None)


def _joinable(sight: Sight) -> list[str]:
    """Teams that the account could let take part by itself."""
    if sight.joining != Joining.OPEN:
        return []
    return [team for team, role in sight.principal.teams.items() if role == TeamRole.LEAD and team not in sight.teams]


def _natural(name: str) -> tuple[str, int, str]:
    """Team 7 before Team 12."""
    word, _, number = name.rpartition(" ")
    key: Any = (word.casefold(), int(number), "") if number.isascii() and number.isdigit() else (name.casefold(), 0, "")
    return (key[0], key[1], name)
