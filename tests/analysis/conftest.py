"""What all tests of this folder share."""

import pytest


@pytest.fixture(autouse=True)
def _rows_come_backwards(rows_backwards: None) -> None:
    """Where no statement says an order, none may be relied on."""
