"""What all tests of this folder share."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from models.database.session import make_engine


@pytest.fixture(autouse=True)
def _rows_come_backwards(rows_backwards: None) -> None:
    """Where no statement says an order, none may be relied on."""


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    engine = make_engine(database_url)
    yield engine
    engine.dispose()
