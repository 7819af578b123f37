"""What callgrind wrote down: instructions by the file that holds them."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PARTS = {
    # The build takes the names of functions out of the library, and callgrind may count what has none for its caller:
    # that is libffi, which takes next to nothing itself.
    "kernels": re.compile(r"/_kernels\.so$|/libffi\.so"),
    "NumPy": re.compile(r"/numpy(\.libs)?/"),
    "SQLite": re.compile(r"/(lib|_)sqlite3"),
    "Python": re.compile(r"/(lib)?python3[^/]*$|/lib-dynload/"),
}
"""Where instructions are; what fits none of them is the rest (the C library above all)."""
REST = "rest"

_COSTS = tuple("0123456789+-*")
_TRIGGER = re.compile(r"^desc: Trigger: Client Request: (.*)$", re.MULTILINE)
_OBJECT = re.compile(r"^ob=\((\d+)\)(?: (.*))?$")
_NAMED = re.compile(r"^cob=\((\d+)\) (.*)$")


def reason(profile: str) -> str | None:
    """What the program said when it asked for this profile; None for that of its end."""
    found = _TRIGGER.search(profile)
    return found[1] if found else None


def by_part(profile: str) -> Counter[str]:
    """Instructions of each part. What a function calls counts for itself alone."""
    counts: Counter[str] = Counter()
    for path, instructions in _costs(profile):
        counts[next((part for part, pattern in PARTS.items() if pattern.search(path)), REST)] += instructions
    return counts


def _costs(profile: str) -> Iterator[tuple[str, int]]:
    """Each line of costs: the object it belongs to, and its instructions."""
    paths: dict[str, str] = {}
    current, calls = "", False
    for line in profile.splitlines():
        if line.startswith(_COSTS):
            # The line after `calls=` says what the called function took.
            if not calls:
                yield paths[current], int(line.split()[1])
            calls = False
        elif line.startswith("calls="):
            calls = True
        elif found := _OBJECT.match(line) or _NAMED.match(line):
            if found[2] is not None:
                paths[found[1]] = found[2]
            if line.startswith("ob="):
                current = found[1]


def profiles(folder: Path) -> Iterator[str]:
    """Those in a folder, in the order in which they were written."""
    numbered = ((int(path.suffix[1:] or 0), path) for path in folder.glob("profile*"))
    for _, path in sorted(numbered):
        yield path.read_text()
