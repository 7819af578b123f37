"""What a request says of an output, and of who sends it, is what is submitted: all of it."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import update

from campaigns.submissions.submit import SubmissionInput
from campaigns.submissions.submit import submit as submit_for_good
from campaigns.submissions.test_sets import OfferedTestSet
from models.database.session import writing
from models.schema.base import now
from models.schema.campaigns import Phase
from models.schema.roles import DeclaredKind
from models.schema.states import QueueClass
from tests.service.port import NAME, Port, output
from web.uploads import submit, submit_pairs


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


def test_a_repeated_request_finds_its_result_when_the_phase_is_over(port: Port) -> None:
    mary = port.program("mary")
    first = port.submit(mary, key="k")
    assert first.status_code == 201, first.text
    with writing(port.service.engine) as connection:
        connection.execute(update(Phase).values(ends_at=now() - 3600))
    assert port.submit(mary, output(2)).status_code == 403
    again = port.submit(mary, key="k")
    assert (again.status_code, again.json()["id"], again.json()["stored"]) == (200, first.json()["id"], False)
    other = port.submit(mary, output(2), key="k")
    assert other.status_code == 409
    assert port.submit(mary, output(2), key="new").status_code == 403


def test_outputs_are_for_a_version_where_a_name_has_several(monkeypatch: pytest.MonkeyPatch) -> None:
    def offered(number: int, name: str, version: str, *languages: str) -> OfferedTestSet:
        return OfferedTestSet(number, name, version, 3, *languages, phase="")

    known = [
        offered(1, "news", "1", "en", "cs"),
        offered(2, "news", "2", "en", "cs"),
        offered(3, "talks", "1", "en", ""),
    ]
    asked: list[Any] = []
    monkeypatch.setattr(submit_pairs, "reading", lambda _: nullcontext())
    monkeypatch.setattr(submit_pairs, "read_access", lambda *_: "access")
    monkeypatch.setattr(submit_pairs, "submitting_team", lambda *given: asked.append(given))
    monkeypatch.setattr(submit_pairs, "offered_test_sets", lambda *_: known)
    state: Any = SimpleNamespace(engine=None)
    fields: Any = "fields"
    principal: Any = None
    assert submit_pairs.named_test_sets(state, principal, "wmt", fields) == {
        "news@1": "en-cs", "news@2": "en-cs", "talks": "",
    }  # fmt: skip
    # Who may not submit is refused before anything is unpacked.
    assert asked == [(None, "access", "fields")]
