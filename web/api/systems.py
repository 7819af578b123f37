"""Systems of a campaign."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from campaigns.permissions import read_sight
from campaigns.submissions.systems import SeenSystem, list_systems
from models.database.session import reading
from web.api.paging import After, Limit, Paged, id_after, in_pages
from web.dependencies import Asking, state_of

router = APIRouter(tags=["submissions"])


class ShownSystem(BaseModel):
    """A system, and how often it was handed in."""

    team: str
    """What the team is called; "" for the organisers' own systems."""
    system: str
    own: bool
    """Whether it is of a team of one's own."""
    submissions: int
    first_at: float
    """When it was handed in for the first time; seconds since 1970."""
    last_at: float


@router.get("/campaigns/{name}/systems")
def systems_of_campaign(
    request: Request, name: str, principal: Asking, limit: Limit = 50, after: After = ""
) -> Paged[ShownSystem]:
    """The systems of one's own teams; those of others where the leaderboard shows their names; organisers see all."""
    with reading(state_of(request).engine) as connection:
        sight = read_sight(connection, principal, name)
        found = list_systems(connection, sight, limit=limit, after=id_after(after))
    return Paged[ShownSystem](**in_pages(found, limit, _shown))


def _shown(seen: SeenSystem) -> ShownSystem:
    return ShownSystem(
        team=seen.team,
        system=seen.system,
        own=seen.own,
        submissions=seen.submissions,
        first_at=seen.first_at,
        last_at=seen.last_at,
    )
