"""Statements caught on their way to the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event

Statement = tuple[str, Any]
"""Its text and parameters."""


@contextmanager
def caught() -> Iterator[list[Statement]]:
    """What all engines are asked; of many rows written at once, the first."""
    found: list[Statement] = []

    def catch(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if statement.split(None, 1)[0] in {"SELECT", "WITH", "UPDATE", "DELETE"}:
            found.append((statement, parameters[0] if isinstance(parameters, list) else parameters))

    event.listen(Engine, "before_cursor_execute", catch)
    try:
        yield found
    finally:
        event.remove(Engine, "before_cursor_execute", catch)
