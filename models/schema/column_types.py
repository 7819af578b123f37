"""Column types that tolerate unknown values, since rows are edited by hand and written by other releases.

Such a value does not prevent reading its row: a list can show all rows. Code that depends on the value gets
UnreadableRow: from `known` for an enumeration, from any use of a JSON value.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, NoReturn, TypeVar, cast, get_args, get_origin

from sqlalchemy import JSON, Dialect, String, TypeDecorator

from models.errors import UnreadableRow

Known = TypeVar("Known", bound=StrEnum)
Value = TypeVar("Value")
Made = TypeVar("Made")

log = logging.getLogger(__name__)

UNREADABLE = ("unreadable",)
"""Shown in place of an unreadable list of words."""


class EnumText(TypeDecorator[Known]):
    """A value of an enumeration, stored as its text.

    An unknown text is read as a value that equals this text and no member of the enumeration.
    """

    impl = String
    cache_ok = True

    def __init__(self, kind: type[Known], length: int = 16) -> None:
        super().__init__(length)
        self.kind = kind
        self.length = length

    def process_bind_param(self, value: Known | str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The stored form."""
        return None if value is None else str(value)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Known | None:  # noqa: ARG002
        """Read the stored form."""
        return None if value is None else read_as(self.kind, str(value))


def read_as(kind: type[Known], text: str) -> Known:
    """The member of an enumeration with this text, or a value that equals the text and no member."""
    try:
        return kind(text)
    except ValueError:
        found = str.__new__(kind, text)
        found._name_, found._value_ = "", text
        return found


def is_known(value: StrEnum) -> bool:
    """Whether a value read from a column is known to this release."""
    return bool(value.name)


def known(value: Known, what: str) -> Known:
    """The value of a column.

    Raises
    ------
    UnreadableRow
        If a row cannot be read, naming `what`, if it is unknown to this release.
    """
    if is_known(value):
        return value
    there = ", ".join(repr(str(each)) for each in type(value))
    raise UnreadableRow(
        f"{what} is {str(value)[:50]!r} in the database, where this release knows {there}. Correct it there, or "
        "upgrade this server."
    )


class JsonOf(TypeDecorator[Any]):
    """JSON of a given shape, such as `list[str]` or `dict[str, Any]`; anything else is read as an UnreadableValue."""

    impl = JSON
    cache_ok = True

    def __init__(self, shape: Any, what: str, *, none_as_null: bool = False) -> None:
        """`what` names the value in errors, such as "The metrics of a protocol"."""
        super().__init__(none_as_null=none_as_null)
        self.shape = shape
        self.what = what
        self.none_as_null = none_as_null

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any]:
        """The reader of stored values. Not `process_result_value`, which is called for valid JSON only."""
        load, fits = super().result_processor(dialect, coltype), _check_of(self.shape)

        def read(stored: Any) -> Any:
            if stored is None:
                return None
            try:
                value = stored if load is None else load(stored)
            except (TypeError, ValueError, RecursionError):
                return UnreadableValue(self.what, stored)
            return value if fits(value) else UnreadableValue(self.what, stored)

        return read


def _check_of(shape: Any) -> Callable[[Any], bool]:
    """What tells whether a value has this shape."""
    inside = get_args(shape)
    if shape is Any:
        return lambda _: True
    if get_origin(shape) is list:
        each = _check_of(inside[0])
        return lambda value: isinstance(value, list) and all(map(each, value))
    if get_origin(shape) is dict:
        of_value = _check_of(inside[1])
        return lambda value: isinstance(value, dict) and all(map(of_value, value.values()))
    kinds = (int, float) if shape is float else shape
    return lambda value: isinstance(value, kinds) and not isinstance(value, bool)


class UnreadableValue:
    """Stands for a stored value of the wrong shape. Any use of it raises UnreadableRow."""

    __slots__ = ("_message",)

    def __init__(self, what: str, stored: object) -> None:
        self._message = (
            f"{what} cannot be read: {str(stored)[:50]!r} in the database does not have the expected form. Correct "
            "it there, or upgrade this server."
        )

    def _raise(self, *_: object) -> NoReturn:
        raise UnreadableRow(self._message)

    __getattr__ = __getitem__ = __iter__ = __len__ = __contains__ = __bool__ = __eq__ = __hash__ = _raise


def readable(value: Value, instead: Value) -> Value:
    """A JSON value for a list of rows, with `instead` for an unreadable one, which only its own page reports."""
    return instead if isinstance(value, UnreadableValue) else value


def kept(value: Any, make: Callable[[Any], Made]) -> Made:
    """The result of `make` on a JSON value; an unreadable value is kept, to raise UnreadableRow when it is used.

    So a task with an unreadable row can be claimed and fails like others, rather than being sent for ever.
    """
    return cast("Made", value) if isinstance(value, UnreadableValue) else make(value)


def readable_rows(rows: Iterable[Any], make: Callable[[Any], Made]) -> list[Made]:
    """`make` on each row. Rows that raise UnreadableRow are logged and skipped; if all do, it is raised."""
    found, fault = [], None
    for row in rows:
        try:
            found.append(make(row))
        except UnreadableRow as error:
            log.warning("Skipping an unreadable row: %s", error)
            fault = fault or error
    if fault is not None and not found:
        raise fault
    return found


@contextmanager
def stored(what: str) -> Iterator[None]:
    """Raise UnreadableRow, naming `what`, if stored JSON lacks a part or has the wrong form."""
    try:
        yield
    except (AttributeError, LookupError, OSError, TypeError, ValueError) as error:
        raise UnreadableRow(
            f"{what} cannot be read: it was changed by hand, or written by another release ({type(error).__name__}: "
            f"{error})."
        ) from error
