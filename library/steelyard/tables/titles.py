"""What metrics are called where several stand side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Titled = TypeVar("Titled", bound=DataclassInstance)


def distinct_titles(titles: Sequence[str], specifications: Sequence[str]) -> list[str]:
    """The titles of metrics, those that several share followed by what only some of these have: `BLEU (tok=zh)`.

    A specification says what differs from the defaults, so a metric that has them all keeps its plain title.

    Parameters
    ----------
    titles : list of str
    specifications : list of str
        Of the same metrics.

    Returns
    -------
    list of str
    """
    shared = Counter(titles)
    parts = [specification.split(":") for specification in specifications]
    found = []
    for title, own in zip(titles, parts, strict=True):
        alike = [each for other, each in zip(titles, parts, strict=True) if other == title]
        special = [part for part in own if not all(part in each for each in alike)]
        found.append(f"{title} ({', '.join(special)})" if shared[title] > 1 and special else title)
    return found


def with_distinct_titles(shown: Sequence[Titled], specification: str = "specification") -> list[Titled]:
    """What is shown of all metrics of one list, distinguished by their specifications.

    Parameters
    ----------
    shown : list of dataclass instances
        Each with a `title`.
    specification : str
        What they call the specification.

    Returns
    -------
    list of dataclass instances
    """
    each_of: list[Any] = [*shown]
    titles = distinct_titles([each.title for each in each_of], [getattr(each, specification) for each in each_of])
    return [replace(each, title=title) for each, title in zip(each_of, titles, strict=True)]
