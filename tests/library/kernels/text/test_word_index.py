"""Words found among others, against a list's own search."""

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.kernels.text.word_index import WordIndex

# The first 15 bytes are hashed at once; longer words differ behind them, or in their length alone.
WORD = st.one_of(
    st.binary(min_size=1, max_size=3),
    st.builds(
        bytes.__add__, st.sampled_from([b"a" * length for length in (7, 8, 14, 15, 16, 24)]), st.binary(max_size=9)
    ),
).map(lambda word: word.replace(b"\n", b"\0"))


def lines_of(words):
    return b"".join(word + b"\n" for word in words)


@settings(max_examples=300, deadline=None)
@given(st.lists(WORD, unique=True, max_size=20), st.lists(WORD, max_size=20))
def test_every_word_is_found_or_not_there(known, others):
    index = WordIndex(lines_of(known))
    wanted = known[::-1] + others
    assert index.places(lines_of(wanted)).tolist() == [known.index(word) if word in known else -1 for word in wanted]


def test_many_words():
    words = [str(number).encode() for number in range(5000)]
    index = WordIndex(lines_of(words[:4096]))
    assert index.places(lines_of(words)).tolist() == [*range(4096), *[-1] * 904]
    assert index.nbytes < 40 * 4096
