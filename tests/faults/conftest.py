"""What tests that make trouble share."""

from collections.abc import Iterator

import pytest

from steelyard.metrics import built_in
from tests.faults.troubled import register


@pytest.fixture(scope="package", autouse=True)
def _troubled() -> Iterator[None]:
    """The metrics that make trouble are known here and nowhere else."""
    house = dict(built_in.PLACES)
    register()
    yield
    built_in.PLACES.clear()
    built_in.PLACES.update(house)
