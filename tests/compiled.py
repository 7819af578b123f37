"""Statements compiled once for all engines of a test run: each test has engines of its own, which would begin anew."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from sqlalchemy.util import LRUCache

from models.schema.base import now

STATEMENTS: LRUCache[Any, Any] = LRUCache(4000)


class SharedCompiled:
    """What an engine takes for its own cache. Dialects that are configured in the same way count as one."""

    def __init__(self, *dialect: object) -> None:
        self._dialect = dialect

    def get(self, key: tuple[Any, ...]) -> Any:
        """The statement, where some engine has compiled it."""
        return STATEMENTS.get((self._dialect, _clock(), *key[1:]))

    def __setitem__(self, key: tuple[Any, ...], compiled: Any) -> None:
        STATEMENTS[(self._dialect, _clock(), *key[1:])] = compiled

    def clear(self) -> None:
        """Nothing: other engines need it."""


def _clock() -> tuple[int, ...]:
    """By what the clock is compiled now: tests set it (`tests.scheduler.clocks`)."""
    return tuple(map(id, now._compiler_dispatcher.specs.values()))  # type: ignore[attr-defined]


def share_compiled(connection: Connection) -> None:
    """Let the engine of a connection use what others have compiled."""
    engine, dialect = connection.engine, connection.dialect
    if not isinstance(engine._compiled_cache, SharedCompiled):
        engine._compiled_cache = SharedCompiled(dialect.name, dialect.driver, dialect.server_version_info)
