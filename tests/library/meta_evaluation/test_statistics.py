"""Statistics by their names."""

import pytest

from steelyard.errors import BadParameter
from steelyard.meta_evaluation.statistics import (
    SEGMENT_STATISTICS,
    SYSTEM_STATISTICS,
    segment_statistic,
    system_statistic,
)


@pytest.mark.parametrize(
    ("found", "there"), [(system_statistic, SYSTEM_STATISTICS), (segment_statistic, SEGMENT_STATISTICS)]
)
def test_one_is_found_by_its_name_and_another_name_is_refused_with_those_that_are(found, there):
    assert [found(each.name) for each in there] == list(there)
    with pytest.raises(BadParameter) as raised:
        found("cosine")
    names = ", ".join(each.name for each in there)
    assert str(raised.value) == f'There is no statistic "cosine". There are: {names}.'
