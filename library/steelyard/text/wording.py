"""How counts and lists are written in messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHOWN = 10


def number_of(count: int, noun: str) -> str:
    """`1 line`, `2 lines`, `1,002 lines`, `2 processes`.

    Parameters
    ----------
    count : int
    noun : str

    Returns
    -------
    str
    """
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}es" if noun.endswith("s") else f"{count:,} {noun}s"


def listed(items: Sequence[str], shown: int = SHOWN) -> str:
    """The first items with commas between them, and how many more there are.

    Parameters
    ----------
    items : sequence of str
    shown : int, optional

    Returns
    -------
    str
    """
    more = f" and {len(items) - shown:,} more" if len(items) > shown else ""
    return ", ".join(items[:shown]) + more


def of_documents(unit: str) -> str:
    """What follows "replicates" or "trials": " of documents" where the unit that they resample is the document.

    Parameters
    ----------
    unit : str

    Returns
    -------
    str
    """
    return " of documents" if unit == "document" else ""


def with_references(test_set: str, labels: Sequence[str]) -> str:
    """What is scored: `news, references A + B`, or without any `news, without texts`.

    Parameters
    ----------
    test_set : str
    labels : sequence of str

    Returns
    -------
    str
    """
    if not labels:
        return f"{test_set}, without texts"
    return f"{test_set}, reference{'s' if len(labels) > 1 else ''} {' + '.join(labels)}"


def ranges(numbers: Iterable[int], shown: int = SHOWN) -> str:
    """Sorted whole numbers, runs drawn together: `0-4, 7, 9-11`.

    Parameters
    ----------
    numbers : iterable of int
    shown : int, optional

    Returns
    -------
    str
    """
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return listed([str(first) if first == last else f"{first}-{last}" for first, last in runs], shown)
