"""A mutant: a source file with one small fault."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from hashlib import sha256


@dataclass(frozen=True)
class Mutant:
    """What replaces some bytes of a source file."""

    path: str
    """Relative to the root of the project."""
    operator: str
    """Which kind of fault it is."""
    start: int
    end: int
    """The bytes start to end of the file are replaced."""
    replacement: bytes
    scope: str = ""
    """The function or class that they stand in."""

    def applied(self, source: bytes) -> bytes:
        """The source with the fault."""
        return source[: self.start] + self.replacement + source[self.end :]

    def lines(self, source: bytes) -> tuple[str, str]:
        """The lines that it changes, before and after, without indentation: they stay the same when others move."""
        first = source.rfind(b"\n", 0, self.start) + 1
        last = source.find(b"\n", self.end)
        last = len(source) if last < 0 else last
        after = source[first : self.start] + self.replacement + source[self.end : last]
        return _on_one_line(source[first:last]), _on_one_line(after)

    def id(self, source: bytes) -> str:
        """Ten digits that stay the same as long as these lines do."""
        return sha256("\n".join((self.path, self.scope, *self.lines(source))).encode()).hexdigest()[:10]

    def diff(self, source: bytes) -> str:
        """As `diff -u` shows it."""
        before, after = (each.decode().splitlines(keepends=True) for each in (source, self.applied(source)))
        return "".join(difflib.unified_diff(before, after, self.path, self.path, n=2))


def _on_one_line(text: bytes) -> str:
    return " ".join(text.decode().split())
