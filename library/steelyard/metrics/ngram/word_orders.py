"""Which orders of word n-grams are counted: a parameter of several metrics."""

from __future__ import annotations

import operator
from typing import Any

from steelyard.metrics.parameters import Alias, parameter, whole_number_to

LARGEST_WORD_ORDER = 16


def word_orders_parameter(default: tuple[int, ...], describe: str) -> Any:
    """Which orders of word n-grams are counted.

    Parameters
    ----------
    default : tuple of int
    describe : str

    Returns
    -------
    dataclasses.Field
    """
    return parameter(
        default, describe, parse=parse_orders, show=show_orders, ours=True,
        natural=natural_orders, aliases=[Alias(("max_ngram_order",), orders_to, ("int",))],
        accepts="str | int | Iterable[int]",
    )  # fmt: skip


def parse_orders(text: str) -> tuple[int, ...]:
    """A set of n-gram orders (Kos 2008, A.2).

    Parameters
    ----------
    text : str
        Such as "1-4", "1,2" or "6,1-3,7".

    Returns
    -------
    tuple of int
        Sorted.

    Raises
    ------
    ValueError
        For anything else, and for orders beyond LARGEST_WORD_ORDER.
    """
    orders: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        if not all(number.isascii() and number.isdigit() for number in ((first, last) if dash else (first,))):
            raise ValueError('is a list of numbers and intervals, such as "1-4" or "3,1,5"')
        low, high = int(first), int(last or first)
        if not 1 <= low <= high <= LARGEST_WORD_ORDER:
            raise ValueError(f"orders go from 1 to {LARGEST_WORD_ORDER}, and an interval from low to high")
        orders.update(range(low, high + 1))
    return tuple(sorted(orders))


def show_orders(orders: tuple[int, ...]) -> str:
    """The shortest text that parses back: runs as intervals.

    Parameters
    ----------
    orders : tuple of int
        Sorted.

    Returns
    -------
    str
    """
    runs: list[list[int]] = []
    for order in orders:
        if runs and order == runs[-1][-1] + 1:
            runs[-1].append(order)
        else:
            runs.append([order])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def natural_orders(value: Any) -> tuple[int, ...]:
    """Orders as Python users give them.

    Parameters
    ----------
    value : int or iterable of int
        A number n for the orders 1 to n, or the orders in any order.

    Returns
    -------
    tuple of int
        Sorted.

    Raises
    ------
    TypeError
        For anything else.
    """
    if isinstance(value, bool):
        raise TypeError
    return tuple(range(1, operator.index(value) + 1) if hasattr(value, "__index__") else sorted(set(value)))


def orders_to(text: str) -> str:
    """The orders from 1 to a largest one.

    Parameters
    ----------
    text : str
        The largest.

    Returns
    -------
    str
        For `parse_orders`.

    Raises
    ------
    ValueError
        For what is no number from 0 to LARGEST_WORD_ORDER.
    """
    return f"1-{whole_number_to(LARGEST_WORD_ORDER)(text)}"
