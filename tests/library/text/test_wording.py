"""How test sets are called with their references."""

import pytest

from steelyard.text.wording import with_references


@pytest.mark.parametrize(
    ("labels", "said"),
    [((), "news, without texts"), (("A",), "news, reference A"), (("A", "B"), "news, references A + B")],
)
def test_with_references(labels, said):
    assert with_references("news", labels) == said
