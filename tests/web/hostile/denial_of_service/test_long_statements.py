"""A statement that the database would be busy with for minutes is ended, and said to be so."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from models.database.session import make_engine, reading
from tests.service.service import Service

LONG = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000) SELECT count(*) FROM n"


def test_a_long_statement_is_ended_and_the_next_one_is_not(database_url: str) -> None:
    engine = make_engine(database_url, statement_seconds=0.2)
    try:
        for _ in range(2):
            with pytest.raises(DBAPIError), reading(engine) as connection:
                connection.execute(text(LONG))
            with reading(engine) as connection:
                assert connection.scalar(text("SELECT 7")) == 7
    finally:
        engine.dispose()


def test_the_service_says_that_it_cannot_do_it_now(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = make_engine(service.settings.database_url, statement_seconds=0.2)
    monkeypatch.setattr(service.app.state.steelyard, "engine", engine)
    monkeypatch.setattr(
        "web.api.campaigns.campaigns.visible_campaigns", lambda connection, *_, **__: connection.execute(text(LONG))
    )
    answer = service.client().get("/api/v1/campaigns")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    engine.dispose()
