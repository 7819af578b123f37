"""TER's search against sacreBLEU's, which is greedy and limited: only the same steps give the same number."""

import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter

from steelyard.kernels.edit.ter import least_edits
from tests.library.kernels.edit.ter_pairs import (
    SEEDS,
    along_the_edge,
    common_runs,
    displaced,
    few_words,
    few_words_repeated,
    pair,
    random_words,
)
from tests.library.kernels.word_rows import words_of


def wanted(hypothesis: list[int], reference: list[int]) -> int:
    return lib_ter.translation_edit_rate([str(w) for w in hypothesis], [str(w) for w in reference])[0]


def found(pairs: list[tuple[list[int], list[int]]]) -> list[float]:
    references = [[reference for _, reference in pairs]]
    systems = [[hypothesis for hypothesis, _ in pairs]]
    present = np.ones((1, len(pairs)), np.uint8)
    return least_edits(words_of(references, systems), present, 1)[0].tolist()


def shuffled_blocks(words: list[int], draw: random.Random, moves: int, types: int) -> list[int]:
    """What a translation does to a text: blocks moved, words dropped, added and replaced."""
    words = list(words)
    for _ in range(moves):
        start, length = draw.randrange(len(words)), draw.randrange(1, 12)
        block = words[start : start + length]
        del words[start : start + length]
        target = draw.randrange(max(0, start - 40), min(len(words), start + 40) + 1)
        words[target:target] = block
    for _ in range(moves):
        place = draw.randrange(len(words))
        words[place : place + draw.randrange(2)] = [draw.randrange(types)] * draw.randrange(2)
    return words


def assert_equal_where_it_matters(monkeypatch, pairs, name: str, value: int) -> None:
    """Equal to sacreBLEU, also for pairs whose number would be another one without this limit of sacreBLEU's."""
    numbers = [wanted(*pair) for pair in pairs]
    assert found(pairs) == numbers
    with monkeypatch.context() as unlimited:
        unlimited.setattr(lib_ter, name, value)
        differs = any(wanted(*pair) != number for pair, number in zip(pairs, numbers, strict=True))
    assert differs, "the limit matters for none of these pairs"


repetitive = st.integers(1, 5).flatmap(lambda types: st.lists(st.integers(1, types), max_size=14))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(repetitive, repetitive), min_size=1, max_size=8))
def test_few_words_that_come_again_and_again(pairs):
    assert found(pairs) == [wanted(*pair) for pair in pairs]


@settings(max_examples=60, deadline=None)
@given(st.permutations(range(1, 13)), st.lists(st.integers(1, 20), max_size=6))
def test_every_word_once(order, more):
    pairs = [(list(order), list(range(1, 13))), (list(order) + more, list(range(1, 13)))]
    assert found(pairs) == [wanted(*pair) for pair in pairs]


@pytest.mark.few(1)
@pytest.mark.parametrize("types", [12, 40, 150])
def test_moved_blocks(types):
    draw = random.Random(types)
    pairs = []
    for length in (8, 20, 35, 50, 63, 65):
        reference = [draw.randrange(types) for _ in range(length)]
        pairs.append((shuffled_blocks(reference, draw, 2, types), reference))
        pairs.append((shuffled_blocks(reference, draw, 4, types), reference))
    assert found(pairs) == [wanted(*pair) for pair in pairs]


@pytest.mark.few(2)
@pytest.mark.parametrize(("length", "moves"), [(100, 1), (100, 3), (200, 1), (400, 1)])
def test_paragraphs(length, moves):
    """Of words as frequent as in a text, so that many blocks may move; short ones of other lengths, too."""
    draw = random.Random(f"{length} {moves}")
    reference = [int(length ** draw.random()) for _ in range(length)]
    hypothesis = shuffled_blocks(reference, draw, moves, length)
    pairs = [(hypothesis, reference)]
    if length == 100:
        pairs += [(hypothesis[length // 3 :], reference), (hypothesis, reference[: -length // 4])]
    assert found(pairs) == [wanted(*pair) for pair in pairs]


@pytest.mark.few(3)
@pytest.mark.parametrize("kind", SEEDS, ids=lambda kind: kind.__name__)
def test_near_the_limits(kind):
    pairs = [pair(kind, seed) for seed in SEEDS[kind]]
    assert found(pairs) == [wanted(*each) for each in pairs]


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("kind", "seeds"),
    [
        (common_runs, [187, 2, 7, 14, 16, 25]),
        (along_the_edge, [12, 19, 30, 32, 35, 36]),
        (displaced, [4, 6, 15, 19, 22, 37]),
        (few_words, range(40)),
        (few_words_repeated, range(40)),
        (random_words, [2, 9, 20, 46, 47, 48]),
    ],
)
def test_the_beam(monkeypatch, kind, seeds):
    assert_equal_where_it_matters(monkeypatch, [pair(kind, seed) for seed in seeds], "_BEAM_WIDTH", 10**6)


@pytest.mark.parametrize("length", [24, 25, 26, 49, 50, 51, 52, 53, 75])
def test_one_word_of_many(length):
    """Where the beam begins to hide a word that is there, place by place."""
    pairs = [([place], list(range(length))) for place in range(length)]
    pairs += [([place, place + 9], list(range(2 * length))) for place in range(2 * length)]
    assert found(pairs) == [wanted(*each) for each in pairs]


def test_the_limit_of_candidates(monkeypatch):
    draw = random.Random(7)
    pairs = []
    for length in (18, 24, 30):
        for types in (2, 3):
            reference = [draw.randrange(types) for _ in range(length)]
            pairs.append((shuffled_blocks(reference, draw, 5, types), reference))
    assert_equal_where_it_matters(monkeypatch, pairs, "_MAX_SHIFT_CANDIDATES", 10**9)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "edits"),
    [
        ([], [], 0),
        ([1, 2], [], 2),
        ([], [1, 2, 3], 3),
        ([1], [1], 0),
        ([1, 2, 3, 4, 5], [4, 5, 1, 2, 3], 1),  # one move
        ([1, 2, 3, 4, 5], [1, 9, 3, 4], 2),  # one word replaced, one too many
        ([3, 2, 1], [1, 2, 3], 2),  # two moves, or two replacements
    ],
)
def test_worked_examples(hypothesis, reference, edits):
    assert found([(hypothesis, reference)]) == [edits]
    assert wanted(hypothesis, reference) == edits


