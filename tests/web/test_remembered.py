"""What a server remembers of one question answers no other: each answer is that of a server that was asked nothing."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import product
from random import Random
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest
from sqlalchemy import insert, select, update

from models.database.session import reading, writing
from models.schema.base import now
from models.schema.campaigns import Campaign, CampaignTestSet
from models.schema.corpus import Document, System
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from steelyard.inspection import partitions
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import work_off
from tests.service.inspected_campaign import Looked, bay_test_set, look_at
from tests.service.service import Service

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

VOLATILE = re.compile(r'name="csrf_token" value="[^"]*"| data-now="[^"]*"|nonce="[^"]*"')
ASKED = 50
"""Questions, of all that there are."""


@pytest.fixture
def bay(service: Service, monkeypatch: pytest.MonkeyPatch) -> Looked:
    """Two campaigns of anonymous teams that share a test set, in which two documents are of one domain."""
    monkeypatch.setattr(partitions, "WORDS", (3, 4))
    bay = look_at(service)
    ingest_campaign(
        service.engine,
        service.settings,
        campaign="cove",
        test_set=bay_test_set(),
        submissions=[
            NewSubmission("dive", b"the ship\nthe old port\nwind\na fish swims", "gulls"),
            NewSubmission("wade", b"the blue boat\nsleeps\nthe wind blows\nno fish", "terns"),
            NewSubmission("base", b"a ship\nold harbour asleep\nwind\nfish is swimming"),
        ],
        protocols=[NewProtocol(["A", "B"], [parse_metric("bleu:smooth=exp"), parse_metric("ter")], 20)],
    )
    work_off(service.settings)
    service.campaign("cove", organisers=(bay.gull,))
    with writing(service.engine) as connection:
        connection.execute(update(Campaign).values(anonymous=True))
        connection.execute(update(CampaignTestSet).values(references_released_at=now()))
        connection.execute(update(Document).where(Document.name == "sea").values(segments=1))
        isle = {"test_set_id": bay.test_set, "first_segment": 3, "segments": 1, "name": "isle", "domain": "news"}
        connection.execute(insert(Document).values(**isle, test_suite=""))
        assert set(connection.scalars(select(CampaignTestSet.test_set_id))) == {bay.test_set}
    return bay


def questions(bay: Looked) -> list[str]:
    """Addresses of what is remembered, in full or in parts."""
    asked: list[tuple[str, dict[str, object]]] = []
    boards = [{"metric": metric, "shown": shown} for metric, shown in product(("bleu", "ter"), ("ranked", "all"))]
    for board in boards:
        asked += [("leaderboard", board), ("matrix", board)]
        for by, average in product(("domain", "document", "length"), ("micro", "macro")):
            asked.append(("breakdown", {**board, "by": by, "average": average}))
    with reading(bay.service.engine) as connection:
        systems = connection.scalars(select(System.id)).all()
    paths = [f"{campaign}/{path}?{urlencode(query)}" for campaign in ("bay", "cove") for path, query in asked]
    paths += [f"{campaign}/ngrams" for campaign in ("bay", "cove")]
    pages = [f"/campaigns/{path}" for path in (*paths, "bay/metrics", "cove/metrics")]
    pages += [f"/campaigns/{each}/systems/{system}" for each, system in product(("bay", "cove"), systems)]
    return [*pages, *(f"/api/v1/campaigns/{path}" for path in paths)]


def ask(client: TestClient, path: str) -> tuple[int, str, str]:
    """Status, what is the same each time, and the tag of an answer."""
    answer = client.get(path)
    return answer.status_code, VOLATILE.sub("", answer.text), answer.headers.get("ETag", "")


def test_no_answer_is_that_to_another_question(bay: Looked) -> None:
    service, draw = bay.service, Random(7)
    readers = {"olga": service.browser(bay.organiser), "gull": service.browser(bay.gull), "": service.client()}
    asked = draw.sample([*product(readers, questions(bay))], ASKED)
    state = service.app.state.steelyard
    fresh = {}
    for who, path in asked:
        for name in ("boards", "metrics", "metrics_tasks"):
            vars(state).pop(name, None)
        fresh[who, path] = ask(readers[who], path)
    assert sum(status == 200 for status, _, _ in fresh.values()) > ASKED * 3 // 4
    assert len({text for status, text, _ in fresh.values() if status == 200}) > ASKED // 2
    # All the others are asked for before one is asked for again.
    for who, path in [*asked, *draw.sample(asked, ASKED)]:
        assert ask(readers[who], path) == fresh[who, path], (who, path)
    tagged = defaultdict(set)
    for (_, path), (_, text, tag) in fresh.items():
        if tag:
            tagged[path, tag].add(text)
    assert all(len(texts) == 1 for texts in tagged.values()), "a tag is of one content"
