"""Outputs for a stored test set in formats with ids: put in its order, and refused where they do not fit."""

import json
import re
from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from models.corpus.test_sets import DocumentSegments, StoredTestSet, document_segments, find_test_set
from models.database.session import make_engine, reading, writing
from runtime.settings import Settings
from scheduler.errors import BadIngest
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign, store_campaign
from scheduler.ingest.outputs import align_to_test_set, read_output
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.formats.input.windows import NotUtf8
from steelyard.metrics.registry import parse_metric
from steelyard.text.findings import BadMarkup


@pytest.fixture
def engine(sqlite_url: str) -> Iterator[Engine]:
    engine = make_engine(sqlite_url)
    yield engine
    engine.dispose()


@pytest.fixture
def test_set(engine: Engine, sqlite_url: str) -> StoredTestSet:
    """The document x is in two pieces."""
    ingest_campaign(
        engine,
        Settings(database_url=sqlite_url),
        campaign="c",
        test_set=NewTestSet("set", {"A": b"x1\nx2\ny1\nx3"}, documents=[(each, "", "") for each in "xxyx"]),
        submissions=[NewSubmission("s", b"1\n2\n3\n4")],
        protocols=[NewProtocol(["A"], [parse_metric("bleu")], 5)],
    )
    with reading(engine) as connection:
        return find_test_set(connection)


X = '<doc docid="x"><seg id="1">X1</seg><seg id="2">X2</seg><seg id="10">X3</seg></doc>'
Y = '<doc docid="y"><seg id="1">Y1</seg></doc>'


def mteval(*documents: str, systems: tuple[str, ...] = ("mast",)) -> bytes:
    shown = "".join(each.replace("<doc ", f'<doc sysid="{system}" ') for system in systems for each in documents)
    return f'<tstset setid="set" srclang="en" trglang="cs">{shown}</tstset>'.encode()


def output(engine: Engine, test_set: StoredTestSet, content: bytes, system: str = "mast") -> bytes:
    with reading(engine) as connection:
        documents = document_segments(connection, test_set.id)
    return align_to_test_set(read_output(content, system=system), test_set, documents).bytes


def test_documents_are_put_in_the_order_of_the_test_set(engine: Engine, test_set: StoredTestSet) -> None:
    assert output(engine, test_set, mteval(Y, X)) == b"X1\nX2\nY1\nX3"
    assert output(engine, test_set, mteval(X, Y), system="as it is called here") == b"X1\nX2\nY1\nX3"
    assert output(engine, test_set, mteval(X, Y, systems=("one", "mast"))) == b"X1\nX2\nY1\nX3"
    assert output(engine, test_set, b"1\n2\n3\n4\n") == b"1\n2\n3\n4"


def test_documents_of_test_suites_may_be_more_than_were_stored(engine: Engine, test_set: StoredTestSet) -> None:
    """Everybody translates them along; an output with another document that is not in the test set is wrong."""
    documents = {"x": ("X1", "X2", "X3"), "y": ("Y1",), "idioms.1": ("Z1", "Z2")}

    def whole(suite: str) -> bytes:
        shown = "".join(
            f'<doc id="{name}" origlang="en"{suite if name == "idioms.1" else ""}><hyp lang="cs" system="mast"><p>'
            + "".join(f'<seg id="{number}">{text}</seg>' for number, text in enumerate(texts, 1))
            + "</p></hyp></doc>"
            for name, texts in documents.items()
        )
        return f'<?xml version="1.0" encoding="utf-8"?><dataset id="set">{shown}</dataset>'.encode()

    assert output(engine, test_set, whole(' testsuite="idioms"')) == b"X1\nX2\nY1\nX3"
    with pytest.raises(BadIngest, match=r"that the test set set lacks: 'idioms\.1'"):
        output(engine, test_set, whole(""))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (mteval(X), "lacks 1 document of the test set set: 'y'. Add them."),
        (mteval(X, Y, Y.replace('"y"', '"z"')), "has 1 document that the test set set lacks: 'z'."),
        (mteval(X.replace('<seg id="10">X3</seg>', ""), Y), "document 'x' has 2 segments, but 3 in the test set."),
        (mteval(X.replace('id="2"', 'id="11"'), Y), "document 'x' has its segments out of order"),
        (mteval(X, Y, systems=("one", "two")), "has no output of the system 'mast'. It has 'one', 'two'."),
    ],
)
def test_what_does_not_fit(engine: Engine, test_set: StoredTestSet, content: bytes, message: str) -> None:
    with pytest.raises(BadIngest) as error:
        output(engine, test_set, content)
    assert message in str(error.value)


