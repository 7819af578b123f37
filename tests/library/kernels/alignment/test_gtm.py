from __future__ import annotations

import random
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels.alignment.gtm import MOST_PAIRS, gtm_runs, taken_runs
from tests.library.kernels.word_rows import words_of
from tests.library.metrics.alignment.gtm_definition import gtm_runs_of


def check(references, systems, present, exponent=2):
    words = words_of(references, systems)
    totals, rests = gtm_runs(words, present, len(systems), exponent)
    taken, counts, _ = taken_runs(words, present, len(systems))
    per_segment = iter(np.split(taken, np.cumsum(counts.ravel())[:-1]))
    for s, system in enumerate(systems):
        for i, hypothesis in enumerate(system):
            there = [text[i] for text, mask in zip(references, present.tolist(), strict=True) if mask[i]]
            runs = gtm_runs_of(hypothesis, there)
            sizes = [size for size, _, _ in runs]
            whole = [size for size in sizes if size.denominator == 1]
            rest = Fraction(int(rests[s, i]), len(there))
            # A whole rest may be a run or what is left of one; only the sum is defined.
            assert totals[s, i] + float(rest) ** exponent == pytest.approx(float(sum(z**exponent for z in sizes)))
            assert rest.denominator == 1 or whole == sizes[:-1]
            check_places(next(per_segment).tolist(), rest, runs, hypothesis, there)


def check_places(taken, rest, runs, hypothesis, references):
    """Runs are where the definition has them; the last one is somewhere where it fits.

    Where the last one spends the budget, the definition may cut a longer run to it that is partly used already.
    """
    joined = [None]
    for reference in references:
        joined += [*reference, None]
    average = Fraction(sum(map(len, references)), len(references))
    spent = sum(size for size, _, _ in runs) == min(len(hypothesis), average)
    certain = len(runs) - spent if runs else 0
    assert len(taken) == len(runs)
    assert [tuple(run) for run in taken[:certain]] == runs[:certain]
    for side in (1, 2):
        places = [place for words, *begins in taken for place in range(begins[side - 1], begins[side - 1] + words)]
        assert len(places) == len(set(places))
    for words, i, j in taken:
        assert hypothesis[i : i + words] == joined[j : j + words]
    if taken:
        words, *_ = taken[-1]
        assert words == ceil(runs[-1][0])
        assert not rest or rest == runs[-1][0]


@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_equals_the_definition(data):
    segment = st.lists(st.integers(0, data.draw(st.integers(0, 4))), max_size=data.draw(st.sampled_from([3, 9, 16])))
    segments = data.draw(st.integers(1, 3))
    text = st.lists(segment, min_size=segments, max_size=segments)
    references = data.draw(st.lists(text, min_size=1, max_size=4))
    systems = data.draw(st.lists(text, min_size=1, max_size=3))
    present = np.array(
        [data.draw(st.lists(st.integers(0, 1), min_size=segments, max_size=segments)) for _ in references]
    )
    present[0] |= ~present.any(axis=0)
    check(references, systems, present.astype(np.uint8), data.draw(st.sampled_from([1, 2, 3])))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), types=st.integers(1, 6), length=st.integers(20, 45))
def test_equals_the_definition_on_longer_segments(seed, types, length):
    """Pieces of the references, shuffled: many runs that cut one another."""
    draw = random.Random(seed)
    references = [[[draw.randrange(types) for _ in range(length)]] for _ in range(draw.randint(1, 3))]
    systems = []
    for _ in range(2):
        hypothesis = []
        while len(hypothesis) < length:
            (source,) = draw.choice(references)
            begin = draw.randrange(len(source))
            hypothesis += source[begin : begin + draw.randint(1, 9)]
        systems.append([hypothesis])
    check(references, systems, np.ones((len(references), 1), np.uint8))


LONG = 1000
HOSTILE = {
    "one word": ([0] * LONG, [0] * (LONG - 7), [LONG - 7]),
    "one word among others": ([0] * LONG, [0, 1] * (LONG // 2), [1] * (LONG // 2)),
    "two words in turn": ([0, 1] * (LONG // 2), [1, 0] * (LONG // 2), [LONG - 1, 1]),
    "runs of all lengths": (
        [0] * LONG,
        [word for run in range(44) for word in [0] * run + [1]],
        [run for run in range(44) if run][::-1],
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_long_and_repetitive_segments(case):
    hypothesis, reference, runs = HOSTILE[case]
    present = np.ones((1, 1), np.uint8)
    for one, other in [(hypothesis, reference), (reference, hypothesis)]:
        totals, rests = gtm_runs(words_of([[one]], [[other]]), present, 1, 2.0)
        assert totals[0, 0] == sum(run**2 for run in runs)
        assert rests[0, 0] == 0
        taken, _, _ = taken_runs(words_of([[one]], [[other]]), present, 1)
        assert sorted(taken[:, 0].tolist(), reverse=True) == sorted(runs, reverse=True)


@pytest.mark.parametrize("hypothesis", [100_000, 2048, 2049])
def test_words_beyond_the_pairs_that_are_looked_at_are_in_no_run(hypothesis):
    """Of 512 equal words in the reference, 2,048 of the hypothesis make as many pairs as there may be."""
    reference = [0] * 512 + [1] * 2**17
    words = words_of([[reference]], [[[1] * 7 + [0] * hypothesis + [1]]])
    taken, _, _ = taken_runs(words, np.ones((1, 1), np.uint8), 1)
    assert 512 * 2048 == 8 * 2**17 == MOST_PAIRS
    # The seven words take seven of eight parts of the pairs; 256 others are looked at.
    assert sorted(taken[:, 0].tolist()) == [7, 256]
