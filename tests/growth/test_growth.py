"""No text costs more than its length says: what reads, cuts and scores is tried on hostile texts that grow.

What is in a registry is here by itself: a new format or kind of judgments fails until `tests.growth.readers` has the
places where a text stands in it. A family of texts is a line in `tests.growth.families`.
"""

import pytest

from tests.growth.measuring import Growth, measured, too_much


@pytest.mark.long
@pytest.mark.parametrize("module", ["tests.growth.readers", "tests.growth.checking", "tests.growth.scoring"])
def test_work_grows_as_it_may(module):
    grown = measured(module)
    assert len(grown) > 100
    assert not too_much(grown)


def test_growth_that_has_ended_counts_where_long_texts_are_estimated_by_short_ones():
    counts = {1 << 4: 1_000_000, 1 << 9: 2_000_000, 1 << 12: 65_000_000, 1 << 15: 520_000_000}
    assert not too_much([Growth("each", 1.0, counts)])
    assert too_much([Growth("each", 1.0, counts, since=1 << 9)])
    assert not too_much([Growth("each", 2.0, counts, since=1 << 9)])


@pytest.mark.parametrize(("power", "passes"), [(1.0, True), (1.3, False), (2.0, False)])
def test_growth_is_distinguished_from_a_dear_start(power, passes):
    sizes = (1 << 4, 1 << 9, 1 << 11)
    grown = [Growth("each", 1.0, {size: 100_000 + int(100 * size**power) for size in sizes})]
    assert (not too_much(grown)) == passes