def test_ids_that_are_no_numbers_are_in_any_order(engine: Engine, test_set: StoredTestSet) -> None:
    lettered = X.replace('id="1"', 'id="z"').replace('id="2"', 'id="b"').replace('id="10"', 'id="a"')
    assert output(engine, test_set, mteval(lettered, Y)) == b"X1\nX2\nY1\nX3"


def test_bytes_of_another_encoding_are_guessed_by_the_language_of_the_test_set() -> None:
    with pytest.raises(NotUtf8) as plain:
        read_output("žluťoučký kůň\n".encode("cp1250"), system="mast")
    with pytest.raises(NotUtf8) as czech:
        read_output("žluťoučký kůň\n".encode("cp1250"), system="mast", language="cs")
    assert "WINDOWS-1250" not in str(plain.value)
    assert "By its letters it may be in WINDOWS-1250: " in str(czech.value)


def test_a_test_set_without_documents_knows_no_ids(engine: Engine, test_set: StoredTestSet, sqlite_url: str) -> None:
    ingest_campaign(
        engine,
        Settings(database_url=sqlite_url),
        campaign="c",
        test_set=NewTestSet("plain", {"A": b"1\n2\n3\n4"}),
        submissions=[],
        protocols=[],
    )
    with reading(engine) as connection:
        plain = find_test_set(connection, "plain")
    with pytest.raises(BadIngest, match="has ids of documents, but the test set plain has none"):
        output(engine, plain, mteval(X, Y))


@pytest.fixture
def with_ids(engine: Engine, sqlite_url: str) -> StoredTestSet:
    """The same two documents, with the ids of their segments."""
    documents, ids = [(each, "", "") for each in "xxyx"], ["1", "2", "1", "10"]
    test_set = NewTestSet("ids", {"A": b"x1\nx2\ny1\nx3"}, documents=documents, segment_ids=ids)
    with writing(engine) as connection:
        store_test_set(connection, store_campaign(connection, "ids"), test_set)
    with reading(engine) as connection:
        return find_test_set(connection, "ids")


def test_segments_are_matched_by_their_ids(engine: Engine, with_ids: StoredTestSet) -> None:
    turned = '<doc docid="x"><seg id="10">X3</seg><seg id="1">X1</seg><seg id="2">X2</seg></doc>'
    assert output(engine, with_ids, mteval(Y, turned)) == output(engine, with_ids, mteval(X, Y)) == b"X1\nX2\nY1\nX3"
    with reading(engine) as connection:
        documents = document_segments(connection, with_ids.id)
    assert documents == {"x": DocumentSegments([0, 1, 3], ["1", "2", "10"]), "y": DocumentSegments([2], ["1"])}
    for content, notices in ((mteval(X, Y), 0), (mteval(turned, Y), 1)):
        found = align_to_test_set(read_output(content, system="mast"), with_ids, documents)
        assert len(found.notices) == notices
        assert all("another order than in the test set ids, in 1 document ('x')" in each for each in found.notices)


