"""A memory with a bound."""

from hypothesis import given
from hypothesis import strategies as st

from campaigns.leaderboards.cache import LeaderboardCache


def test_what_was_not_used_for_longest_goes_first() -> None:
    memory = LeaderboardCache(30)
    for key in "abc":
        memory.put(key, key.upper(), 10)
    assert memory.get("a") == "A"
    memory.put("d", "D", 10)
    assert [memory.get(key) for key in "abcd"] == ["A", None, "C", "D"]


def test_what_is_too_large_is_not_kept_and_takes_its_older_value_along() -> None:
    memory = LeaderboardCache(30)
    memory.put("a", 1, 10)
    memory.put("a", 2, 31)
    assert (memory.get("a"), memory.held_bytes) == (None, 0)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40)), max_size=60))
def test_it_never_holds_more_than_it_may(puts: list[tuple[int, int]]) -> None:
    memory, last = LeaderboardCache(100), {}
    for number, (key, size) in enumerate(puts):
        memory.put(key, number, size)
        last[key] = number
        assert memory.held_bytes <= 100
    for key, value in last.items():
        assert memory.get(key) in {None, value}


def test_one_may_keep_what_came_last_however_large() -> None:
    memory = LeaderboardCache(30, keeps_last=True)
    memory.put("a", 1, 10)
    memory.put("b", 2, 50)
    assert (memory.get("a"), memory.get("b")) == (None, 2)
    memory.put("c", 3, 10)
    assert (memory.get("b"), memory.get("c"), memory.held_bytes) == (None, 3, 10)
