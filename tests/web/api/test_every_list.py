"""Every list of the API: gone through one by one it has each item once, in the order of the whole list."""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest
from httpx import URL
from sqlalchemy import insert, select

from campaigns.accounts.secrets import hash_of
from models.corpus.judgments import NewJudgments, SystemRow, store_judgments
from models.database.session import writing
from models.notices.notify import NewNotice, notify
from models.schema.accounts import Invitation
from models.schema.base import now
from models.schema.campaigns import Correction, Quota
from models.schema.human import HumanSegmentScore, Judgments
from models.schema.imported import ScoreImport
from models.schema.roles import PhaseKind
from models.schema.states import JudgmentKind
from steelyard_client.vocabulary import NoticeKind
from tests.analysis.nightly_runs import add_schedule
from tests.web.hostile.expected import RULES
from tests.web.hostile.test_roles import address_of
from web.api.routers import all_routers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.web.hostile.world import Template, World

LISTS = sorted(
    f"GET /api/v1{route.path}"  # type: ignore[attr-defined]
    for router in all_routers()
    for route in router.routes
    if {"limit", "after"} <= {each.alias for each in route.dependant.query_params}  # type: ignore[attr-defined]
)
ONE_AT_MOST = {"GET /api/v1/me/waiting-uploads"}
"""What an app holds in its memory, for as long as it reads a file."""
GOING_ON = {"ended_seconds"}
SEEN_BY = (("administrator", "hush"), ("lead", "hush"), ("administrator", "bay"), ("administrator", "shown"))


@pytest.fixture(scope="module")
def world(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A world with two of everything."""
    folder: Path = tmp_path_factory.mktemp("lists")
    with ExitStack() as stack:
        yield _with_two_of_each(world_template.copy(folder, stack))


def _with_two_of_each(world: World) -> World:
    service, campaign, lead = world.service, world.campaigns["hush"], world.accounts["lead"]
    service.session(lead)
    service.program(world.accounts["member"])
    add_schedule(service.engine, campaign, name="second")
    service.phase(service.campaign("past"), "out", PhaseKind.PUBLISHED)
    with writing(service.engine) as connection:
        invited = {"campaign_id": campaign, "campaign_role": "viewer", "expires_at": now() + 900, "made_by": lead}
        connection.execute(insert(Invitation).values(secret_hash=hash_of("second"), **invited))
        for campaign_id, kind in ((campaign, "per_phase"), (None, "per_phase")):
            connection.execute(insert(Quota).values(campaign_id=campaign_id, kind=kind, amount=5))
        test_set = world.test_sets["hush"]
        corrected = {"old_test_set_id": test_set, "new_test_set_id": test_set, "reason": "second"}
        connection.execute(insert(Correction).values(campaign_id=campaign, **corrected))
        notice = NewNotice(campaign, "announcement-2", NoticeKind.ANNOUNCEMENT, "second", "second", "/campaigns/hush")
        notify(connection, notice, mails=False)
        for number in range(2):
            score = {"judgments_id": 1, "system": "keel", "segment": number, "score": 1.0 - number}
            connection.execute(insert(HumanSegmentScore).values(**score))
        judged = NewJudgments("second", JudgmentKind.SCORES, {}, [SystemRow("keel", 0.5)])
        judged_on = connection.execute(select(Judgments.test_set_id)).scalar_one()
        store_judgments(connection, campaign, judged_on, judged)
        (known,) = connection.execute(select(ScoreImport)).all()
        columns = {name: value for name, value in known._asdict().items() if name != "id"}
        connection.execute(insert(ScoreImport).values(**{**columns, "name": "second"}))
    return world


def items_of(answer: Any) -> tuple[list[Any], str | None]:
    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    # What goes on between two requests.
    return [{name: value for name, value in each.items() if name not in GOING_ON} for each in items], answer.json()[
        "next"
    ]


@pytest.mark.parametrize("route", LISTS)
def test_one_by_one_is_the_whole_list(world: World, route: str) -> None:
    for role, campaign in SEEN_BY:
        client = world.program(role)
        address = URL(re.sub("/(hush)(?=/|$)", f"/{campaign}", address_of(route, world)))
        answer = client.get(str(address.copy_merge_params({"limit": "200"})))
        whole, following = items_of(answer) if answer.status_code == 200 else ([], None)
        assert following is None
        if len(whole) > 1:
            break
    assert len(whole) > 1 or route in ONE_AT_MOST, "a list of one says nothing of its pages"
    found: list[Any] = []
    after: str | None = ""
    while after is not None and len(found) <= len(whole):
        page, after = items_of(client.get(str(address.copy_merge_params({"limit": "1", "after": after}))))
        assert len(page) == 1 or not whole
        found += page
    assert found == whole


def test_every_list_is_gone_through() -> None:
    assert len(LISTS) >= 31
    assert set(LISTS) <= set(RULES)
