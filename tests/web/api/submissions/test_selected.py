"""Evaluations that organisers select and change together through the API."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from campaigns.accounts.principal import COMMAND_LINE
from campaigns.submissions.selected_evaluations import change_evaluations
from models.database.session import reading
from models.schema.queue import Evaluation
from models.schema.roles import Scope
from scheduler import admin
from steelyard_client.documents.submissions.evaluations import EvaluationsCancel
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


def test_the_command_line_may_change_more_at_once_than_a_request(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    port.submit(port.program("mary"))
    port.submit(port.program("zoe"))
    with reading(port.service.engine) as connection:
        evaluations = list(connection.scalars(select(Evaluation.id)))
    monkeypatch.setattr("campaigns.submissions.selected_evaluations.MOST", len(evaluations) - 1)
    answer = port.program("ann").post("/api/v1/evaluations/cancel", json={"evaluations": evaluations})
    assert (answer.status_code, "Select fewer." in answer.json()["error"]["message"]) == (422, True)
    selection = EvaluationsCancel(evaluations=evaluations, reason="harbour closed")
    changed = change_evaluations(
        port.service.engine, port.service.settings, COMMAND_LINE, admin.Action.CANCEL, selection, dry_run=False
    )
    assert [each.id for each in changed.evaluations] == evaluations


def test_a_token_that_may_only_read_changes_nothing(port: Port) -> None:
    reader = port.program("ann", Scope.READ)
    selection = {"campaign": "port 1"}
    assert reader.get("/api/v1/evaluations", params=selection).json()["items"] != []
    for action in ("cancel", "retry", "recompute"):
        for dry_run in (True, False):
            answer = reader.post(f"/api/v1/evaluations/{action}", json=selection, params={"dry_run": dry_run})
            assert answer.status_code == 403, answer.text
    with reading(port.service.engine) as connection:
        assert {*connection.scalars(select(Evaluation.state))} == {"queued"}


def test_what_is_left_alone_is_counted_by_its_states(port: Port) -> None:
    port.submit(port.program("mary"))
    ann = port.program("ann")
    first, second = (each["id"] for each in ann.get("/api/v1/evaluations").json()["items"])
    cancelled = ann.post("/api/v1/evaluations/cancel", json={"evaluations": [first], "reason": "no"}).json()
    assert ([each["id"] for each in cancelled["evaluations"]], cancelled["skipped"]) == ([first], {})
    again = ann.post("/api/v1/evaluations/cancel", json={"evaluations": [first, second], "reason": "no"}).json()
    assert ([each["id"] for each in again["evaluations"]], again["skipped"]) == ([second], {"cancelled": 1})


def test_what_ended_meanwhile_is_not_called_changed(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    port.submit(port.program("mary"))
    port.submit(port.program("zoe"))
    with reading(port.service.engine) as connection:
        first, *others = connection.scalars(select(Evaluation.id).order_by(Evaluation.id))
    cancel = admin.cancel
    monkeypatch.setattr(
        admin, "cancel", lambda engine, evaluations, *reason, **audit: cancel(engine, [first], *reason, **audit)
    )
    answer = port.program("ann").post("/api/v1/evaluations/cancel", json={"evaluations": [first, *others]}).json()
    assert [each["id"] for each in answer["evaluations"]] == [first]
