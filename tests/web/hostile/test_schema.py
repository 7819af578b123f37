"""Requests of all shapes, made from the API's own description: no fault of ours, and answers as it says."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from requests import Request
from schemathesis import Case, GenerationMode, Response

from tests.web.hostile.test_roles import Stage
from tests.web.hostile.world import OPEN, Template
from web.api.routers import all_routers
from web.dependencies import FORM_HEADER

EXAMPLES = int(os.environ.get("STEELYARD_TEST_EXAMPLES", "5"))
"""For each operation: the whole suite has a budget."""
PEOPLE = {"nobody": 2, "administrator": EXAMPLES}

CHECKS = [
    schemathesis.checks.status_code_conformance,
    schemathesis.checks.content_type_conformance,
    schemathesis.checks.response_schema_conformance,
]

# Operations are known when tests are collected, the app is not there yet: it is put in later.
OPERATIONS = sorted(
    f"{method} /api/v1{route.path}"  # type: ignore[attr-defined]
    for router in all_routers()
    for route in router.routes
    for method in getattr(route, "methods", set()) - {"HEAD", "OPTIONS"}
    if getattr(route, "include_in_schema", True)
)


@pytest.fixture(scope="module")
def stage(world_template: Template, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with ExitStack() as stack:
        yield Stage(world_template.copy(tmp_path_factory.mktemp("schema"), stack), world_template, {})


@pytest.fixture(scope="module")
def operations(stage: Stage) -> dict[str, Any]:
    """By method and path."""
    schema = schemathesis.openapi.from_dict(stage.world.service.app.openapi())
    found = [result.ok() for result in schema.get_all_operations()]
    return {f"{each.method.upper()} {each.path}": each for each in found}


def sendable(file: Any) -> Any:
    """A made-up file, or its name, content and type, as a client can send it: as bytes or texts."""
    if isinstance(file, tuple):
        return tuple(sendable(part) for part in file)
    return file if file is None or isinstance(file, bytes | str) else str(file)


def response_of(answer: Any) -> Response:
    """An answer of the test client as Schemathesis takes it; it would read the body of the request again."""
    headers = {name: [value] for name, value in answer.headers.items()}
    request = Request(answer.request.method, str(answer.request.url)).prepare()
    return Response(answer.status_code, headers, answer.content, request, elapsed=0.0, verify=True)


def test_visitors_read_of_a_public_campaign_what_the_document_says(stage: Stage) -> None:
    operations = stage.world.service.app.openapi()["paths"]
    wrong = {}
    for name in OPERATIONS:
        method, path = name.split(" ")
        if method == "GET" and not name.endswith("/events"):
            status = stage.call(name, "nobody", "program", campaign=OPEN).status_code
            if status in (200, 401) and (status == 200) != ({} in operations[path]["get"]["security"]):
                wrong[name] = status
    assert not wrong


@pytest.mark.few(50)
@pytest.mark.parametrize("name", [each for each in OPERATIONS if not each.endswith("/events")])
def test_what_succeeds_is_answered_as_the_document_says(stage: Stage, operations: dict[str, Any], name: str) -> None:
    answer = stage.call(name, "administrator", "program")
    try:
        assert str(answer.status_code) in operations[name].definition.raw["responses"], answer.text[:500]
        operations[name].validate_response(response_of(answer))
        if name.startswith("GET "):
            assert answer.status_code == 200
    finally:
        if not name.startswith("GET "):
            stage.put_back()


@pytest.mark.few(60)
@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("role", PEOPLE)
def test_whatever_is_sent_is_answered_in_words(stage: Stage, operations: dict[str, Any], name: str, role: str) -> None:
    operation, client = operations[name], stage.client(role, "program")
    strategy = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)

    @seed(8718)
    @settings(
        max_examples=PEOPLE[role],
        phases=[Phase.explicit, Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)
    def try_it(case: Case) -> None:
        sent = case.as_transport_kwargs(base_url="http://testserver")
        content = sent.pop("data", None)
        if isinstance(content, bytes | str):
            sent["content"] = content
        elif content is not None:
            sent["data"] = content
        if sent.get("files"):
            sent["files"] = [(field, sendable(file)) for field, file in sent["files"]]
        kept = {key: sent[key] for key in ("content", "data", "json", "files", "params") if sent.get(key)}
        headers = {key: value for key, value in dict(sent.get("headers") or {}).items() if value.isascii()}
        for credential in ("Authorization", "Cookie", FORM_HEADER):
            headers.pop(credential, None)
        answer = client.request(case.method, sent["url"], headers=headers, **kept)
        assert answer.status_code < 500, f"{case.method} {sent['url']}: {answer.text[:500]}"
        case.validate_response(response_of(answer), checks=CHECKS)
        if answer.status_code >= 400:
            assert answer.json()["error"]["message"]

    try:
        try_it()
    finally:
        if operation.method.upper() != "GET":
            stage.put_back()
