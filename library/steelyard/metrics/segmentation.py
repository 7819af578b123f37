"""Whether the words that metrics count are words of the target language."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from steelyard.text.languages import UNSEPARATED, main_code
from steelyard.text.wording import listed
from steelyard.tokenizers.registry import (
    AUTO,
    BY_CHARACTER,
    USUAL,
    resolve_tokenizer,
    signed,
    tokenizer_name,
    tokenizer_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeVar

    from steelyard.metrics.contract import MetricContract
    from steelyard.metrics.resources import Resources

    Some = TypeVar("Some", bound=MetricContract)


def with_tokenizer(metric: Some, language: str, resources: Resources) -> Some:
    """The metric with the tokenizer of the target language where it asks for that one, and its versions pinned.

    Parameters
    ----------
    metric : Metric
    language : str
        Code or name of the target language, "" where nobody said it.
    resources : Resources
        Where models are found.

    Returns
    -------
    Metric
        Itself where it has no tokenizer, or where that one is pinned.

    Raises
    ------
    MissingResource
        Where packages or the model of the tokenizer are not here.
    """
    asked = getattr(metric, "tok", None)
    if not isinstance(asked, str):
        return metric
    tokenizer = resolve_tokenizer(asked, language, resources)
    return metric if tokenizer == asked else _with(metric, tokenizer)


def without_tokenizer(metric: Some, language: str) -> Some:
    """The metric with its tokenizer left open again where it is what this language asks for: for another language.

    Parameters
    ----------
    metric : Metric
    language : str
        Code or name of the language that it was resolved for.

    Returns
    -------
    Metric
    """
    asked = getattr(metric, "tok", None)
    if asked is None or not metric.follows_language() or tokenizer_name(asked) != tokenizer_of(language):
        return metric
    return _with(metric, AUTO)


def unsegmented(metrics: Iterable[MetricContract], language: str) -> list[str]:
    """A sentence for each tokenizer that does not separate the words of the target language, with its metrics.

    Parameters
    ----------
    metrics : iterable of Metric
    language : str
        Code or name of the target language, "" for any.

    Returns
    -------
    list of str
    """
    found: dict[str, list[str]] = {}
    for metric in metrics:
        if not metric.separates_words(language):
            found.setdefault(signed(getattr(metric, "tok", "")), []).append(metric.specification)
    return [_notice(tokenizer, specifications, language) for tokenizer, specifications in found.items()]


def _with(metric: Some, tokenizer: str) -> Some:
    changed: dict[str, Any] = {"tok": tokenizer}
    return dataclasses.replace(metric, **changed)


def _notice(tokenizer: str, specifications: Sequence[str], language: str) -> str:
    code, own = main_code(language), tokenizer_of(language)
    what = "whole clauses as one word, so scores mean little" if code in UNSEPARATED else "particles attached to words"
    if own == USUAL:
        advice = f"There is no tokenizer for {code}: use tok={BY_CHARACTER}, or chrf, which needs no words."
    else:
        advice = f"Use tok={own}, the tokenizer of {code}."
    return f"{listed(specifications)}: in {code} text the tokenizer {tokenizer} leaves {what}. {advice}"
