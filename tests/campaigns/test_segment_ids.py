"""Ids of segments on their way from an organiser's files to what submissions are matched by."""

from __future__ import annotations

import json

from sqlalchemy import Engine

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.changes import lock_for_change
from campaigns.corrections.corrections import correct_test_set
from campaigns.test_sets.files import InputTestSet, NamedContent
from campaigns.test_sets.stored import find_campaign_test_set
from models.corpus.test_sets import DocumentSegments, document_segments
from models.database.session import make_engine, reading, writing
from runtime.settings import Settings
from steelyard.formats.plain import Text
from tests.service.campaigns import found, with_test_set

IDS = [("quay", "b"), ("quay", "a"), ("mast", "1")]
KNOWN = {"quay": DocumentSegments([0, 1], ["b", "a"]), "mast": DocumentSegments([2], ["1"])}


def rows(field: str, texts: list[str]) -> bytes:
    lines = [
        json.dumps({"doc_id": document, "segment_id": segment, field: text})
        for (document, segment), text in zip(IDS, texts, strict=True)
    ]
    return "".join(line + "\n" for line in lines).encode()


def made(engine: Engine, source: NamedContent, reference: NamedContent, documents: NamedContent | None = None) -> int:
    found(engine, "wmt")
    files = InputTestSet([reference], source=source, documents=documents, source_language="en", target_language="cs")
    return with_test_set(engine, "wmt", files)


def test_those_of_json_lines_are_kept_with_a_correction_too(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    source = NamedContent("source.jsonl", rows("source", ["x", "y", "z"]))
    reference = NamedContent("A.jsonl", rows("reference", ["one", "two", "three"]))
    first = made(engine, source, reference)
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        test_set = find_campaign_test_set(connection, access, "news")
        corrected = {"A": Text("A.txt", b"one\ntwo\nfour", 3)}
        correct_test_set(connection, Settings(), access, test_set, corrected, "A typing error")
    with writing(engine) as connection:
        access = lock_for_change(connection, COMMAND_LINE, "wmt")
        second = find_campaign_test_set(connection, access, "news").id
    assert second != first
    with reading(engine) as connection:
        assert document_segments(connection, first) == document_segments(connection, second) == KNOWN


def test_plain_files_have_none(sqlite_url: str) -> None:
    engine = make_engine(sqlite_url)
    documents = NamedContent("docs.tsv", b"segment\tdoc_id\tseg_in_doc\n0\tquay\t1\n1\tquay\t2\n2\tmast\t1\n")
    source, reference = NamedContent("source.txt", b"x\ny\nz\n"), NamedContent("A.txt", b"one\ntwo\nthree\n")
    test_set = made(engine, source, reference, documents)
    with reading(engine) as connection:
        found_ids = {name: each.ids for name, each in document_segments(connection, test_set).items()}
    assert found_ids == {"quay": None, "mast": None}
