"""Lines are cut into runs as splitting does."""

from hypothesis import example, given
from hypothesis import strategies as st

from steelyard.text.blocks import line_cuts, split_blocks

TEXTS = st.lists(st.sampled_from([b"", b"a", b"\r", b"\xc2\x85", b"\xff", b"x" * 100, b"y" * 300]), min_size=1).map(
    b"\n".join
)


@given(TEXTS, st.integers(1, 40))
@example(b"\n" * 256, 256)
@example(b"\n" * 255 + b"x" + b"\n" * 300, 256)
@example(b"\n" * 1000, 1)
@example(b"x" * 255 + b"\n", 1)
def test_cuts_lie_behind_every_so_many_lines(text, lines):
    parts = text.split(b"\n")
    cuts = line_cuts(text, lines)
    assert cuts == [len(b"\n".join(parts[:end])) + 1 for end in range(lines, len(parts), lines)]


@given(st.lists(TEXTS, min_size=1, max_size=3))
def test_without_blocks_everything_is_one_run(texts):
    assert list(split_blocks(texts, 0)) == [texts]
