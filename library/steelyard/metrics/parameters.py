"""How a metric's parameters are declared: once, for signature, command line and docs."""

from __future__ import annotations

import dataclasses
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import BadParameter
from steelyard.tokenizers.registry import AUTO, TOKENIZERS, signed, tokenizer_choice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


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

    Parameters
    ----------
    default : Any
    describe : str
        What it is, for lists and docs.
    choices : list of str
        The texts that are allowed; empty for any that `parse` takes.
    parse : callable, optional
        From the text after `key=` to a value; ValueError says why not. For texts and for yes and no it may be left out.
    show : callable, optional
        The inverse of `parse`, used in specifications and signatures.
    ours : bool
        For a parameter that sacreBLEU's signature does not have: it is written behind sacreBLEU's fields so that
        programs which read those go on working.
    natural : callable, optional
        Makes a value of what is given in Python otherwise than as text, such as a list.
    aliases : list of Alias
        sacreBLEU's names for it.
    choice_of : callable
        Which of the choices a text means, where one can be written with more behind it.
    sign : callable, optional
        `show` for signatures, where they have it otherwise.
    accepts : str
        An annotation: what Python users may give, for type checkers; "" for the type of the field, or its choices.

    Returns
    -------
    dataclasses.Field
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
    """Whether the text is lowercased before anything else.

    Parameters
    ----------
    default : str
        "mixed" or "lc".

    Returns
    -------
    dataclasses.Field
    """
    return parameter(
        default, "mixed keeps the case of letters, lc lowercases them", choices=("mixed", "lc"),
        aliases=[one_of("lowercase", "lc", "mixed"), one_of("case_sensitive", "mixed", "lc")],
    )  # fmt: skip


def tokenizer_parameter(default: str = "13a") -> Any:
    """How the text is cut into words.

    Parameters
    ----------
    default : str
        The name of a tokenizer.

    Returns
    -------
    dataclasses.Field
    """
    return parameter(
        default, "tokenizer; auto is the one of the target language", choices=(AUTO, *TOKENIZERS),
        aliases=[alias("tokenize")], choice_of=tokenizer_choice, sign=signed,
    )  # fmt: skip


def alias(name: str) -> Alias:
    """Another name for the same value.

    Parameters
    ----------
    name : str
        sacreBLEU's.

    Returns
    -------
    Alias
    """
    return Alias((name,), str)


def one_of(name: str, yes: str, no: str) -> Alias:
    """A name that is asked yes or no, and what it stands for.

    Parameters
    ----------
    name : str
        sacreBLEU's.
    yes : str
        The text for the parameter where the answer is yes.
    no : str
        The one where it is no.

    Returns
    -------
    Alias
    """
    return Alias((name,), lambda text: yes if parse_yes_no(text) else no, ("bool",))


def without_aliases(metric: str, fields: Iterable[dataclasses.Field[Any]], values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values by the parameters' own names.

    Parameters
    ----------
    metric : str
        Its name, for messages.
    fields : iterable of dataclasses.Field
        Its parameters.
    values : mapping of str to Any
        By own name or sacreBLEU's. An alias that is None is not given, as sacreBLEU has it.

    Returns
    -------
    dict of str to Any
        Values of aliases are text.

    Raises
    ------
    BadParameter
        Where a parameter is given twice.
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
    """The answer that a text is.

    Parameters
    ----------
    text : str
        "yes", "true", "no" or "false", in any case.

    Returns
    -------
    bool

    Raises
    ------
    ValueError
        For anything else.
    """
    if text.lower() not in YES_NO:
        raise ValueError("is yes or no")
    return YES_NO[text.lower()]


def show_yes_no(value: bool) -> str:
    """The inverse of `parse_yes_no`.

    Parameters
    ----------
    value : bool

    Returns
    -------
    str
    """
    return "yes" if value else "no"


def whole_number_to(largest: int) -> Callable[[str], int]:
    """A `parse` for numbers 0, 1, 2 and so on.

    Parameters
    ----------
    largest : int

    Returns
    -------
    callable
        From a text to an int; ValueError for anything but 0 to `largest`.
    """

    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit() and int(text) <= largest):
            raise ValueError(f"is a whole number from 0 to {largest}")
        return int(text)

    return parse


def registered_name(what: str) -> Callable[[str], str]:
    """A `parse` for the name of something that is registered as a resource: `NAME` or `NAME@HASH`.

    Parameters
    ----------
    what : str
        Such as "a model", for messages.

    Returns
    -------
    callable
        From a text to the same; ValueError for anything else.
    """

    def parse(text: str) -> str:
        if not re.fullmatch(r"\w[\w.-]{0,99}(@[0-9a-f]{12})?", text, re.ASCII):
            raise ValueError(f"is the name of {what}, NAME or NAME@HASH")
        return text

    return parse


def number_to(largest: int) -> Callable[[str], float]:
    """A `parse` for numbers that may have a fraction, from 0 on.

    Parameters
    ----------
    largest : int

    Returns
    -------
    callable
        From a text to a float; ValueError for anything but 0 to `largest`.
    """

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
    """The shortest text that parses back.

    Parameters
    ----------
    value : float

    Returns
    -------
    str
    """
    return str(int(value)) if float(value).is_integer() else repr(value)
