"""What tests that make trouble share."""

from collections.abc import Iterator

import pytest

from steelyard.metrics import built_in
from tests.faults.patient import register_patient
from tests.faults.troubled import register


@pytest.fixture(scope="package", autouse=True)
def _troubled() -> Iterator[None]:
    """The metrics that make trouble are known here and nowhere else."""
    houses = {id(each): dict(each) for each in (built_in.PLACES, built_in.LEARNED)}
    register()
    register_patient()
    yield
    for each in (built_in.PLACES, built_in.LEARNED):
        each.clear()
        each.update(houses[id(each)])
