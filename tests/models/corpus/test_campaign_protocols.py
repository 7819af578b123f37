"""The locks of a campaign's rules: many may rely on them at once, and one changes them alone."""

from collections.abc import Callable

import pytest
from sqlalchemy import Connection

from models.corpus.campaign_protocols import lock_campaign, lock_campaign_shared
from models.database.session import make_engine, writing
from models.errors import RowsHeld
from scheduler.ingest.campaigns import store_campaign

Lock = Callable[[Connection, int], None]


@pytest.mark.parametrize(
    ("first", "second", "waits"),
    [
        (lock_campaign_shared, lock_campaign_shared, False),
        (lock_campaign_shared, lock_campaign, True),
        (lock_campaign, lock_campaign_shared, True),
        (lock_campaign, lock_campaign, True),
    ],
)
def test_who_changes_rules_waits_for_those_who_rely_on_them(
    postgres_url: str, first: Lock, second: Lock, *, waits: bool
) -> None:
    engine = make_engine(postgres_url)
    with writing(engine) as connection:
        spring, autumn = (store_campaign(connection, name) for name in ("spring", "autumn"))
    with writing(engine) as holder:
        first(holder, spring)
        with writing(engine, lock_seconds=60.0) as other:
            second(other, autumn)
        if waits:
            with pytest.raises(RowsHeld), writing(engine, lock_seconds=0.05) as other:
                second(other, spring)
        else:
            with writing(engine, lock_seconds=60.0) as other:
                second(other, spring)
    engine.dispose()
