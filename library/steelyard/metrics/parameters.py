"""How a metric's parameters are declared: once, for signature, command line and docs."""

from __future__ import annotations

import dataclasses
import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadParameter
from steelyard.tokenizers.registry import AUTO, TOKENIZERS, signed, tokenizer_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

LARGEST_WORD_ORDER = 16


@dataclass(frozen=True)
class Alias:
    """sacreBLEU's name, or names, for a parameter."""

    names: tuple[str, ...]
    text: Callable[..., str]
    """From the texts for the names, None for one not given, to that for the parameter; ValueError says why not."""
    types: tuple[str, ...] = ()
    """What each name takes in Python, as an annotation; where nothing is said, what the parameter takes."""


def parameter(
    default: Any,
    describe: str,
    *,
    choices: Sequence[str] = (),
    parse: Callable[[str], Any] | None = None,
    show: Callable[[Any], str] | None = None,
    ours: bool = False,
    natural: Callable[[Any], Any] | None = None,
    aliases: Sequence[Alias] = (),
    choice_of: Callable[[str], str] = str,
    sign: Callable[[Any], str] | None = None,
    accepts: str = "",
) -> Any:
    """A dataclass field that is a parameter of a metric.

    `parse` turns the text after `key=` into a value (ValueError says why not); `show` is its inverse, used in
    specifications and signatures; both may be left out for texts and for yes and no. `ours` marks a parameter that
    sacreBLEU's signature does not have: it is written behind sacreBLEU's fields so that programs which read those
    go on working. `natural` makes a value of what is given in Python otherwise than as text, such as a list. `aliases`
    are sacreBLEU's names for it. `choice_of` says which of the choices a text means, where one can be written with more
    behind it. `sign` is `show` for signatures, where they have it otherwise. `accepts` is an annotation: what Python
    users may give, for type checkers; "" for the type of the field, or its choices.
    """
    if parse is None:
        parse = parse_yes_no if isinstance(default, bool) else str
    if show is None:
        show = show_yes_no if isinstance(default, bool) else str
    meta: dict[str, Any] = {"describe": describe, "choices": tuple(choices), "parse": parse, "show": show, "ours": ours}
    meta |= {"natural": natural, "aliases": tuple(aliases)}
    meta |= {"choice_of": choice_of, "sign": sign or show, "accepts": accepts}
    return dataclasses.field(default=default, metadata=meta)


def case_parameter(default: str = "mixed") -> Any:
    """Whether the case of letters is folded before anything else."""
    return parameter(
        default, "mixed keeps the case of letters, lc folds it", choices=("mixed", "lc"),
        aliases=[one_of("lowercase", "lc", "mixed"), one_of("case_sensitive", "mixed", "lc")],
    )  # fmt: skip


def tokenizer_parameter(default: str = "13a") -> Any:
    """How the text is cut into words."""
    return parameter(
        default, "tokenizer; auto is the one of the target language", choices=(AUTO, *TOKENIZERS),
        aliases=[alias("tokenize")], choice_of=tokenizer_choice, sign=signed,
    )  # fmt: skip


def alias(name: str) -> Alias:
    """Another name for the same value."""
    return Alias((name,), str)


def one_of(name: str, yes: str, no: str) -> Alias:
    """A name that is asked yes or no, and what it stands for."""
    return Alias((name,), lambda text: yes if parse_yes_no(text) else no, ("bool",))


def without_aliases(metric: str, fields: Iterable[dataclasses.Field[Any]], values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values by the parameters' own names; those of aliases as text.

    An alias that is None is not given, as sacreBLEU has it. Raises BadParameter where a parameter is given twice.
    """
    left = dict(values)
    for field in fields:
        for each in field.metadata.get("aliases", ()):
            given = {name: left.pop(name) for name in each.names if name in left}
            texts = {name: _text(value) for name, value in given.items() if value is not None}
            if not texts:
                continue
            if field.name in left:
                raise BadParameter(
                    f"{metric}: {' and '.join(texts)} and {field.name} are the same parameter. Give one of them."
                )
            try:
                left[field.name] = each.text(*(texts.get(name) for name in each.names))
            except ValueError as error:
                written = ", ".join(f'{name}="{text[:100]}"' for name, text in texts.items())
                raise BadParameter(f"{metric}: {written}: {error}.") from error
    return left


def _text(value: Any) -> str:
    return show_yes_no(value) if isinstance(value, bool) else str(value)


YES_NO = {"yes": True, "no": False, "true": True, "false": False}


def parse_yes_no(text: str) -> bool:
    """True for "yes" and "true", False for "no" and "false"."""
    if text.lower() not in YES_NO:
        raise ValueError("is yes or no")
    return YES_NO[text.lower()]


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


def orders_to(text: str) -> str:
    """The orders from 1 to a largest one, as text for `parse_orders`."""
    return f"1-{whole_number_to(LARGEST_WORD_ORDER)(text)}"


def natural_orders(value: Any) -> tuple[int, ...]:
    """A number n for the orders 1 to n, or the orders in any order. Raises TypeError."""
    if isinstance(value, bool):
        raise TypeError
    return tuple(range(1, operator.index(value) + 1) if hasattr(value, "__index__") else sorted(set(value)))


def word_orders_parameter(default: tuple[int, ...], describe: str) -> Any:
    """Which orders of word n-grams are counted."""
    return parameter(
        default, describe, parse=parse_orders, show=show_orders, ours=True,
        natural=natural_orders, aliases=[Alias(("max_ngram_order",), orders_to, ("int",))],
        accepts="str | int | Iterable[int]",
    )  # fmt: skip


def show_orders(orders: tuple[int, ...]) -> str:
    """The shortest text that parses back: runs as intervals."""
    runs: list[list[int]] = []
    for order in orders:
        if runs and order == runs[-1][-1] + 1:
            runs[-1].append(order)
        else:
            runs.append([order])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
