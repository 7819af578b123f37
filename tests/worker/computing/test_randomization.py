"""Which pairs of a contest are looked at together."""

from hypothesis import given
from hypothesis import strategies as st

from models.results.randomizations import Pair, RandomizationPlan
from worker.computing.randomization import group_pairs


@st.composite
def contests(draw: st.DrawFn) -> RandomizationPlan:
    """Up to 12 systems with 1 to 4 runs, and some of their pairs by two metrics."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=12))
    systems, first = [], 0
    for size in sizes:
        systems.append(tuple(range(first, first + size)))
        first += size
    every = [Pair(metric, a, b) for metric in (0, 1) for a in range(len(sizes)) for b in range(a + 1, len(sizes))]
    return RandomizationPlan(
        1, tuple(systems), tuple(draw(st.permutations(every))[: draw(st.integers(1, len(every)))]), 10, 1
    )


@given(contest=contests(), most=st.integers(0, 40))
def test_every_pair_is_looked_at_once_and_few_systems_at_a_time(contest: RandomizationPlan, most: int) -> None:
    for metric in (0, 1):
        parts = list(group_pairs(contest, metric, most))
        numbers = [number for part in parts for number in part]
        assert sorted(numbers) == [n for n, pair in enumerate(contest.pairs) if pair.metric == metric]
        for part in parts:
            pairs = [contest.pairs[number] for number in part]
            systems = {system for pair in pairs for system in (pair.a, pair.b)}
            runs = sum(len(contest.systems[system]) for system in systems)
            assert runs <= max(most, 8) or len(systems) <= 2


def test_what_fits_is_looked_at_at_once() -> None:
    contest = RandomizationPlan(1, ((1,), (2,), (3, 4)), (Pair(0, 0, 1), Pair(1, 0, 2), Pair(0, 1, 2)), 10, 1)
    assert list(group_pairs(contest, 0, 4)) == [[0, 2]]
    assert list(group_pairs(contest, 1, 3)) == [[1]]
