"""What makes a test set another one: all that scores and documents depend on, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import Engine

from models.database.session import writing
from scheduler.ingest.campaigns import store_campaign
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from scheduler.ingest.test_sets import test_set_hash as hash_of

DOCUMENTS = [("one", "news", ""), ("one", "news", ""), ("two", "talks", "accents")]
GIVEN = NewTestSet(
    "set",
    {"A": b"x\ny\nz", "B": b"u\nv\nw"},
    b"1\n2\n3",
    "en",
    "cs",
    DOCUMENTS,
    segment_ids=("1", "2", "1"),
    layers={"A": {"lemma": b"x\ny\nz"}},
)
OTHERS = {
    "the text of a reference": {"references": {"A": b"x\ny\nZ", "B": b"u\nv\nw"}},
    "the label of a reference": {"references": {"A": b"x\ny\nz", "C": b"u\nv\nw"}},
    "the order of references": {"references": {"B": b"u\nv\nw", "A": b"x\ny\nz"}},
    "whose text it is": {"references": {"A": b"u\nv\nw", "B": b"x\ny\nz"}},
    "fewer references": {"references": {"A": b"x\ny\nz"}},
    "the source": {"source": b"1\n2\n4"},
    "no source": {"source": None},
    "the source language": {"source_language": "de"},
    "the target language": {"target_language": "sk"},
    "languages the other way round": {"source_language": "cs", "target_language": "en"},
    "references that may be missing": {"variable_references": True},
    "the name of a document": {"documents": [("ONE", "news", "")] * 2 + DOCUMENTS[2:]},
    "the domain of a document": {"documents": [("one", "chat", "")] * 2 + DOCUMENTS[2:]},
    "the test suite of a document": {"documents": [*DOCUMENTS[:2], ("two", "talks", "idioms")]},
    "no test suite": {"documents": [*DOCUMENTS[:2], ("two", "talks", "")]},
    "where a document ends": {"documents": [DOCUMENTS[0], *[DOCUMENTS[2]] * 2]},
    "no documents": {"documents": ()},
    "whose layer it is": {"layers": {"B": {"lemma": b"x\ny\nz"}}},
    "no layers": {"layers": {}},
}


def test_all_that_scores_depend_on_makes_it_another_one(engine: Engine) -> None:
    """Each is stored beside the others, as the next version of its name."""
    variants = [GIVEN, *(replace(GIVEN, **others) for others in OTHERS.values())]
    hashes = dict(zip(("as given", *OTHERS), map(hash_of, variants), strict=True))
    assert len(set(hashes.values())) == len(hashes), hashes
    with writing(engine) as connection:
        campaign = store_campaign(connection, "c")
        ids = [store_test_set(connection, campaign, each) for each in variants]
        assert len(set(ids)) == len(ids)
        assert [store_test_set(connection, campaign, each) for each in variants] == ids


def test_its_name_version_and_ids_do_not() -> None:
    for others in ({"name": "other"}, {"version": "7"}, {"segment_ids": ()}, {"segment_ids": ("a", "b", "c")}):
        assert hash_of(replace(GIVEN, **others)) == hash_of(GIVEN)


def test_without_any_text_the_number_of_segments_does() -> None:
    scores = [NewTestSet("scores", {}, segments=number) for number in (1, 2, 3)]
    assert len(set(map(hash_of, scores))) == 3
