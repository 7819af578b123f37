"""How test sets are called with their references, and how much there is of something."""

import pytest

from steelyard.text.wording import number_of, with_references


@pytest.mark.parametrize(
    ("labels", "said"),
    [((), "news, without texts"), (("A",), "news, reference A"), (("A", "B"), "news, references A + B")],
)
def test_with_references(labels, said):
    assert with_references("news", labels) == said


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [(1, "entry", "1 entry"), (0, "entry", "0 entries"), (1200, "entry", "1,200 entries"), (2, "line", "2 lines"),
     (1, "loss", "1 loss"), (2, "loss", "2 losses")],
)  # fmt: skip
def test_number_of(count, noun, said):
    assert number_of(count, noun) == said
