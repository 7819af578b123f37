"""Evaluations that organisers select and change together through the API."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from models.database.session import reading
from models.schema.queue import Evaluation
from tests.service.port import Port


@pytest.mark.parametrize("action", ["cancel", "retry", "recompute"])
@pytest.mark.parametrize("dry_run", [True, False])
def test_no_selection_is_never_everything(port: Port, action: str, dry_run: bool) -> None:
    port.submit(port.program("mary"))
    for selection in ({}, {"evaluations": [], "states": [], "campaign": "", "system": "", "team": ""}):
        answer = port.program("ann").post(f"/api/v1/evaluations/{action}", json=selection, params={"dry_run": dry_run})
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"]["message"] == (
            "Select evaluations by their numbers, campaign, system, team or states."
        )
    with reading(port.service.engine) as connection:
        assert "cancelled" not in connection.scalars(select(Evaluation.state)).all()