references_and_systems = st.integers(1, 3).flatmap(
    lambda segments: st.tuples(
        st.lists(st.lists(repetitive, min_size=segments, max_size=segments), min_size=1, max_size=4),
        st.lists(st.lists(repetitive, min_size=segments, max_size=segments), min_size=1, max_size=3),
    )
)


@settings(max_examples=100, deadline=None)
@given(references_and_systems, st.data())
def test_fewest_edits_of_the_references_there_are(sides, data):
    references, systems = sides
    segments = len(references[0])
    flags = st.lists(st.integers(0, 1), min_size=len(references), max_size=len(references)).filter(any)
    present = np.array([data.draw(flags) for _ in range(segments)], np.uint8).T.copy()
    edits = least_edits(words_of(references, systems), present, len(systems))
    for s, system in enumerate(systems):
        for i in range(segments):
            there = [text[i] for text, flag in zip(references, present[:, i], strict=True) if flag]
            assert edits[s, i] == min(wanted(system[i], reference) for reference in there)


@pytest.mark.parametrize("order", [1, -1])
def test_a_reference_that_is_one_move_away_beats_one_with_two_other_words(order):
    references = [[[1, 2, 9, 4, 8]], [[4, 5, 1, 2, 3]]][::order]
    assert least_edits(words_of(references, [[[1, 2, 3, 4, 5]]]), np.ones((2, 1), np.uint8), 1).tolist() == [[1]]


def far_apart_moves(length: int, moves: int) -> list[int]:
    words = list(range(length))
    for move in range(moves):
        start = move * (length // moves) + 10
        words.insert(start + 15, words.pop(start))
    return words


def test_hundred_thousand_words():
    """Hostile lengths end soon, and with the right number: each of the words that were moved is one shift."""
    long = list(range(100_000))
    pairs = [
        (far_apart_moves(len(long), 10), long),
        ([word + len(long) for word in long], long),
        (long, long[:40]),
        (long[:10], long),
        (long[:7], long[:3] * 200),
        ([0] * len(long), [0] * 60_000),
        ([1, 2] * 50_000, [2, 1] * 50_000),
    ]
    assert found(pairs)[:2] == [10, 100_000]
    assert all(
        abs(len(h) - len(r)) <= edits <= max(len(h), len(r)) for edits, (h, r) in zip(found(pairs), pairs, strict=True)
    )


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs a limit of address space")
@pytest.mark.parametrize("sizes", [(4_000_000, 1), (3, 8_000_000)])
def test_too_little_memory_is_an_error_and_not_a_crash(sizes):
    program = f"""
import resource
from types import SimpleNamespace
import numpy as np
from steelyard.kernels.edit.ter import least_edits

lengths = np.array({sizes})[::-1]
ids = np.arange(lengths.sum(), dtype=np.int32) % 1000
words = SimpleNamespace(ids=ids, starts=np.array([0, *np.cumsum(lengths)], np.int64))
present = np.ones((1, 1), np.uint8)
least_edits(words, present, 1)
now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (40 << 20), resource.getrlimit(resource.RLIMIT_AS)[1]))
try:
    least_edits(words, present, 1)
except MemoryError as error:
    print(error)
"""
    root = Path(__file__).parents[4]
    environment = {**os.environ, "PYTHONPATH": f"{root}:{root}/library", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "use smaller shards or more memory" in result.stdout
