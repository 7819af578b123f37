"""How counts and lists are written in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHOWN = 10


def number_of(count: int, noun: str) -> str:
    """`1 line`, `2 lines`, `1,002 lines`, `2 processes`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}es" if noun.endswith("s") else f"{count:,} {noun}s"


def listed(items: Sequence[str], shown: int = SHOWN) -> str:
    """The first items with commas between them, and how many more there are."""
    more = f" and {len(items) - shown:,} more" if len(items) > shown else ""
    return ", ".join(items[:shown]) + more


def ranges(numbers: Iterable[int], shown: int = SHOWN) -> str:
    """Sorted whole numbers, runs drawn together: `0-4, 7, 9-11`."""
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return listed([str(first) if first == last else f"{first}-{last}" for first, last in runs], shown)
