"""What tests that make trouble share."""

from collections.abc import Iterator

import pytest

from steelyard.metrics import registry
from tests.faults.troubled import register


@pytest.fixture(scope="package", autouse=True)
def _troubled() -> Iterator[None]:
    """The metrics that make trouble are known here and nowhere else."""
    house = registry.METRICS
    register()
    yield
    registry.METRICS = house
