"""The words of a text in order, against Python's own sorting."""

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels.text.word_order import word_order
from steelyard.metrics.segments import Segments

# Alike in their first 8 bytes, shorter ones among them; NUL is what a shorter word is filled up with.
WORDS = st.one_of(
    st.text("ab\0\x01é😀", min_size=1, max_size=4),
    st.builds("{}{}".format, st.sampled_from(["", "a", "straßen", "stranger", "\0" * 7]), st.text("ab\0ž", min_size=1)),
)
LINES = st.lists(st.lists(WORDS, max_size=6).map(" ".join), min_size=1, max_size=4)


@settings(max_examples=300, deadline=None)
@given(LINES, st.data())
def test_equals_pythons_sorting(lines, data):
    rows = data.draw(st.integers(0, len(lines)))
    words = Segments(references=["\n".join(lines).encode()], hypotheses=[]).words("none", "mixed")
    tokens = [word.encode() for line in lines[:rows] for word in line.split()]
    expected = sorted(set(tokens))
    ordered, places = word_order(words, rows)
    assert ordered == b"".join(word + b"\n" for word in expected)
    assert [expected[place] for place in places.tolist()] == tokens
