"""Documents of the API made up from their types: the same ones each time, with another value in every field.

A world is a number: of world 0 all lists are empty and whatever may be missing is; the others differ in how long lists
are, what is missing, and which values fields have.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from zlib import crc32

from pydantic import AwareDatetime, BaseModel

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)
LENGTHS = (0, 1, 3, 3)
"""Of all lists of a world, so that those that go together do."""
WORLDS = range(len(LENGTHS))
NAMES = {
    "metrics": ("bleu", "ter", "chrf"),
    "metric": ("bleu", "ter", "chrf"),
    "sorted_by": ("bleu",) * 3,
    "baseline": ("bleu",) * 3,
    "test": ("bootstrap", "randomization", "bootstrap"),
    "correction": ("holm", "none", "bh"),
    "interval": ("percentile", "bca", "percentile"),
    "statistic": ("pearson", "kendall", "acc"),
    "title": ("BLEU", "TER", "chrF2"),
    "time_zone": ("Asia/Tokyo", "UTC", "Europe/Prague"),
    "cron": ("30 2 * * *",) * 3,
    "source_language": ("en", "de", "ja"),
    "target_language": ("cs", "", "zh"),
    "system": ("keel", "mast", "raft"),
    "team": ("harbour", "", "bay"),
}
"""Words of fields that mean something, by their place in a list."""
SHARES = ("p", "p_corrected", "share", "value", "level", "alpha", "p_segments", "kappa")
NEVER = ("running", "computing", "testing", "drawing")
"""What a command would wait for."""
ALWAYS = ("signed_in",)
REFERS = {"more_often_in": ("systems", "submission")}
"""Fields that name a member of a list of the same document: the list, and what it is known by there."""
POSITIONS = ("a", "b", "first", "second", "best", "baseline")
"""Fields that count from 0 in lists of the same document."""
COUNTED = ("ngrams",)
"""Lists whose items have numbers of their own in fields of these names."""


class MadeUp:
    """Documents of one world."""

    def __init__(self, world: int) -> None:
        self._world, self._length = world, LENGTHS[world]

    def of(self, kind: Any, path: tuple[str | int, ...] = ()) -> Any:
        """A value of an annotated type at a place in a document, as JSON has it."""
        origin, inner = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self.of(inner[0], path)
        if origin in (Union, types.UnionType):
            if type(None) in inner and (self._world == 0 or path[-1:] == ("failure",) or self._drawn(path, 4) == 0):
                return None
            return self.of(next(each for each in inner if each is not type(None)), path)
        if origin is Literal:
            return inner[self._drawn(path, len(inner))]
        if origin is tuple and Ellipsis not in inner:
            return [self.of(each, (*path, number)) for number, each in enumerate(inner)]
        if origin in (list, tuple, set, frozenset, Sequence):
            return [self.of(inner[0], (*path, number)) for number in range(self._length)]
        if origin in (dict, Mapping):
            named = (str(self._plain(inner[0], (*path, number))) for number in range(self._length))
            return {name: self.of(inner[1], (*path, name)) for name in named}
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return {name: self.of(field.annotation, (*path, name)) for name, field in kind.model_fields.items()}
        return self._plain(kind, path)

    def _plain(self, kind: Any, path: tuple[str | int, ...]) -> Any:
        place = next((each for each in reversed(path) if isinstance(each, int)), 0)
        name = next((each for each in reversed(path) if isinstance(each, str)), "")
        if name in NEVER:
            return kind()
        if name in REFERS:
            where, known_by = REFERS[name]
            return self._plain(kind, (where, place, known_by))
        if isinstance(kind, type) and issubclass(kind, Enum):
            members = list(kind)
            return members[self._drawn(path, len(members))].value
        if kind is str:
            return NAMES[name][place % 3] if name in NAMES else f"{name}-{place + 1}"
        if kind is bool:
            return name in ALWAYS or bool(self._drawn(path, 2))
        if kind is int:
            return place if name in POSITIONS and not set(COUNTED) & set(path) else 1 + self._drawn(path, 2000)
        if kind is float:
            return self._drawn(path, 1000) / (997 if name in SHARES else 9.97)
        if kind in (datetime, AwareDatetime):
            return (NOON + timedelta(minutes=self._drawn(path, 100_000) - 50_000)).isoformat()
        if kind is date:
            return (NOON + timedelta(days=self._drawn(path, 60))).date().isoformat()
        return {"any": self._drawn(path, 100)}

    def _drawn(self, path: tuple[str | int, ...], most: int) -> int:
        """A number below `most` that is another one at every place."""
        return crc32(f"{self._world} {path}".encode()) // 7 % most
