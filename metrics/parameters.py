"""How a metric's parameters are declared: once, for signature, command line and docs."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from metrics.text.tokenizers import TOKENIZERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LARGEST_WORD_ORDER = 16


def parameter(
    default: Any,
    describe: str,
    *,
    choices: Sequence[str] = (),
    parse: Callable[[str], Any] | None = None,
    show: Callable[[Any], str] | None = None,
    ours: bool = False,
) -> Any:
    """A dataclass field that is a parameter of a metric.

    `parse` turns the text after `key=` into a value (ValueError says why not); `show` is its inverse, used in
    specifications and signatures; both may be left out for texts and for yes and no. `ours` marks a parameter that
    sacreBLEU's signature does not have: it is written behind sacreBLEU's fields so that programs which read those
    go on working.
    """
    if parse is None:
        parse = parse_yes_no if isinstance(default, bool) else str
    if show is None:
        show = show_yes_no if isinstance(default, bool) else str
    meta = {"describe": describe, "choices": tuple(choices), "parse": parse, "show": show, "ours": ours}
    return dataclasses.field(default=default, metadata=meta)


def case_parameter(default: str = "mixed") -> Any:
    """Whether the case of letters is folded before anything else."""
    return parameter(default, "mixed keeps the case of letters, lc folds it", choices=("mixed", "lc"))


def tokenizer_parameter(default: str = "13a") -> Any:
    """How the text is cut into words."""
    return parameter(default, "tokenizer", choices=tuple(TOKENIZERS))


def parse_yes_no(text: str) -> bool:
    """True for "yes", False for "no"."""
    if text not in ("yes", "no"):
        raise ValueError("is yes or no")
    return text == "yes"


def show_yes_no(value: bool) -> str:
    """The inverse of `parse_yes_no`."""
    return "yes" if value else "no"


def whole_number_to(largest: int) -> Callable[[str], int]:
    """A `parse` for numbers 0, 1, 2 and so on."""

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) <= largest):
            raise ValueError(f"is a whole number from 0 to {largest}")
        return int(text)

    return parse


def number_to(largest: int) -> Callable[[str], float]:
    """A `parse` for numbers that may have a fraction, from 0 on."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 <= value <= largest:
            raise ValueError(f"is a number from 0 to {largest}")
        return value

    return parse


def show_number(value: float) -> str:
    """The shortest text that parses back."""
    return str(int(value)) if float(value).is_integer() else repr(value)


def parse_orders(text: str) -> tuple[int, ...]:
    """A set of n-gram orders such as "1-4", "1,2" or "6,1-3,7", sorted (Kos 2008, A.2).

    Raises ValueError for anything else, and for orders beyond LARGEST_WORD_ORDER.
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
    """The shortest text that parses back: runs as intervals."""
    runs: list[list[int]] = []
    for order in orders:
        if runs and order == runs[-1][-1] + 1:
            runs[-1].append(order)
        else:
            runs.append([order])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
