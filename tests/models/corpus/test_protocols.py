"""Protocols that a connection keeps."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from models.corpus import protocols
from models.corpus.protocols import kept_protocol, read_protocol
from models.database.session import autocommit_reading, make_engine, writing
from models.schema.corpus import Protocol
from tests.scheduler.jobs import one_block_shards, queue_job


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
