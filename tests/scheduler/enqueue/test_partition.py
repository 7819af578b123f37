"""Cutting jobs into shards."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.enqueue.partition import ShardLimits, block_units, count_units, group_systems, partition_blocks

USUAL = ShardLimits(processes=2, shard_seconds=1.0, shortest_seconds=0.05, largest_bytes=128 * 2**20)


def cut_even(blocks: int, cost: float, systems: int = 10, sizes: ShardLimits = USUAL) -> list[tuple[int, int]]:
    parts = partition_blocks([cost] * blocks, 0, [256] * blocks, systems, sizes)
    return [(part.first_block, part.last_block) for part in parts]


@given(
    costs=st.lists(st.floats(0, 10), min_size=1, max_size=60),
    first=st.integers(0, 1000),
    systems=st.integers(1, 300),
    processes=st.integers(1, 64),
    largest=st.integers(1, 2**28),
)
def test_parts_cover_the_blocks_exactly(
    costs: list[float], first: int, systems: int, processes: int, largest: int
) -> None:
    sizes = ShardLimits(processes, 1.0, 0.05, largest)
    parts = partition_blocks(costs, first, [256] * len(costs), systems, sizes)
    assert parts[0].first_block == first
    assert parts[-1].last_block == first + len(costs)
    for before, after in pairwise(parts):
        assert before.last_block == after.first_block
    for part in parts:
        assert part.first_block < part.last_block
        blocks = part.last_block - part.first_block
        assert blocks == 1 or blocks * 256 * systems * 4096 <= largest
        its = costs[part.first_block - first : part.last_block - first]
        assert abs(part.cost - sum(its)) < 1e-9


def test_a_tiny_job_is_one_shard() -> None:
    assert cut_even(8, 0.005) == [(0, 8)]


def test_a_small_job_is_spread_over_all_processes() -> None:
    assert cut_even(8, 0.02) == [(0, 4), (4, 8)]
    four = ShardLimits(4, 1.0, 0.05, 2**27)
    assert cut_even(8, 0.03, sizes=four) == [(0, 2), (2, 4), (4, 6), (6, 8)]


def test_a_large_job_has_shards_of_about_a_second() -> None:
    parts = cut_even(1000, 0.05, systems=1)
    assert len(parts) == 50
    assert {last - first for first, last in parts} == {20}


def test_parts_that_memory_limits_are_as_even_as_others() -> None:
    narrow = ShardLimits(2, 1.0, 0.05, 12 * 256 * 10 * 4096)
    assert sorted(last - first for first, last in cut_even(63, 0.005, sizes=narrow)) == [10, 10, 10, 11, 11, 11]


@pytest.mark.parametrize(("costs", "expected"), [([2.4, 1.0, 2.6], 2), ([2.6, 1.0, 2.4], 1)])
def test_it_is_cut_where_halves_are_most_alike(costs: list[float], expected: int) -> None:
    parts = partition_blocks(costs, 0, [256] * 3, 1, ShardLimits(2, 3.0, 0.05, 2**27))
    assert [part.first_block for part in parts] == [0, expected]


def test_one_block_is_never_cut() -> None:
    assert cut_even(1, 100.0) == [(0, 1)]


def test_dear_blocks_stand_alone() -> None:
    parts = partition_blocks([0.1, 0.1, 3.0, 0.1, 0.1], 0, [256] * 5, 1, USUAL)
    assert (2, 3) in {(part.first_block, part.last_block) for part in parts}


def test_long_segments_cost_more_than_in_proportion() -> None:
    usual = block_units(256, 10, 256 * 10 * 120)
    assert usual == pytest.approx(256 * 10), "metrics state their costs for this"
    assert block_units(256, 10, 256 * 10 * 60) == pytest.approx(usual / 2)
    assert block_units(256, 10, 256 * 10 * 480) == pytest.approx(usual * 8)
    assert block_units(256, 0, 0) == 0.0
    assert count_units(256, 2, 2 * 256 * 120) == pytest.approx(512)


def test_the_reference_side_costs_as_much_for_one_system_as_for_many() -> None:
    one, ten, twenty = (block_units(256, systems, 256 * systems * 120) for systems in (1, 10, 20))
    assert ten / 10 < one < ten / 2
    assert twenty - ten == pytest.approx(10 * (ten - one) / 9)
    assert block_units(256, 10, 256 * 10 * 120, references=2) == pytest.approx(1.5 * ten)


@given(systems=st.integers(1, 5000), cost=st.floats(0, 1000), segments=st.integers(1, 256))
def test_groups_of_systems_are_even_and_complete(systems: int, cost: float, segments: int) -> None:
    groups = group_systems(systems, cost, segments, USUAL)
    assert sum(groups) == systems
    assert max(groups) - min(groups) <= 1
    assert min(groups) >= 1


def test_systems_stay_together_unless_one_block_is_too_much() -> None:
    assert group_systems(100, 1.0, 256, USUAL) == [100]
    assert group_systems(300, 1.0, 256, USUAL) == [100, 100, 100]
    assert group_systems(4, 5.0, 256, USUAL) == [2, 1, 1]
