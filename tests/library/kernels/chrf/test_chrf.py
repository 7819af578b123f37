"""The kernels of chrF against a slow twin, on texts that reach each of their paths."""

import contextlib
import random
import string
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import BadText
from steelyard.kernels.chrf.chrf import chrf_statistics
from steelyard.kernels.chrf.shared_ngrams import character_ngrams, word_ngrams
from steelyard.kernels.text.words import words

line = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\n"), max_size=20)
# Neighbours of one, two, three and four bytes in all positions of an eight-byte step, white space among them.
WIDTHS = "ab.\u00e9\u07ff\u0085\u00a0\u1680\u2003\u200b\u2028\u3000漢🙂 \t\x1c\x1f"
# More than 64 symbols: these are read by an automaton, longer ones in parts.
long = st.text("abc .", min_size=70, max_size=250)
mixed = st.text(st.sampled_from(WIDTHS), max_size=40)


@settings(deadline=None, max_examples=500)
@given(lines=st.lists(line | mixed, min_size=1, max_size=5))
def test_characters_are_what_str_split_leaves(lines):
    """All of a text is in the text itself; each line is its own reference."""
    text = "\n".join([*lines, *lines]).encode()
    found = character_ngrams(text, np.ones((1, len(lines)), np.uint8), 1, 2)
    left = ["".join(each.split()) for each in lines]
    assert found.lengths.tolist() == [len(each) for each in [*left, *left]]
    assert found.shared[0, 0].tolist() == [[len(each), max(len(each) - 1, 0)] for each in left]


def test_every_code_point():
    every = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and code != ord("\n"))
    left = "".join(every.split())
    # Each once on both sides, the other way round: they share all characters and no pairs but the middle's.
    text = f"{every}\n{every[::-1]}".encode()
    found = character_ngrams(text, np.ones((1, 1), np.uint8), 1, 2)
    assert found.lengths.tolist() == [len(left)] * 2
    assert found.shared[0, 0, 0].tolist() == [len(left), 0]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b"a\nb\n", 2), (b"a", 2), (b"", 2), (b"\n\n", 2), (b"\x80\n", 2), (b"\n\x80", 2), (b"a\xe2\x82\n", 2),
        (b"\xf0\x9f\n\n", 2), (b"\n\xf0\x9f", 2), (b"\n\xf7\xbf\xbf\xbf", 2),
    ],
)  # fmt: skip
def test_what_is_not_that_many_lines_of_utf8_is_refused(text, rows):
    with pytest.raises(BadText, match=rf"not {rows} lines of UTF-8"):
        character_ngrams(text, np.ones((1, 1), np.uint8), rows - 1, 6)


@settings(deadline=None, max_examples=500)
@given(texts=st.lists(st.binary(max_size=40).map(lambda text: text.replace(b"\n", b"")), min_size=2, max_size=4))
def test_any_bytes_are_counted_or_refused(texts):
    with contextlib.suppress(BadText):
        character_ngrams(b"\n".join(texts), np.ones((1, 1), np.uint8), len(texts) - 1, 6)


def slow_words(text: str) -> list[str]:
    """Popovic's chrF++ script cuts one punctuation mark from a word, from its end if it can."""
    cut = []
    for word in text.split():
        if len(word) > 1 and word[-1] in string.punctuation:
            cut += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in string.punctuation:
            cut += [word[0], word[1:]]
        else:
            cut.append(word)
    return cut


def slow_statistics(hypothesis: str, reference: str, nc: int, nw: int) -> list[int]:
    statistics = []
    sides = ["".join(text.split()) for text in (hypothesis, reference)]
    cut = [slow_words(text) for text in (hypothesis, reference)]
    for (left, right), orders in ((sides, nc), (cut, nw)):
        for n in range(1, orders + 1):
            ours = Counter(tuple(left[i : i + n]) for i in range(len(left) - n + 1))
            theirs = Counter(tuple(right[i : i + n]) for i in range(len(right) - n + 1))
            statistics += [ours.total() if theirs else 0, theirs.total(), (ours & theirs).total()]
    return statistics


