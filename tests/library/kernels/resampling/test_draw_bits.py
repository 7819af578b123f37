from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.kernels.resampling.draw_bits import draw_bits
from steelyard.kernels.resampling.resampling import resampling_counts


def counts_of(drawn):
    """Back again, by the definition in kernels/draw_bits.h."""
    runs, rows, _ = drawn.bits.shape
    counts = np.zeros((rows, runs * 64), np.int64)
    ends = [0] * (runs * rows + 1) if drawn.ends is None else drawn.ends.tolist()
    for run in range(runs):
        for row in range(rows):
            ones, twos = (int(word) for word in drawn.bits[run, row])
            for i in range(64):
                counts[row, run * 64 + i] = (ones >> i & 1) + 2 * (twos >> i & 1)
            for at in range(ends[run * rows + row], ends[run * rows + row + 1]):
                group, which = divmod(int(drawn.entries[at]), 256)
                for i in range(8):
                    counts[row, run * 64 + group * 8 + i] += 4 * (which >> i & 1)
    assert not counts[:, drawn.segments :].any()
    return counts[:, : drawn.segments]


@given(st.integers(0, 4), st.integers(0, 200), st.sampled_from([np.uint8, np.uint16]), st.integers(0, 99))
def test_bits_say_the_counts(rows, segments, kind, seed):
    rng = np.random.default_rng(seed)
    counts = rng.poisson(rng.choice([0.1, 1, 40]), (rows, segments)).astype(kind)
    drawn = draw_bits(counts)
    assert (counts_of(drawn) == counts).all()
    assert (drawn.draws == counts.sum(axis=1, dtype=np.int64)).all()
    assert drawn.size >= drawn.bits.nbytes


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_every_count(kind):
    # A row takes memory by its count: all of 16 bits would take a gigabyte, so above 4,095 only where bits change.
    last = np.iinfo(kind).max
    changes = [count for edge in range(2**12, last + 1, 2**8) for count in (edge - 1, edge, edge + 1)]
    counts = np.array([*range(min(last, 2**12) + 1), *changes, last]).astype(kind)[:, np.newaxis]
    assert draw_bits(counts).draws.tolist() == counts[:, 0].tolist()
    chosen = counts[[*range(300)], :].repeat(9, axis=1) if kind == np.uint16 else counts.repeat(9, axis=1)
    assert (counts_of(draw_bits(chosen)) == chosen).all()


def test_counts_that_are_not_contiguous():
    counts = resampling_counts(700, 1, 6, 0, 700)
    assert (counts_of(draw_bits(counts[::2, 3:650])) == counts[::2, 3:650]).all()


def test_parts():
    counts = resampling_counts(700, 1, 6, 0, 700)
    drawn = draw_bits(counts)
    for first, last in ((0, 64), (64, 128), (128, 700), (640, 700), (0, 700)):
        part = drawn.part(first, last)
        assert (counts_of(part) == counts[:, first:last]).all()
        assert (part.draws == counts[:, first:last].sum(axis=1)).all()
