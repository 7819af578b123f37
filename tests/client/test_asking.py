"""What a client asks for beside submissions."""

import httpx
import pytest

from models.schema.roles import Visibility
from steelyard_client import NotFound, NotSignedIn
from tests.client.live import Live
from tests.client.live import live as live
from tests.service.port import NAME, Port, output


def test_who_asks(live: Live) -> None:
    mary = live.service.account("mary")
    live.service.team("harbour", mary)
    me = live.client(mary).me()
    assert (me.email, me.role, me.teams) == ("mary@example.org", "participant", {"harbour": "lead"})
    for client in (live.client(), live.stack.enter_context(type(live.client())(live.url, "nonsense"))):
        with pytest.raises(NotSignedIn):
            client.me()


def test_campaigns_that_one_may_know_of(live: Live) -> None:
    port = Port.opened(live.service)
    live.service.campaign("secret", visibility=Visibility.PRIVATE)
    client = live.client(port.accounts["mary"])
    assert [each.name for each in client.list_campaigns()] == [NAME]
    campaign = client.read_campaign(NAME)
    assert (campaign.phase, campaign.takes_submissions, campaign.teams) == ("first", True, ["harbour"])
    with pytest.raises(NotFound):
        client.read_campaign("secret")


class OneByOne(httpx.HTTPTransport):
    """Asks for pages of one row."""

    def __init__(self) -> None:
        super().__init__()
        self.after: list[str | None] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.after.append(request.url.params.get("after"))
        request.url = request.url.copy_set_param("limit", 1)
        return super().handle_request(request)


def test_the_pages_of_a_leaderboard_are_one(live: Live) -> None:
    port = Port.opened(live.service)
    mary = live.client(port.accounts["mary"])
    for seed in (1, 2):
        mary.submit_output(NAME, output(seed), system=f"mast {seed}")
    port.work_off()
    whole = mary.read_leaderboard(NAME, metric="chrf", shown="all")
    pages = OneByOne()
    found = live.client(port.accounts["mary"], transport=pages).read_leaderboard(NAME, metric="chrf", shown="all")
    assert len(whole.items) == len(pages.after) == 3
    assert pages.after[0] is None
    assert None not in pages.after[1:]
    assert found.model_dump() == whole.model_dump()
