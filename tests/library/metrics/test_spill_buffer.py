"""Byte strings in a temporary file come back as they were written, whatever stays in memory."""

from hypothesis import given
from hypothesis import strategies as st

from steelyard.metrics.spill_buffer import SetAside


@given(st.lists(st.tuples(st.integers(0, 3), st.binary(max_size=50))), st.sampled_from([1, 40, 1 << 20]))
def test_what_was_written_comes_back(pieces, held_bytes):
    aside = SetAside(held_bytes)
    for number, piece in pieces:
        aside.write(number, piece)
    assert len(aside) == max((number + 1 for number, _ in pieces), default=0)
    for number in range(len(aside)):
        expected = b"".join(piece for place, piece in pieces if place == number)
        assert aside.whole(number) == b"".join(aside.pieces(number)) == expected


@given(st.lists(st.tuples(st.integers(0, 2), st.binary(min_size=1, max_size=20)), max_size=8))
def test_what_is_read_in_between_changes_nothing(pieces):
    aside, written = SetAside(30), {}
    for number, piece in pieces:
        aside.write(number, piece)
        written[number] = written.get(number, b"") + piece
        # The place where one writes on is not where one has read.
        assert {each: aside.whole(each) for each in written} == written


def test_large_pieces_come_back_in_small_ones():
    aside = SetAside()
    text = bytes(range(256)) * 5000
    aside.write(0, text)
    pieces = list(aside.pieces(0))
    assert len(pieces) == 5
    assert b"".join(pieces) == text
