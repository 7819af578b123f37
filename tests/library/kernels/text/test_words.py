"""Tokens as numbers, against Python's own cutting and a dictionary."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp

from steelyard.errors import MetricsError
from steelyard.kernels.text.class_tokenizer import BLANK
from steelyard.kernels.text.tokenize_13a import tokenize_13a
from steelyard.kernels.text.words import words
from steelyard.tokenizers.rules import LAST_WHITE_SPACE, blank_kinds

# White space of one to three bytes, what begins like it, what 13a cuts, bytes that are no UTF-8, and long tokens that
# differ in one byte: the first 15 are compared at once.
PIECES = ["a", "5", "5", ".", ",", ".", "-", " ", " ", "\n", "!", "\0", "\x1c", "\u00a0", "\u00a9", "\u0085", "\u2009"]
PIECES += ["\u2028", "\u205f", "\u2060", "\u3000", "\u3001", "\u1680", "\u1681", "ž", "😀"]
PIECES += [("abcdefgh" * 4)[:length] + last for length in (7, 8, 14, 15, 16, 23, 24, 30) for last in ("", "x", "\0")]
RULES = TokenizerRegexp()
LINES = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
RAGGED = st.lists(st.sampled_from(PIECES).map(str.encode) | st.binary(max_size=3), max_size=60).map(b"".join)


def numbered(text: bytes) -> tuple[list[list[int]], list[str]]:
    """Rows of numbers in order of first occurrence, and the tokens: bytes that are no UTF-8 are taken for letters."""
    numbers: dict[str, int] = {}
    rows = [
        [numbers.setdefault(token, len(numbers)) for token in line.decode(errors="surrogateescape").split()]
        for line in text.split(b"\n")
    ]
    return rows, list(numbers)


def by_13a(text: bytes) -> tuple[list[list[int]], list[str]]:
    """The same of sacreBLEU's tokens."""
    return numbered("\n".join(RULES(f" {line} ") for line in text.decode().split("\n")).encode())


def found(text: bytes, *, mteval_13a: bool = False) -> tuple[list[list[int]], list[str]]:
    """The same by the kernel."""
    by_kernel = words(text, text.count(b"\n") + 1, mteval_13a=mteval_13a)
    starts, ids = by_kernel.starts.tolist(), by_kernel.ids.tolist()
    types = by_kernel.lines.decode(errors="surrogateescape").split("\n")[:-1]
    assert by_kernel.types == len(types)
    return [ids[begin:end] for begin, end in pairwise(starts)], types


@settings(max_examples=400, deadline=None)
@given(RAGGED)
@example(b"\xe2\x80")
@example(b"\xc2")
def test_white_space_separates_whatever_the_bytes(text):
    assert found(text) == numbered(text)


@settings(max_examples=400, deadline=None)
@given(LINES)
def test_13a_cuts_as_its_rules_do(line):
    text = line.encode()
    assert found(text, mteval_13a=True) == by_13a(text) == numbered(tokenize_13a(text))


@pytest.mark.parametrize(
    "middle", ["5.5", "5..5", ".5", "a,.5", "5-5", "\u2009", "\u00a0a", "a!b", "\na\n", "x" * 70, "." * 70 + "5"]
)
def test_blocks_of_bytes_leave_no_seam(middle):
    """The kernel looks at 64 bytes at a time, and at the tokens of 1,024."""
    for before in (*range(50, 70), *range(1010, 1030)):
        for ending in ("", "5", " z\n"):
            text = f"{'b' * (before % 7)} {'c' * (before - before % 7 - 1)}{middle}{ending}".encode()
            assert found(text) == numbered(text)
            assert found(text, mteval_13a=True) == by_13a(text) == numbered(tokenize_13a(text))


def test_white_space_is_pythons():
    """Of all code points, in the kernels and in the tables of tokenizers by classes of characters."""
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000 and code != ord("\n")]
    expected = [code for code in codes if chr(code).isspace()]
    text = "\n".join(f"a{chr(code)}b" for code in codes).encode()
    tokens = np.diff(words(text, len(codes)).starts)
    assert [code for code, many in zip(codes, (tokens > 1).tolist(), strict=True) if many] == expected
    blank = np.flatnonzero(blank_kinds() == BLANK).tolist()
    assert sorted({*blank} - {ord("\n")}) == expected
    assert max(expected) == LAST_WHITE_SPACE


def test_many_types_are_all_distinct():
    text = " ".join(
        f"{number}{'x' * (number % 3 * 10)}" for number in [*range(40_000), *range(39_999, -1, -1)]
    ).encode()
    assert found(text) == numbered(text)


@pytest.mark.parametrize(("text", "rows"), [(b"a\nb", 1), (b"a\nb", 3), (b"", 0), (b"", 2)])
def test_lines_are_counted(text, rows):
    with pytest.raises(MetricsError, match=rf"must have {rows}|rows > 0"):
        words(text, rows)
