"""Rows with ids, whatever file they come from: for every choice of fields, paragraphs and limits."""

from itertools import product

import pytest

from steelyard.formats.markup.limits import MarkupLimits
from steelyard.formats.reader import Reading
from steelyard.formats.rows import Rows
from steelyard.text.limits import OverLimit

IDS = ({"doc_id": "d"}, {"segment_id": 3}, {"doc_id": "d", "segment_id": 3})
TEXTS = {"src": "a  b\n\nc", "ref": "d\n\ne f", "hyp": "g\n\nh"}


@pytest.mark.parametrize(("ids", "paragraphs", "count"), list(product(IDS, (True, False), (1, 2, 3))))
def test_only_documents_are_cut_into_paragraphs(ids, paragraphs, count):
    row = {**ids, **dict(list(TEXTS.items())[:count])}
    rows = Rows("F", Reading(label="A", paragraphs=paragraphs))
    rows.begin(list(row), 1)
    rows.add(row, 1)
    found = {
        text.role: {name: [each.text for each in one.segments.values()] for name, one in text.documents.items()}
        for text in rows.file().texts.values()
    }
    document = ids.get("doc_id", "all")
    cut = paragraphs and "segment_id" not in ids
    expected = [
        [b" ".join(part.encode().split()) for part in (text.split("\n\n") if cut else [text])]
        for text in list(TEXTS.values())[:count]
    ]
    assert [of_text[document] for of_text in found.values()] == expected


@pytest.mark.parametrize(("texts", "limit"), list(product((1, 2, 3), range(1, 8))))
def test_each_text_of_a_row_counts(texts, limit):
    fields = list(TEXTS)[:texts]
    rows = Rows("F", Reading(label="A", markup_limits=MarkupLimits(segments=limit)))
    rows.begin(["segment_id", *fields], 1)
    taken = limit // texts
    for number in range(taken):
        rows.add({"segment_id": number, **dict.fromkeys(fields, "x")}, number + 2)
    with pytest.raises(OverLimit, match=f"F, line {taken + 2}: more than {limit} segments"):
        rows.add({"segment_id": taken, **dict.fromkeys(fields, "x")}, taken + 2)
