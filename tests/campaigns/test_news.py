"""What feeds tell: what has begun, the newest first, and not more than a reader wants."""

from __future__ import annotations

from campaigns.accounts.principal import NOBODY
from campaigns.news import MOST, news_of
from campaigns.permissions import read_access
from models.database.session import reading
from models.schema.roles import PhaseKind
from tests.service.service import DAY, Service


def test_the_newest_are_told_and_nothing_that_is_to_come(service: Service) -> None:
    begun = []
    for name, least in (("wmt", 0.25), ("other", 0.5)):
        campaign = service.campaign(name, title=name.upper())
        service.phase(campaign, "later", PhaseKind.OPEN, begins=DAY)
        for number in range(MOST - 10):
            begins = -(number + least) * DAY
            key = service.phase(campaign, f"p{number}", PhaseKind.OPEN, begins=begins, ends=begins + 0.1 * DAY)
            begun.append((begins, name, f"phase-{key}", f'{name.upper()}: the phase "p{number}" has begun'))
    with reading(service.engine) as connection:
        accesses = [read_access(connection, NOBODY, name) for name in ("wmt", "other")]
    told = [(each.campaign, each.key, each.title) for each in news_of(accesses)]
    assert told == [tuple(each) for _, *each in sorted(begun, reverse=True)[:MOST]]
