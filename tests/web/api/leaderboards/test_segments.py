"""What an answer with segments says of itself: against which references they are scored, and what was searched for."""

from __future__ import annotations

import pytest

from tests.service.inspected_campaign import Looked, look_at
from tests.service.service import Service

SEGMENTS = "/api/v1/campaigns/bay/segments"


@pytest.fixture
def bay(service: Service) -> Looked:
    """See `look_at`."""
    return look_at(service)


def test_the_references_are_those_of_the_leaderboard_that_was_asked_for(bay: Looked) -> None:
    client = bay.service.program(bay.organiser)
    boards = client.get("/api/v1/campaigns/bay/leaderboards").json()
    known = [each["references"] for each in boards["items"]]
    assert ["A", "B"] in known
    for references in known:
        told = client.get(SEGMENTS, params={"references": ",".join(references)}).json()
        assert told["references"] == references
        assert told["test_set"] == "bay"


def test_blanks_around_what_is_searched_for_are_nothing(bay: Looked) -> None:
    client = bay.service.program(bay.organiser)
    every = client.get(SEGMENTS).json()["found"]
    plain, padded = (client.get(SEGMENTS, params={"text": text}).json() for text in ("ship", "  ship   "))
    assert 0 < plain["found"] < every
    assert padded == plain
