"""What tests that make trouble share."""

from collections.abc import Iterator

import pytest

import metrics
from tests.faults.troubled import register


@pytest.fixture(scope="package", autouse=True)
def _troubled() -> Iterator[None]:
    """The metrics that make trouble are known here and nowhere else."""
    house = metrics.METRICS
    register()
    yield
    metrics.METRICS = house
