"""A database with the campaign of `quotas`."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from models.database.session import make_engine
from runtime.settings import Settings
from tests.campaigns.quotas.quotas import open_campaign
from tests.scheduler.jobs import one_block_shards


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


@pytest.fixture
def settings(engine: Engine, database_url: str) -> Settings:
    settings = one_block_shards(database_url)
    open_campaign(engine, settings)
    return settings
