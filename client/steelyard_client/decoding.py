"""Decodes responses to dataclasses. Unknown fields, from newer servers, are ignored."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from steelyard_client.errors import NotSteelyard

Shape = TypeVar("Shape")


def decode(kind: type[Shape], found: Any) -> Shape:
    """Decode a JSON object to a dataclass, recursively. Raises NotSteelyard if a required field is missing."""
    if not isinstance(found, dict):
        raise NotSteelyard(f"The server's answer is no {kind.__name__}: it may be of another release.")
    values = {}
    hints = _hints(cast("Any", kind))
    for field in fields(cast("Any", kind)):
        if field.name in found:
            values[field.name] = _value(hints[field.name], found[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            raise NotSteelyard(
                f'The server\'s answer lacks "{field.name}" of a {kind.__name__}: it may be of another release.'
            )
    return kind(**values)


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(hint: Any, found: Any) -> Any:
    arguments = get_args(hint)
    if get_origin(hint) in {Union, UnionType}:
        (inner,) = [each for each in arguments if each is not NoneType] or [Any]
        return None if found is None else _value(inner, found)
    if get_origin(hint) is tuple:
        return tuple(_value(arguments[0], each) for each in found or ())
    if hint is datetime:
        return _time(found)
    if is_dataclass(hint):
        return decode(cast("Any", hint), found)
    return found


def _time(found: Any) -> datetime:
    try:
        return datetime.fromisoformat(found)
    except (TypeError, ValueError) as error:
        raise NotSteelyard(f"The server's answer has the time {found!r}: it may be of another release.") from error
