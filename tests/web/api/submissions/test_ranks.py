"""The ranks of a submission are kept between requests: whatever changes them shows at once, to those who may see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from models.database.session import writing
from models.schema.base import now
from models.schema.campaigns import Phase
from models.schema.roles import Feedback, PhaseKind
from tests.service.scored_campaigns import CONTRASTIVE, PRIMARY, Scored
from tests.service.service import DAY, Service, app_with_routes

if TYPE_CHECKING:
    from collections.abc import Iterator


class Harbour:
    """A campaign of two teams, asked in two web processes."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.organiser, self.mary, self.gwen = (service.account(name) for name in ("olga", "mary", "gwen"))
        self.scored = Scored(service)
        self.ours = self.scored.add("harbour", "mast", 30.0, **PRIMARY)
        self.theirs = self.scored.add("gulls", "wing", 40.0, **PRIMARY)
        teams = service.team("harbour", self.mary), service.team("gulls", self.gwen)
        self.campaign = service.campaign("port", organisers=(self.organiser,), teams=teams)
        programs = [service.program(each) for each in (self.organiser, self.mary, self.gwen)]
        # Each process has an app, and so caches, of its own.
        second = app_with_routes(service.settings)
        others = [service.stack.enter_context(TestClient(second, headers=each.headers)) for each in programs]
        self.asking = dict(zip(("olga", "mary", "gwen"), zip(programs, others, strict=True), strict=True))

    def ranks(self, who: str, submission: int) -> list[list[object]] | int:
        """The rank and the number of ranked systems by each metric, and a remark; or the status that both answer."""
        answers = [client.get(f"/api/v1/submissions/{submission}") for client in self.asking[who]]
        if answers[0].status_code != 200:
            (status,) = {each.status_code for each in answers}
            return status
        found = [
            [*([each["rank"], each["ranked"]] for each in feedback["scores"]), feedback["remark"]]
            for answer in answers
            for feedback in answer.json()["feedback"]
        ]
        assert found[0] == found[1]
        return found[0]


@pytest.fixture
def harbour(service: Service) -> Iterator[Harbour]:
    return Harbour(service)


def test_of_each_change_of_a_leaderboard(harbour: Harbour) -> None:
    scored, ours = harbour.scored, harbour.ours
    assert harbour.ranks("mary", ours) == [[2, 2], [1, 2], ""]
    scored.add("", "baseline", 35.0)
    assert harbour.ranks("mary", ours) == [[3, 3], [1, 3], ""]
    scored.finish(ours, 50.0, ter=90.0)
    assert harbour.ranks("mary", ours) == [[1, 3], [3, 3], ""]
    assert harbour.asking["gwen"][0].post(f"/api/v1/submissions/{harbour.theirs}/withdraw").status_code == 200
    assert harbour.ranks("mary", ours) == [[1, 2], [2, 2], ""]
    assert harbour.ranks("gwen", harbour.theirs) == [[None, 2], [None, 2], "withdrawn"]
    assert harbour.asking["gwen"][1].post(f"/api/v1/submissions/{harbour.theirs}/reinstate").status_code == 200
    assert harbour.ranks("gwen", harbour.theirs) == [[2, 3], [1, 3], ""]
    scored.declare(ours, **CONTRASTIVE)
    assert harbour.ranks("mary", ours) == [[None, 2], [None, 2], "contrastive"]


def test_of_others_nobody_learns_them(harbour: Harbour) -> None:
    for _ in range(2):
        assert harbour.ranks("olga", harbour.theirs) == [[1, 2], [1, 2], ""]
        assert harbour.ranks("gwen", harbour.theirs) == [[1, 2], [1, 2], ""]
        assert harbour.ranks("mary", harbour.theirs) == 404


def test_a_blind_phase_hides_them_from_teams_and_publication_shows_them(harbour: Harbour) -> None:
    ours = harbour.ours
    seen = [[2, 2], [1, 2], ""]
    assert (harbour.ranks("mary", ours), harbour.ranks("olga", ours)) == (seen, seen)
    blind = harbour.service.phase(harbour.campaign, "blind", PhaseKind.BLIND, ends=DAY, feedback=Feedback.ROUNDED)
    hidden = [[None, None], [None, None], ""]
    assert (harbour.ranks("mary", ours), harbour.ranks("olga", ours)) == (hidden, seen)
    with writing(harbour.service.engine) as connection:
        connection.execute(update(Phase).where(Phase.id == blind).values(feedback=Feedback.NONE))
    assert (harbour.ranks("mary", ours), harbour.ranks("olga", ours)) == (hidden, seen)
    with writing(harbour.service.engine) as connection:
        connection.execute(update(Phase).where(Phase.id == blind).values(ends_at=now() - 2))
    harbour.service.phase(harbour.campaign, "results", PhaseKind.PUBLISHED, begins=-1)
    assert (harbour.ranks("mary", ours), harbour.ranks("olga", ours)) == (seen, seen)
