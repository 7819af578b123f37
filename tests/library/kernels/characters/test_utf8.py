"""What is UTF-8 is what Python's strict decoder takes."""

from itertools import product

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.kernels.characters.utf8 import validate_utf8

# The first and last bytes of everything that the tables of well-formed UTF-8 tell apart.
BYTES = bytes.fromhex("0a 7f 80 8f 90 9f a0 bf c1 c2 df e0 e1 ec ed ee ef f0 f1 f3 f4 f5 ff")
PIECES = st.sampled_from(["a", "\n", "\r", "\0", "é", "\u0085", "\u2028", "€", "😀", "x" * 60, "ž" * 31, "中" * 20])
BROKEN = st.sampled_from([b"\x80", b"\xc3", b"\xc0\x80", b"\xe2\x82", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xff"])


def is_utf8(text):
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


@given(st.lists(PIECES.map(str.encode) | BROKEN, max_size=12).map(b"".join) | st.binary())
@example(b"")
@example(b"\n" * 5000)
@example(b"x" * 64 + b"\xc3")
@example(b"x" * 63 + "é".encode())
@example(b"x" * 62 + b"\xe2\x82")
def test_a_look_tells_what_the_text_is_like(text):
    found = validate_utf8(text)
    longest = max(len(line) + 1 for line in text.split(b"\n"))
    assert (found.is_utf8, found.line_feeds) == (is_utf8(text), text.count(b"\n"))
    assert longest <= found.longest < longest + 200


@pytest.mark.parametrize("before", [0, 13, 61, 62, 63, 125])
def test_sequences_are_distinguished_from_what_is_none_wherever_they_lie(before):
    for length in (1, 2, 3):
        for sequence in map(bytes, product(BYTES, repeat=length)):
            text = b"x" * before + sequence
            assert validate_utf8(text).is_utf8 == is_utf8(text), text
            assert validate_utf8(text + b"x" * 70).is_utf8 == is_utf8(text + b"x"), text


def test_sequences_of_four_bytes():
    for first, second in product(range(0xEE, 0x100), range(0x70, 0x100, 8)):
        for third, fourth in product((0x41, 0x80, 0xBF, 0xC2), repeat=2):
            text = bytes([first, second, third, fourth])
            assert validate_utf8(text).is_utf8 == is_utf8(text), text


def test_every_code_point_is_taken_and_no_surrogate():
    planes = [*range(0xD800), *range(0xE000, 0x110000)]
    assert validate_utf8("".join(map(chr, planes)).encode()).is_utf8
    assert not any(validate_utf8(chr(code).encode(errors="surrogatepass")).is_utf8 for code in range(0xD800, 0xE000))
