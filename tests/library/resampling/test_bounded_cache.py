from __future__ import annotations

from steelyard.resampling.bounded_cache import BoundedCache


def test_the_last_results_are_kept_up_to_so_many_bytes():
    made = []
    remembered = BoundedCache(lambda key: made.append(key) or key * [0], len, 10)
    assert remembered(4) is remembered(4)
    remembered(6)
    remembered(4)
    assert made == [4, 6]
    remembered(1)
    assert remembered(4) == [0] * 4
    assert made == [4, 6, 1]
    remembered(6)
    assert made == [4, 6, 1, 6]


def test_what_is_too_large_is_made_again_and_drops_nothing():
    made = []
    remembered = BoundedCache(lambda key: made.append(key) or key * [0], len, 10)
    for key in (3, 11, 11, 3):
        remembered(key)
    assert made == [3, 11, 11]