def statistics_of(references: list[str], hypotheses: list[str], nc: int, nw: int) -> np.ndarray:
    """One segment, one or more references, one or more systems."""
    rows = [*references, *hypotheses]
    return statistics_of_rows(rows, np.ones((len(references), 1), np.uint8), len(hypotheses), nc, nw)[:, 0]


def statistics_of_rows(rows: list[str], present: np.ndarray, systems: int, nc: int, nw: int) -> np.ndarray:
    text = "\n".join(rows).encode()
    return chrf_statistics(
        character_ngrams(text, present, systems, nc) if nc else None,
        word_ngrams(words(text, len(rows)), present, systems, nw) if nw else None,
        present, systems, 2,
    )  # fmt: skip


@settings(deadline=None, max_examples=300)
@given(
    texts=st.lists(line | mixed | st.text("ab '.", max_size=60) | long, min_size=2, max_size=4),
    nc=st.integers(0, 8),
    nw=st.integers(0, 4),
)
def test_statistics_are_bag_overlaps(texts, nc, nw):
    reference, *hypotheses = [*texts, texts[-1]]  # the last two are alike
    found = statistics_of([reference], hypotheses, nc, nw)
    assert found.tolist() == [slow_statistics(text, reference, nc, nw) for text in hypotheses]


def random_text(length: int, alphabet: str, seed: int) -> str:
    return "".join(random.Random(seed).choices(alphabet, k=length))


LETTERS = "etaoinshrdlu,. "
HAN = "".join(map(chr, range(0x4E00, 0x6E00)))


@pytest.mark.parametrize(
    ("length", "other_length", "alphabet"),
    [
        (1_000, 4_000, LETTERS),  # an automaton
        (2_500, 4_000, LETTERS),  # one with nearly as many states as can be numbered
        (6_000, 4_000, LETTERS),  # more states, noticed on the way
        (13_000, 4_000, LETTERS),  # more positions than states can be numbered
        (40_000, 45_000, "ab "),
        (30, 150_000, "ab "),  # one n-gram more often than 16 bits can count
        (3_000, 3_000, HAN),  # an alphabet too large for a table
        (300, 9_000, "ab"),  # more visits than a byte can count, positions that are not a multiple of 16
    ],
)
def test_long_segments(length, other_length, alphabet):
    reference, hypothesis = random_text(length, alphabet, 1), random_text(other_length, alphabet, 2)
    twice = [hypothesis, hypothesis[: other_length // 2], reference]
    found = statistics_of([reference], twice, 6, 2)
    assert found.tolist() == [slow_statistics(text, reference, 6, 2) for text in twice]


def test_long_and_short_segments_after_one_another():
    """What one segment leaves behind in the tables must not be seen by the next."""
    lengths = [3, 20_000, 0, 7, 400, 1, 20_000, 90]
    columns = [[random_text(length, LETTERS, seed) for length in lengths] for seed in range(3)]
    rows = [text for column in columns for text in column]
    present = np.ones((1, len(lengths)), np.uint8)
    found = statistics_of_rows(rows, present, 2, 6, 2)
    for system, column in zip(found, columns[1:], strict=True):
        pairs = zip(column, columns[0], strict=True)
        assert system.tolist() == [slow_statistics(*pair, 6, 2) for pair in pairs]


@pytest.mark.parametrize("pattern", ["a", "a ", "".join(map(chr, range(2**16, 2**16 + 100_000)))])
def test_hostile_segments(pattern):
    """Against itself everything matches."""
    text = pattern * (1_000_000 // len(pattern))
    found = statistics_of([text], [text], 6, 2)[0].reshape(-1, 3)
    characters_left = len("".join(text.split()))
    words = len(text.split())
    wanted = [max(0, characters_left - n) for n in range(6)] + [max(0, words - n) for n in range(2)]
    assert found.T.tolist() == [wanted, wanted, wanted]
