"""The OpenAPI document: FastAPI describes the routes; this adds the errors and credentials that all of them share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from campaigns.errors import CampaignsError
from steelyard_client.documents.errors import ErrorResponse
from web.dependencies import FORM_HEADER, SAFE_METHODS, SESSION_COOKIE, cookie_name
from web.parameter_descriptions import FORM_FIELDS, PARAMETERS, PARAMETERS_OF_OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI

    from runtime.service_settings import WebSettings

Json = dict[str, Any]

EXAMPLES = Path(__file__).parent / "api" / "examples.json"
"""A request and an answer of each operation, written by `python -m tests.web.api.examples`."""

VISITORS = frozenset(
    {
        *("read_me", "list_waiting_uploads", "create_token", "list_campaigns", "read_campaign", "list_phases"),
        *("list_test_sets", "read_test_set", "download_source", "download_reference", "list_campaign_teams"),
        *("list_corrections", "read_correction", "export_campaign", "list_human_scores", "read_correlations"),
        *("list_imported_scores", "read_human_ranking", "list_past_campaigns"),
        "list_announcements",
        *("download_output", "list_leaderboards"),
        *(
            "read_leaderboard",
            "read_campaign_matrix",
            "read_campaign_metrics_task",
            "read_campaign_breakdown",
            "read_comparisons",
            "read_campaign_ngrams",
            "list_segments",
            "list_campaign_submissions",
            "list_campaign_systems",
            "read_campaign_system",
            "cite_campaign_system",
            "cite_campaign",
        ),
    }
)
"""Operations that need no account where a campaign is public."""

NAMES = {
    400: "BadRequest",
    401: "NotSignedIn",
    403: "Forbidden",
    404: "NotFound",
    408: "TooSlow",
    409: "Conflict",
    412: "OutOfDate",
    413: "TooLarge",
    414: "AddressTooLong",
    422: "InvalidInput",
    429: "TooManyRequests",
    431: "HeadersTooLarge",
    500: "Failed",
    503: "Unavailable",
}
"""Statuses of errors, and what the document calls their responses: Python's own phrases differ between its versions."""
ALWAYS = (400, 401, 403, 414, 429, 431, 500, 503)
"""Statuses of errors that every operation can have."""
PAGING = frozenset({"limit", "after", "search"})
"""Parameters that name nothing, so that nothing can be missing."""


def describe_api(app: FastAPI, settings: WebSettings) -> None:
    """Make `app.openapi` say what the server sends: errors of every operation, and how to authenticate."""
    describe = app.openapi

    def openapi() -> Json:
        if app.openapi_schema is None:
            document, examples = _renamed(describe()), json.loads(EXAMPLES.read_text(encoding="utf-8"))
            _add_components(document, settings)
            for path in document["paths"].values():
                for method, operation in path.items():
                    _complete(operation, method.upper())
                    _illustrate(operation, examples.get(operation["operationId"], {}))
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _renamed(document: Json) -> Json:
    """Name schemas as classes of clients can be called: `SystemPage`, `CreateTestSetForm`."""
    schemas = document["components"]["schemas"]
    text = json.dumps(document)
    for name, schema in schemas.items():
        better = schema.get("title", name)
        if better.startswith("Body_"):
            better = "".join(part.title() for part in better.split("_")[1:]) + "Form"
        text = text.replace(f'"#/components/schemas/{name}"', f'"#/components/schemas/{better}"')
        text = text.replace(f'"{name}": {{', f'"{better}": {{').replace(f'"title": "{name}"', f'"title": "{better}"')
    renamed: Json = json.loads(text)
    for name, schema in renamed["components"]["schemas"].items():
        if name.endswith("Page"):
            schema.setdefault("description", "A page of a list.")
        if name.endswith("Form"):
            schema["description"] = "Fields of the form."
            for field, value in schema["properties"].items():
                value.setdefault("description", FORM_FIELDS[field])
    return renamed


def _add_components(document: Json, settings: WebSettings) -> None:
    components = document["components"]
    for name in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(name, None)
    for name, schema in ErrorResponse.model_json_schema(ref_template="#/components/schemas/{model}")["$defs"].items():
        components["schemas"][name] = schema
    schema = ErrorResponse.model_json_schema(ref_template="#/components/schemas/{model}")
    components["schemas"]["ErrorResponse"] = {key: value for key, value in schema.items() if key != "$defs"}
    codes: dict[int, set[str]] = {}
    for kind in _subclasses(CampaignsError):
        codes.setdefault(kind.status, set()).add(kind.code)
    components["responses"] = {
        name: {
            "description": f"An error with one of these codes: {', '.join(sorted(codes[status]))}.",
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorResponse"}}},
        }
        for status, name in NAMES.items()
    }
    components["securitySchemes"] = {
        "token": {"type": "http", "scheme": "bearer", "description": "An access token, for programs."},
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": cookie_name(settings, SESSION_COOKIE),
            "description": "The session of a signed-in browser.",
        },
        "form": {
            "type": "apiKey",
            "in": "header",
            "name": FORM_HEADER,
            "description": "The CSRF token of the session, which requests of browsers need that change something.",
        },
    }


def _complete(operation: Json, method: str) -> None:
    """Add the errors and the credentials of an operation."""
    operation["summary"] = operation["operationId"].replace("_", " ").capitalize()
    for each in operation.get("parameters", []):
        name = each["name"]
        known = PARAMETERS_OF_OPERATIONS.get((operation["operationId"], name)) or PARAMETERS.get(name, "")
        each.setdefault("description", known)
    responses = operation["responses"]
    for status in _errors(operation, method):
        responses[str(status)] = {"$ref": f"#/components/responses/{NAMES[status]}"}
    operation["responses"] = {status: responses[status] for status in sorted(responses)}
    session: Json = {"session": []} if method in SAFE_METHODS else {"session": [], "form": []}
    operation["security"] = [{"token": []}, session, *([{}] if operation["operationId"] in VISITORS else [])]


def _illustrate(operation: Json, example: Json) -> None:
    """Add the example of an operation to its request and its answer."""
    if "request" in example:
        operation["requestBody"]["content"]["application/json"]["example"] = example["request"]
    if "answer" in example:
        operation["responses"][example["status"]]["content"]["application/json"]["example"] = example["answer"]


def _errors(operation: Json, method: str) -> Iterator[int]:
    parameters = operation.get("parameters", [])
    body, changes = "requestBody" in operation, method not in SAFE_METHODS
    yield from ALWAYS
    if body or any(each["name"] not in PAGING for each in parameters):
        yield 404
    if body or changes or parameters:
        yield 422
    if changes:
        yield 409
    if body:
        yield from (408, 413)
    if any(each["name"].lower() == "if-match" for each in parameters):
        yield 412


def _subclasses(kind: type[CampaignsError]) -> Iterator[type[CampaignsError]]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)
