"""Outputs for a stored test set in formats with ids: put in its order, and refused where they do not fit."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine

from models.corpus.test_sets import StoredTestSet, find_test_set, segments_of_documents
from models.database.session import make_engine, reading
from runtime.settings import Settings
from scheduler.errors import BadIngest
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, NewTestSet, ingest_campaign
from scheduler.ingest.outputs import align_to_test_set, read_output
from steelyard.metrics.registry import parse_metric


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
        places = segments_of_documents(connection, test_set.id)
    return align_to_test_set(read_output(content, system=system), test_set, places).bytes


def test_documents_are_put_in_the_order_of_the_test_set(engine: Engine, test_set: StoredTestSet) -> None:
    assert output(engine, test_set, mteval(Y, X)) == b"X1\nX2\nY1\nX3"
    assert output(engine, test_set, mteval(X, Y), system="as it is called here") == b"X1\nX2\nY1\nX3"
    assert output(engine, test_set, mteval(X, Y, systems=("one", "mast"))) == b"X1\nX2\nY1\nX3"
    assert output(engine, test_set, b"1\n2\n3\n4\n") == b"1\n2\n3\n4"


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
