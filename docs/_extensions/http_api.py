"""The HTTP API, from the OpenAPI document of the web service: operations by tag, then schemas."""

from __future__ import annotations

import json
from http import HTTPStatus
from itertools import groupby
from typing import Any

from markdown import code, table

from runtime.service_settings import WebSettings
from web.app import create_app

Json = dict[str, Any]


def sections() -> str:
    """All operations and schemas."""
    document = create_app(WebSettings(database_url="sqlite:///not-opened.db")).openapi()
    operations = [
        (operation.get("tags", ["other"])[0], method, path, operation)
        for path, item in document["paths"].items()
        for method, operation in item.items()
        if isinstance(operation, dict)
    ]
    order = list(dict.fromkeys(tag for tag, *_ in operations))
    operations.sort(key=lambda each: order.index(each[0]))
    parts = []
    for tag, group in groupby(operations, key=lambda each: each[0]):
        parts += [
            f"## {tag[:1].upper()}{tag[1:]}",
            *(_operation(*each[1:], document["components"]["responses"]) for each in group),
        ]
    schemas = document["components"]["schemas"]
    parts += ["## Schemas", *(_schema(name, schemas[name]) for name in sorted(schemas))]
    return "\n\n".join(parts)


def _operation(method: str, path: str, operation: Json, shared: Json) -> str:
    parts = [f"### {operation['summary']}", f"```text\n{method.upper()} {path}\n```", operation.get("description", "")]
    if parameters := operation.get("parameters"):
        rows = [
            (
                code(each["name"]),
                each["in"],
                _kind(each["schema"]),
                _meaning(each["schema"] | each, each.get("required")),
            )
            for each in parameters
        ]
        parts.append(table(("parameter", "in", "type", "meaning"), rows))
    for media, body in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"Request body, `{media}`: {_kind(body.get('schema', {}))}")
        if "properties" in body.get("schema", {}):
            parts.append(_fields(body["schema"]))
        parts += _example("Example", body)
    responses = {
        status: shared[each["$ref"].rpartition("/")[2]] if "$ref" in each else each
        for status, each in operation["responses"].items()
    }
    parts.append(table(("status", "meaning", "body"), [_response(*each) for each in responses.items()]))
    for status, response in responses.items():
        for body in response.get("content", {}).values():
            parts += _example(f"Example, {status}", body)
    return "\n\n".join(filter(None, parts))


def _example(title: str, body: Json) -> list[str]:
    if body.get("example") is None:
        return []
    return [f"{title}:", f"```json\n{json.dumps(body['example'], indent=1, ensure_ascii=False)}\n```"]


def _response(status: str, response: Json) -> tuple[str, str, str]:
    meaning = response.get("description", "")
    if meaning in ("", "Successful Response"):
        meaning = HTTPStatus(int(status)).phrase
    bodies = (_kind(each.get("schema", {})) or code(media) for media, each in response.get("content", {}).items())
    return code(status), meaning, ", ".join(bodies)


def _schema(name: str, schema: Json) -> str:
    parts = [f"### {name}", schema.get("description", "")]
    if "properties" in schema:
        parts.append(_fields(schema))
    elif kind := _kind(schema):
        parts.append(kind)
    return "\n\n".join(filter(None, parts))


def _fields(schema: Json) -> str:
    required = schema.get("required", ())
    rows = [(code(name), _kind(each), _meaning(each, name in required)) for name, each in schema["properties"].items()]
    return table(("field", "type", "meaning"), rows)


def _meaning(schema: Json, required: object) -> str:
    text = schema.get("description", "")
    if required:
        return f"{text} *Required.*"
    return f"{text} Default: `{schema['default']!r}`." if schema.get("default") not in (None, "") else text


def _kind(schema: Json) -> str:
    """A type in words, with links to schemas."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})" if schema["$ref"].startswith("#/components") else code(name)
    if choices := schema.get("enum") or ([schema["const"]] if "const" in schema else None):
        return ", ".join(code(str(each)) for each in choices)
    for several in ("anyOf", "oneOf", "allOf"):
        if several in schema:
            return " or ".join(dict.fromkeys(map(_kind, schema[several])))
    kind = schema.get("type", "")
    if kind == "array":
        return f"list of {_kind(schema.get('items', {})) or 'anything'}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_kind(schema['additionalProperties'])}"
    return f"{kind} ({schema['format']})" if "format" in schema else str(kind)
