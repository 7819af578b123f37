"""Further figures beside scores, such as precisions or the share of unknown words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def detail_table(
    title: str, systems: Sequence[str], details: Sequence[Mapping[str, float]], digits: int = 1
) -> list[list[str]]:
    """A row for each system and a column for each figure, under a header; empty where there are none.

    Counts are shown as they are, other figures with two digits more than scores, because most are shares. A figure
    that only some systems have stays empty for the others.
    """
    names = list(dict.fromkeys(name for each in details for name in each))
    if not names:
        return []
    whole = {name: all(float(each[name]).is_integer() for each in details if name in each) for name in names}

    def shown(name: str, each: Mapping[str, float]) -> str:
        return f"{each[name]:.{0 if whole[name] else digits + 2}f}" if name in each else ""

    rows = [[system, *(shown(name, each) for name in names)] for system, each in zip(systems, details, strict=True)]
    return [[title, *names], *rows]