def test_ids_that_do_not_fit_are_listed(engine: Engine, with_ids: StoredTestSet) -> None:
    other = X.replace('id="2"', 'id="3"').replace('id="10"', 'id="11"')
    with pytest.raises(BadIngest) as error:
        output(engine, with_ids, mteval(other, Y))
    assert "document 'x' lacks 2 segments of the test set ids: '2', '10'. Add them" in str(error.value)
    assert "document 'x' has 2 segments that the test set ids lacks: '3', '11'. Remove them" in str(error.value)
    with pytest.raises(BadMarkup, match="the id was already given"):
        output(engine, with_ids, mteval(X.replace('id="10"', 'id="2"'), Y))


def test_a_test_set_stored_without_ids_gets_those_of_the_same_content(
    engine: Engine, test_set: StoredTestSet, sqlite_url: str
) -> None:
    """Its hash does not say: what was stored by an older release is found again. The first ids stay."""
    with reading(engine) as connection:
        assert {each.ids for each in document_segments(connection, test_set.id).values()} == {None}
    for campaign, ids in (("c", "abcd"), ("other", "efgh")):
        new = NewTestSet(
            "set", {"A": b"x1\nx2\ny1\nx3"}, documents=[(each, "", "") for each in "xxyx"], segment_ids=ids
        )
        with writing(engine) as connection:
            assert store_test_set(connection, store_campaign(connection, campaign), new) == test_set.id
        with reading(engine) as connection:
            found = document_segments(connection, test_set.id)
        assert {name: each.ids for name, each in found.items()} == {"x": ["a", "b", "d"], "y": ["c"]}


def test_as_many_ids_as_segments(engine: Engine) -> None:
    with pytest.raises(BadIngest, match="segment ids: 1"), writing(engine) as connection:
        store_test_set(connection, store_campaign(connection, "c"), NewTestSet("set", {"A": b"1\n2"}, segment_ids="1"))


def wmt(*documents: tuple[str, str]) -> bytes:
    return "".join(f"{json.dumps({'doc_id': name, 'hypothesis': text})}\n" for name, text in documents).encode()


def test_documents_of_wmt25_are_found_by_pair_and_name_and_cut_at_blank_lines(
    engine: Engine, test_set: StoredTestSet
) -> None:
    with reading(engine) as connection:
        documents = document_segments(connection, test_set.id)

    def aligned(*given: tuple[str, str], pair: str = "en-cs") -> bytes:
        return align_to_test_set(read_output(wmt(*given), system="mast"), test_set, documents, pair).bytes

    others = ("en-de_DE_#_news_#_x", "Eins\n\nZwei"), ("en-de_DE_#_news_#_y", "Ypsilon")
    x, y = ("en-cs_CZ_#_news_#_x", "X1\n\nX\n2\n\nX3"), ("en-cs_CZ_#_talk_#_y", "Y1")
    assert aligned(*others, y, x) == b"X1\nX 2\nY1\nX3"
    assert aligned(others[0], y, x, others[1], pair="eng-ces") == b"X1\nX 2\nY1\nX3"
    # What the test set has as one segment is one.
    assert aligned(x, (y[0], "Y1\n\n\n\nY2")) == b"X1\nX 2\nY1 Y2\nX3"
    new = "WMT26_###_news_###_eng_Latn_###_ces_Latn_###_"
    assert aligned((f"{new}x", x[1]), (f"{new}y", y[1])) == b"X1\nX 2\nY1\nX3"
    for given, pair, told in (
        ((x,), "en-cs", "lacks 1 document of the test set set: 'y'"),
        (((x[0], "X1\n\nX2"), y), "en-cs", "has 2 segments, but 3 in the test set"),
        ((x, y), "en-fr", "lacks 2 documents"),
        ((x, y, ("en-cs_CZ_#_news_#_z", "Z")), "en-cs", "'en-cs_CZ_#_news_#_z'"),
        ((x, y, others[0]), "-", "'en-de_DE_#_news_#_x'"),
    ):
        with pytest.raises(BadIngest, match=re.escape(told)):
            aligned(*given, pair=pair)
