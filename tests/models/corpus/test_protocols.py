"""Protocols that a connection keeps."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from models.corpus import protocols
from models.corpus.protocols import kept_protocol, read_protocol
from models.database.session import autocommit_reading, make_engine, reading, writing
from models.schema.corpus import Protocol
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
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
