"""Protocols that a connection keeps."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from models.corpus import protocols
from models.corpus.protocols import ProtocolContent, kept_protocol, read_protocol
from models.database.session import autocommit_reading, make_engine, reading, writing
from models.schema.corpus import Protocol
from models.schema.states import ResamplingUnit
from scheduler.ingest.campaigns import (
    NewProtocol,
    NewSubmission,
    ingest_campaign,
    store_campaign,
    store_protocol,
)
from scheduler.ingest.test_sets import NewTestSet, store_test_set
from steelyard.metrics.registry import parse_metric
from tests.scheduler.jobs import one_block_shards, queue_job
from worker.computing.scoring import read_texts


def test_a_protocol_is_read_once_for_each_connection(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that was restored has other protocols under the same ids, and other connections."""
    engine, settings = make_engine(database_url, connections=1), one_block_shards(database_url)
    for number in range(3):
        queue_job(engine, settings, seed=number, campaign=f"c{number}", segments=10, systems=1)
    read: list[int] = []

    def counted(connection: object, protocol_id: int) -> object:
        read.append(protocol_id)
        return read_protocol(connection, protocol_id)  # type: ignore[arg-type]

    monkeypatch.setattr(protocols, "read_protocol", counted)
    monkeypatch.setattr(protocols, "KEPT_PROTOCOLS", 2)
    with autocommit_reading(engine) as connection:
        first, second, third = connection.scalars(select(Protocol.id).order_by(Protocol.id))
    for protocol_id in (first, first, second, first):
        with autocommit_reading(engine) as connection:
            assert kept_protocol(connection, protocol_id) == read_protocol(connection, protocol_id)
    assert read == [first, second]
    with autocommit_reading(engine) as connection:
        for protocol_id in (third, second, first):
            assert kept_protocol(connection, protocol_id).protocol_id == protocol_id
    assert read == [first, second, third, first], "the one that was read first made room"
    with writing(engine) as connection:
        connection.execute(update(Protocol).where(Protocol.id == first).values(replicates=17))
    engine.dispose()
    with autocommit_reading(engine) as connection:
        assert kept_protocol(connection, first).replicates == 17
    engine.dispose()


def test_references_are_in_the_order_of_the_protocol(sqlite_url: str) -> None:
    """Which may name some of those of the test set, in another order."""
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    texts = {label: f"{label}\ny".encode() for label in "ABC"}
    labels = ("A", "B"), ("B", "A"), ("C",), ("C", "A", "B")
    job = ingest_campaign(
        engine,
        settings,
        campaign="c",
        test_set=NewTestSet("t", texts),
        submissions=[NewSubmission("tug", b"x\ny")],
        protocols=[NewProtocol(some, [parse_metric("bleu")]) for some in labels],
    )
    with reading(engine) as connection:
        for some, protocol in zip(labels, job.protocols, strict=True):
            content = read_protocol(connection, protocol)
            lines = [read_texts(connection, [text], 0, 1)[0][:1].decode() for text in content.reference_texts]
            assert lines == list(some)
    engine.dispose()


@pytest.mark.parametrize("unit", ResamplingUnit)
def test_all_of_a_protocol_is_read(sqlite_url: str, unit: ResamplingUnit) -> None:
    engine, settings = make_engine(sqlite_url), one_block_shards(sqlite_url)
    queue_job(engine, settings, campaign="another", segments=9, systems=1)
    test_set = NewTestSet(
        "t",
        {"A": b"x\ny\n"},
        source=b"u\nv\nw",
        documents=[(name, "", "") for name in "aba"],
        variable_references=True,
    )
    metrics = [parse_metric(name) for name in ("bleu", "chrf")]
    with writing(engine) as connection:
        stored = store_test_set(connection, store_campaign(connection, "c"), test_set)
        protocol = store_protocol(connection, stored, NewProtocol(["A"], metrics, 7, 99, unit))
        content = read_protocol(connection, protocol)
        assert content.source_text is not None
        assert read_texts(connection, [content.source_text, *content.reference_texts], 0, 1) == [b"u\nv\nw", b"x\ny\n"]
    assert content == ProtocolContent(
        protocol_id=protocol,
        segments=3,
        variable_references=True,
        reference_texts=content.reference_texts,
        metrics=tuple(metric.specification for metric in metrics),
        replicates=7,
        seed=99,
        source_text=content.source_text,
        resample=unit,
        test_set_id=stored,
    )
    drawn = None if content.documents is None else content.documents.of_segment.tolist()
    assert drawn == (None if unit == ResamplingUnit.SEGMENT else [0, 1, 0])
    engine.dispose()
