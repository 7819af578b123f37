"""ETags: what somebody may not see must not follow from the version of what he may."""

from __future__ import annotations

import pytest
from sqlalchemy import update

from models.database.session import writing
from models.schema.accounts import Team
from models.schema.campaigns import CampaignTestSet
from tests.web.hostile.world import BLIND, GHOSTS, OPEN, ROLES, World
from web import etags

BOARD = f"/api/v1/campaigns/{OPEN}/leaderboard"


def test_what_is_to_come_changes_no_version(world: World) -> None:
    """That organisers have released references of a later phase early is nobody's business yet."""

    def told() -> dict[str, dict[str, str]]:
        changing = {"x-request-id", "date", "content-length"}
        answers = {role: world.program(role).get(f"/api/v1/campaigns/{BLIND}") for role in ROLES}
        return {
            role: {name: value for name, value in answer.headers.items() if name not in changing}
            for role, answer in answers.items()
        }

    before = told()
    with writing(world.service.engine) as connection:
        soon = CampaignTestSet.test_set_id == world.test_sets["soon"]
        connection.execute(update(CampaignTestSet).where(soon).values(references_released_at=1.0))
    after = told()
    assert {role for role in ROLES if before[role] != after[role]} == {"organiser", "administrator"}


def test_a_version_cannot_be_reckoned_from_guesses(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who knows all but the names of anonymous teams could else try names until he has the version that he was told."""
    client = world.program("nobody")
    tag = client.get(BOARD).headers["ETag"]
    assert client.get(BOARD).headers["ETag"] == tag
    with writing(world.service.engine) as connection:
        connection.execute(update(Team).where(Team.name == GHOSTS).values(publication_name="other"))
    assert client.get(BOARD).headers["ETag"] == tag, "a team that is not in this campaign"
    monkeypatch.setattr(etags, "_KEY", b"of another process")
    assert client.get(BOARD).headers["ETag"] != tag
