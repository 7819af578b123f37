"""What tests that make trouble share."""

from collections.abc import Iterator

import pytest

from steelyard.metrics import registry
from tests.faults.troubled import register


@pytest.fixture(scope="package", autouse=True)
def _troubled() -> Iterator[None]:
    """The metrics that make trouble are known here and nowhere else."""
    house = dict(registry.PLACES)
    register()
    yield
    registry.PLACES.clear()
    registry.PLACES.update(house)
