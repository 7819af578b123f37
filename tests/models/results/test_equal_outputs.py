"""Which outputs are the very same text as a reference, or as the output of another system."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
from sqlalchemy import event, text, update

from models.database.session import reading, writing
from models.results.equal_outputs import EqualOutput, Equals, read_equal_references, read_equals
from models.schema.base import now
from models.schema.campaigns import Declaration
from scheduler.ingest.campaigns import NewProtocol, NewSubmission, ingest_campaign
from scheduler.ingest.test_sets import NewTestSet
from steelyard.metrics.registry import parse_metric
from tests.service.campaigns import submit_output
from tests.service.service import Service

SAME, OTHER = b"same\ny\nz\n", b"other\ny\nz\n"


def test_it_is_of_another_system_in_the_same_place_and_not_withdrawn(database_url: str) -> None:
    with ExitStack() as stack:
        service = Service.start(database_url, stack)
        engine = service.engine
        references = {"B": SAME[:-1], "A": b"x\ny\nz", "C": SAME[:-1]}
        for campaign, name in (("wmt", "news"), ("wmt", "talks"), ("other", "news")):
            # The other one is of the same texts, and the very same test set.
            texts = references if name == "news" else {"A": b"u\nv\nw"}
            ingest_campaign(
                engine,
                service.settings,
                campaign=campaign,
                test_set=NewTestSet(name, texts),
                submissions=[NewSubmission("baseline", b"base\ny\nz")],
                protocols=[NewProtocol([*texts], [parse_metric("bleu")], 0)],
            )
        submitted = (
            ("wmt", "ants", "mast", SAME, "news", "1"),
            ("wmt", "ants", "mast", SAME, "news", "2"),
            ("wmt", "bees", "mast", SAME, "news", "1"),
            ("wmt", "ants", "sail", SAME, "news", ""),
            ("wmt", "bees", "hull", SAME, "news", ""),
            ("wmt", "bees", "keel", SAME, "talks", ""),
            ("other", "bees", "oars", SAME, "news", ""),
            ("wmt", "bees", "tent", OTHER, "news", ""),
            ("wmt", "ants", "tent", OTHER, "news", ""),
            ("wmt", "bees", "mast", SAME, "news", "2"),
        )
        for number, (campaign, team, system, text, test_set, run) in enumerate(submitted, start=4):
            made = submit_output(engine, campaign, team, system, text, test_set=test_set, run=run)
            assert made.submission == number
        with writing(engine) as connection:
            withdrawn = update(Declaration).where(Declaration.submission_id == 8)
            connection.execute(withdrawn.values(withdrawn_at=now()))
        with reading(engine) as connection:
            found = read_equals(connection, [4, 5, 6, 8, 9, 10, 11])
            labels = read_equal_references(connection, [4, 9, 10, 11])
    mast, sail, bees = EqualOutput(4, "ants", "mast"), EqualOutput(7, "ants", "sail"), EqualOutput(6, "bees", "mast")
    both = ("B", "C")
    assert found == {
        4: Equals(both, (bees, sail)),
        5: Equals(both, (bees, sail)),
        6: Equals(both, (mast, sail)),
        8: Equals(both, (mast, bees, sail)),
        10: Equals(both, ()),
        11: Equals((), (EqualOutput(12, "ants", "tent"),)),
    }
    assert labels == {4: both, 10: both}
    assert (sail.name, EqualOutput(1, "", "base").name) == ("sail of ants", "base")


def test_each_output_is_looked_up_by_its_text(service: Service) -> None:
    # SQLite has no statistics: of indexes that look equally good it took the newest, and compared each output with all.
    name, statements = "ix_submission_test_set_id", list[tuple[str, Any]]()
    if service.engine.dialect.name != "sqlite":
        pytest.skip("PostgreSQL has statistics.")
    with writing(service.engine) as connection:
        connection.execute(text(f"DROP INDEX {name}"))
        connection.execute(text(f"CREATE INDEX {name} ON submission (test_set_id)"))
    with reading(service.engine) as connection:
        event.listen(connection, "before_cursor_execute", lambda *sent: statements.append((sent[2], sent[3])))
        read_equals(connection, [1, 2, 3])
        plans = [
            "".join(row.detail for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values))
            for sql, values in tuple(statements)
        ]
    (plan,) = [each for each in plans if "submission_1" in each]
    assert "submission_1 USING INDEX ix_submission_text_id_test_set_id_campaign_id (text_id=?" in plan
