"""Tables declared as classes, whose attributes are the columns: SQLAlchemy's declarative form, for Core.

Our statements run on connections: nothing uses sessions or relationships, for which SQLAlchemy's own declarative base
maps each class. That takes 0.3 s at the start of a command, and makes each statement dearer.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from types import SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, TypeVar, Union, get_args, get_origin, overload

from sqlalchemy import Boolean, Column, Float, ForeignKey, Integer, LargeBinary, MetaData, String, Table

Value = TypeVar("Value")
Class = TypeVar("Class", bound="TableClass")

_TYPES: dict[Any, Any] = {int: Integer, str: String, bool: Boolean, float: Float, bytes: LargeBinary}
"""The type of a column that does not name one."""


class Mapped(Generic[Value]):
    """The annotation of a column: the type of its values, with None if it may be null."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type) -> Column[Value]: ...
        @overload
        def __get__(self, instance: object, owner: type) -> Value: ...
        def __get__(self, instance: object, owner: type) -> Any: ...


@dataclass(frozen=True, eq=False)
class _Declared:
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    sort_order: int


_UNDECLARED = _Declared((), {}, 0)


def mapped_column(*arguments: Any, sort_order: int = 0, **options: Any) -> Any:
    """A column, with the arguments of `sqlalchemy.Column` but for the name, which is that of the attribute.

    Parameters
    ----------
    *arguments
        A type, if it does not follow from the annotation, and foreign keys.
    sort_order
        Where the column stands: those of a class come before those of its bases, unless theirs is lower.
    """
    return _Declared(arguments, options, sort_order)


class TableClass:
    """A class with `__tablename__` that inherits from this one is a table; others are bases that share columns."""

    metadata: ClassVar[MetaData]
    __tablename__: ClassVar[str]
    __table_args__: ClassVar[tuple[Any, ...]] = ()
    __table__: ClassVar[Table]

    def __init_subclass__(cls) -> None:
        if "__tablename__" not in vars(cls):
            return
        declared: dict[str, tuple[Any, _Declared]] = {}
        for base in cls.__mro__:
            for name, annotation in inspect.get_annotations(base, eval_str=True).items():
                if get_origin(annotation) is Mapped:  # type: ignore[comparison-overlap]
                    declared.setdefault(name, (*get_args(annotation), vars(base).get(name, _UNDECLARED)))
        ordered = sorted(declared.items(), key=lambda item: item[1][1].sort_order)
        columns = [_column(name, annotation, column) for name, (annotation, column) in ordered]
        cls.__table__ = Table(cls.__tablename__, cls.metadata, *columns, *cls.__table_args__)
        for column in cls.__table__.columns:
            setattr(cls, column.name, column)

    @classmethod
    def __clause_element__(cls) -> Table:
        """What SQLAlchemy takes the class for in statements."""
        return cls.__table__


def aliased(table: type[Class]) -> type[Class]:
    """The table under a second name, for a statement that reads it twice."""
    alias = table.__table__.alias()
    return SimpleNamespace(**alias.columns, __clause_element__=lambda: alias)  # type: ignore[return-value]


def _column(name: str, annotation: Any, own: _Declared) -> Column[Any]:
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kind, shared = get_args(parts[0]) if get_origin(parts[0]) is Annotated else (parts[0], _UNDECLARED)
    # A column of a base belongs to several tables, but a foreign key to one column.
    given = [
        ForeignKey(each.target_fullname, ondelete=each.ondelete) if isinstance(each, ForeignKey) else each
        for each in own.arguments
    ]
    # A foreign key has the type of the column that it refers to.
    return Column(
        name, *(given or shared.arguments or [_TYPES[kind]]), nullable=len(parts) > 1, **shared.options, **own.options
    )
