"""How rare tokens are in references: counted in shards, weighed as bert-score does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.errors import BadState
from steelyard.metrics.learned.idf import Idf, IdfCounts
from steelyard.metrics.learned.tokens import Tokens
from steelyard.metrics.segments import Segments

LETTERS = IdfCounts("small@abc", "test", lambda _, texts: [Tokens(tuple(map(ord, text)), False) for text in texts])


def segments(*references: list[str]) -> Segments:
    return Segments.from_lines(references=references, hypotheses=[["x"] * len(references[0])], variable_references=True)


def test_a_document_is_a_reference_that_a_segment_has() -> None:
    """Each counts once, however often a token is in it."""
    found = LETTERS.read(LETTERS.merge([LETTERS.count(segments(["aab", "b"], ["", "ac"]))]))
    assert (found.documents, found.counts) == (3, {ord("a"): 2, ord("b"): 2, ord("c"): 1})
    weights = found.weights([ord("a"), ord("c"), ord("d")])
    np.testing.assert_allclose(weights, [math.log(4 / 3), math.log(4 / 2), math.log(4 / 1)], rtol=1e-15)


def test_shards_make_what_the_whole_makes() -> None:
    first, second = ["aab", "b"], ["", "ac"]
    whole = LETTERS.merge([LETTERS.count(segments(first, second))])
    parts = [LETTERS.count(segments([one], [other])) for one, other in zip(first, second, strict=True)]
    assert LETTERS.merge(parts) == LETTERS.merge(parts[::-1]) == whole


def test_another_model_or_tokenizer_has_counts_of_its_own() -> None:
    """A model by another name is the same one."""
    keys = {
        IdfCounts(*names, LETTERS.tokenize).key for names in (("a@1", "t"), ("b@1", "t"), ("a@2", "t"), ("a@1", "u"))
    }
    assert len(keys) == 3


@pytest.mark.parametrize(
    "state", [b"", b"[]", b'{"form": "bertscore-idf 0"}', b'{"form": "bertscore-idf 1", "counts": {}}']
)
def test_what_is_no_count_is_refused(state: bytes) -> None:
    with pytest.raises(BadState, match=r"cannot be read .*Queue the evaluation again\."):
        LETTERS.read(state)


def test_a_digest_is_that_of_the_counts() -> None:
    one, other = (LETTERS.read(LETTERS.count(segments([text], [""]))) for text in ("ab", "ac"))
    assert isinstance(one, Idf)
    assert one.digest != other.digest
