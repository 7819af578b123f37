"""Rows with ids, whatever file they come from: for every choice of fields, paragraphs and limits."""

import json
from itertools import product

import pytest

from steelyard.formats.detection import read_marked_file
from steelyard.formats.markup.documents import Role
from steelyard.formats.markup.limits import MarkupLimits
from steelyard.formats.reader import Reading
from steelyard.formats.rows import TEXT_FIELDS, Rows
from steelyard.text.findings import BadMarkup
from steelyard.text.limits import DEFAULT_LIMITS, OverLimit

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


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
def test_texts_that_are_each_short_enough_may_be_too_long_together(form):
    """The limit is that of a segment, not of the line which it stands in with others."""
    texts = {"source": "s" * DEFAULT_LIMITS.segment_characters, "hypothesis": "h" * DEFAULT_LIMITS.segment_characters}
    row = {"segment_id": "1", **texts}
    lines = [json.dumps(row)] if form == "jsonl" else ["\t".join(row), "\t".join(row.values())]
    found = read_marked_file("\n".join(lines).encode(), name="F", role=None, label="A")
    assert [[each.text for each in text.documents["all"].segments.values()] for text in found.texts.values()] == [
        [text.encode()] for text in texts.values()
    ]
    longer = lines[-1].replace("hh", "hhh", 1)
    with pytest.raises(OverLimit, match=f"line {len(lines)}: more than 1,000,000 characters in one segment"):
        read_marked_file("\n".join([*lines[:-1], longer]).encode(), name="F", role=None, label="A")


@pytest.mark.parametrize("role", Role)
def test_a_file_without_the_text_that_is_asked_for_is_told_what_that_may_be_called(role):
    rows = Rows("F", Reading(label="A", role=role))
    with pytest.raises(BadMarkup) as raised:
        rows.begin(["segment_id", "words"], 1)
    called = str(raised.value).partition("Call it ")[2].rstrip(".").split(" or ")
    assert called == list(TEXT_FIELDS[role])


def test_names_of_texts_are_those_that_were_given():
    """Files of mteval name their systems themselves; two of these that are called alike are an error."""
    rows = Rows("F", Reading(label="A"))
    rows.begin(["segment_id", "hyp"], 1)
    rows.add({"segment_id": 1, "hyp": "x"}, 2)
    assert rows.file().as_given
