"""What a request says of an output, and of who sends it, is what is submitted: all of it."""

from __future__ import annotations

from typing import Any

import pytest

from campaigns.submissions.submit import SubmissionInput
from campaigns.submissions.submit import submit as submit_for_good
from models.schema.roles import DeclaredKind
from models.schema.states import QueueClass
from tests.service.port import NAME, Port, output
from web.uploads import submit


def test_all_of_a_request_is_handed_on(port: Port, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[SubmissionInput] = []
    arrived: list[float] = []

    def submitted(engine: Any, settings: Any, request: SubmissionInput) -> Any:
        given.append(request)
        return submit_for_good(engine, settings, request)

    read_access = submit.read_access

    def accessed(*arguments: Any) -> Any:
        access = read_access(*arguments)
        arrived.append(access.at)
        return access

    monkeypatch.setattr(submit, "submit", submitted)
    monkeypatch.setattr(submit, "read_access", accessed)
    lines = output().split(b"\n")
    odd = b"\n".join([b"", *lines[1:]])
    fields = {"run": "2", "kind": "contrastive", "constrained": "false", "description": "ours", "test_set": "quay"}
    answer = port.submit(port.program("mary"), odd, key="k", **fields)
    assert answer.status_code == 201, answer.text
    (request,) = given
    assert request.text.bytes == odd.removesuffix(b"\n")
    assert (request.campaign, request.team, request.system, request.run) == (NAME, "harbour", "mast", "2")
    assert (request.test_set, request.request_key, request.queue_class) == ("quay@1", "k", QueueClass.INTERACTIVE)
    assert (request.declared, request.constrained, request.description) == (DeclaredKind.CONTRASTIVE, False, "ours")
    assert (request.account_id, request.actor) == (port.accounts["mary"], "mary@example.org")
    assert (request.address, request.enforce_rules, request.due_at) == ("testclient", True, None)
    # Late is who has sent too late, not whose output was read long.
    assert request.arrived_at == arrived[0]
    assert [each["code"] for each in request.findings or ()] == [each["code"] for each in answer.json()["findings"]]
    assert request.findings
    override = port.submit(port.program("ann"), output(2), system="buoy", team="harbour", override="true")
    assert override.status_code == 201, override.text
    assert (given[-1].enforce_rules, given[-1].request_key, given[-1].findings is None) == (False, None, False)
