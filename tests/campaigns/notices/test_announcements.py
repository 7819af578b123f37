"""How often organisers may write to all teams of a campaign."""

from __future__ import annotations

import pytest
from sqlalchemy import insert, update

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.errors import TooMany
from campaigns.notices.announcements import announce
from models.database.session import writing
from models.schema.base import now
from models.schema.notices import Notice
from steelyard_client.vocabulary import NoticeKind
from tests.service.service import DAY, Service


def test_the_limit_is_that_of_a_campaign_and_a_day(service: Service) -> None:
    """Other campaigns, other notices and what was written yesterday do not count."""
    numbers = {name: service.campaign(name) for name in ("bay", "port")}
    settings = service.settings.model_copy(update={"announcements_per_day": 2})

    def write(campaign: str) -> None:
        with writing(service.engine) as connection:
            announce(connection, settings, COMMAND_LINE, campaign, "Deadline", "It is Friday.")

    write("bay")
    with writing(service.engine) as connection:
        row = {"campaign_id": numbers["bay"], "kind": NoticeKind.PHASE, "title": "", "text": "", "path": "/"}
        connection.execute(insert(Notice), [{**row, "key": f"phase {number}"} for number in range(3)])
    write("bay")
    with pytest.raises(TooMany, match="made 2 announcements"):
        write("bay")
    write("port")
    with writing(service.engine) as connection:
        mine = Notice.campaign_id == numbers["bay"], Notice.kind == NoticeKind.ANNOUNCEMENT
        connection.execute(update(Notice).where(*mine).values(created_at=now() - DAY - 1.0))
    write("bay")
