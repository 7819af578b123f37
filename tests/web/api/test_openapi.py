"""The OpenAPI document: what a person reads in it, and what a generator makes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from runtime.service_settings import WebSettings
from steelyard_client.documents.document import Document, Timestamp, utc
from web.app import create_app

VERBS = frozenset(
    {
        *("accept", "add", "cancel", "check", "choose", "cite", "clone", "close", "create", "delete", "download"),
        *("end", "export"),
        *("extend", "freeze", "import", "join", "leave", "list", "publish", "rank", "read", "recompute", "reinstate"),
        *(
            "remove",
            "rename",
            "request",
            "retry",
            "revoke",
            "send",
            "set",
            "submit",
            "unfreeze",
            "update",
            "watch",
            "withdraw",
        ),
    }
)
"""With which names of operations begin."""


class EndedAt(Document):
    ended_at: Timestamp


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return create_app(WebSettings(database_url="sqlite:///not-opened.db")).openapi()


@pytest.fixture(scope="module")
def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By method and path."""
    return {
        f"{method.upper()} {path}": operation
        for path, found in document["paths"].items()
        for method, operation in found.items()
    }


def test_every_schema_field_and_parameter_is_described(document: dict[str, Any], operations: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    # A field whose description equals that of its type has none of its own.
    bare = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, value in schema.get("properties", {}).items()
        if not value.get("description") and "$ref" not in value
    ]
    bare += [name for name, schema in schemas.items() if not schema.get("description")]
    bare += [
        f"{name}: {each['name']}"
        for name, operation in operations.items()
        for each in operation.get("parameters", [])
        if not each.get("description")
    ]
    assert not bare


def test_names_are_those_of_classes_and_functions(document: dict[str, Any], operations: dict[str, Any]) -> None:
    assert all(re.fullmatch(r"[A-Z][A-Za-z0-9]+", name) for name in document["components"]["schemas"])
    names = [operation["operationId"] for operation in operations.values()]
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", name) for name in names)
    assert len(names) == len(set(names))
    assert {name.partition("_")[0] for name in names} <= VERBS


def test_every_operation_says_what_it_does(operations: dict[str, Any]) -> None:
    assert not [name for name, each in operations.items() if not (each.get("summary") and each.get("description"))]


def test_every_reference_leads_to_something_in_the_document(document: dict[str, Any]) -> None:
    """Generators leave a whole request out where one does not."""
    there = {f"#/components/{kind}/{name}" for kind, named in document["components"].items() for name in named}
    assert set(references(document)) <= there


def references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(found := part.get("$ref"), str):
            yield found
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from references(each)


def test_every_error_is_declared_with_the_shape_that_is_sent(
    document: dict[str, Any], operations: dict[str, Any]
) -> None:
    components = document["components"]
    assert "HTTPValidationError" not in components["schemas"]
    assert components["schemas"]["ErrorDescription"]["required"] == ["code", "message", "details"]
    for operation in operations.values():
        errors = {status: each for status, each in operation["responses"].items() if int(status) >= 400}
        assert {"400", "401", "403", "429", "500", "503"} <= set(errors)
        for each in errors.values():
            shared = components["responses"][each["$ref"].rpartition("/")[2]]
            schema = shared["content"]["application/json"]["schema"]
            assert schema == {"$ref": "#/components/schemas/ErrorResponse"}
            assert " codes: " in shared["description"]


def test_only_what_has_input_can_be_invalid(operations: dict[str, Any]) -> None:
    assert "422" not in operations["GET /api/v1/me"]["responses"]
    assert "422" in operations["GET /api/v1/campaigns"]["responses"]
    assert "412" in operations["PATCH /api/v1/campaigns/{name}"]["responses"]
    assert "412" not in operations["POST /api/v1/campaigns"]["responses"]


def test_security_says_how_requests_are_authenticated(document: dict[str, Any], operations: dict[str, Any]) -> None:
    schemes = document["components"]["securitySchemes"]
    assert schemes["token"]["scheme"] == "bearer"
    assert schemes["session"]["name"] == "steelyard_session"
    for name, operation in operations.items():
        session = {"session": []} if name.startswith("GET ") else {"session": [], "form": []}
        assert operation["security"][:2] == [{"token": []}, session]


def test_the_cookie_is_that_of_a_server_behind_https() -> None:
    settings = WebSettings(database_url="sqlite:///not-opened.db", public_url="https://mt.example.org")
    schemes = create_app(settings).openapi()["components"]["securitySchemes"]
    assert schemes["session"]["name"] == "__Host-steelyard_session"


def test_times_are_those_of_rfc_3339(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, value in schema.get("properties", {}).items():
            if field.endswith("_at") or field in ("at", "deadline"):
                kinds = [each.get("format") for each in value.get("anyOf", [value]) if each.get("type") != "null"]
                assert kinds == ["date-time"], f"{name}.{field}"
    when = EndedAt(ended_at=utc(1795723200.25))
    assert when.model_dump(mode="json") == {"ended_at": "2026-11-26T20:00:00.250000Z"}


def test_every_list_comes_in_pages(document: dict[str, Any], operations: dict[str, dict[str, Any]]) -> None:
    listing = [each for each in operations.values() if each["operationId"].startswith("list_")]
    assert len(listing) > 15
    for operation in listing:
        assert {"limit", "after"} <= {each["name"] for each in operation["parameters"]}, operation["operationId"]
        answer = operation["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        assert {"items", "next"} <= set(document["components"]["schemas"][answer]["properties"])
    arrays = [
        operation["operationId"]
        for name, operation in operations.items()
        if name.startswith("GET ")
        for status, answer in operation["responses"].items()
        if status < "300" and answer.get("content", {}).get("application/json", {}).get("schema", {}).get("items")
    ]
    assert not arrays


def test_every_operation_in_json_has_an_example_as_its_schemas_say(
    document: dict[str, Any], operations: dict[str, Any]
) -> None:
    closed = _closed(document)
    for name, operation in operations.items():
        bodies = [*operation.get("requestBody", {}).get("content", {}).items()]
        for status, answer in operation["responses"].items():
            if status < "300":
                bodies += answer.get("content", {}).items()
        examples = [(body["schema"], body.get("example", ...)) for media, body in bodies if media == "application/json"]
        given = [(schema, example) for schema, example in examples if example is not ...]
        # Of several statuses with the same answer one is shown.
        assert bool(given) == bool(examples), f"{name}: run python -m tests.web.api.examples"
        for schema, example in given:
            jsonschema_rs.validate({**schema, "components": closed}, example)


def test_an_example_with_a_field_that_is_gone_is_found(document: dict[str, Any]) -> None:
    schema = {"$ref": "#/components/schemas/TeamResponse", "components": _closed(document)}
    example = document["paths"]["/api/v1/teams"]["post"]["responses"]["201"]["content"]["application/json"]["example"]
    jsonschema_rs.validate(schema, example)
    with pytest.raises(jsonschema_rs.ValidationError):
        jsonschema_rs.validate(schema, {**example, "colour": "red"})


def _closed(document: dict[str, Any]) -> dict[str, Any]:
    """The schemas with no fields but those that they name: an example must not show what is gone."""
    components: dict[str, Any] = json.loads(json.dumps(document["components"]))
    for schema in components["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return components
