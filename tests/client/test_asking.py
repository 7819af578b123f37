"""What a client asks for beside submissions."""

import pytest

from models.schema.roles import Visibility
from steelyard_client import NotFound, NotSignedIn
from tests.client.live import Live
from tests.client.live import live as live
from tests.service.port import NAME, Port


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
