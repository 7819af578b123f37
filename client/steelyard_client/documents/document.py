"""The base of all documents that the API takes and sends."""

from __future__ import annotations

import ast
import inspect
import sys
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, overload

from pydantic import AwareDatetime, BaseModel, WithJsonSchema

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler


class Document(BaseModel):
    """A document of the API. The docstring of a field is its description in the OpenAPI document."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Describe the fields. Pydantic would read all source files at import, in clients that need no schema, too."""
        schema = handler(core_schema)
        properties = handler.resolve_ref_schema(schema).get("properties", {})
        for base in (each for each in cls.__mro__ if issubclass(each, Document)):
            for name, text in _descriptions(base.__module__).get(base.__name__, {}).items():
                if name in properties:
                    properties[name].setdefault("description", text)
        return schema


Timestamp = Annotated[AwareDatetime, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time; RFC 3339 in JSON."""


@overload
def utc(seconds: float) -> datetime: ...
@overload
def utc(seconds: float | None) -> datetime | None: ...
def utc(seconds: float | None) -> datetime | None:
    """The time of seconds since 1970, in UTC to the microsecond; None for None."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


@cache
def _descriptions(module: str) -> dict[str, dict[str, str]]:
    """Class of a module -> field -> the string below it."""
    found: dict[str, dict[str, str]] = {}
    for each in ast.parse(inspect.getsource(sys.modules[module])).body:
        if isinstance(each, ast.ClassDef):
            fields = found.setdefault(each.name, {})
            for field, below in zip(each.body, each.body[1:], strict=False):
                if (
                    isinstance(field, ast.AnnAssign)
                    and isinstance(field.target, ast.Name)
                    and isinstance(below, ast.Expr)
                    and isinstance(below.value, ast.Constant)
                ):
                    fields[field.target.id] = inspect.cleandoc(str(below.value.value))
    return found
