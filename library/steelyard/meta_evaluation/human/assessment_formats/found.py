"""What readers of judgments find: assessments, and what does not count."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.cells import LARGEST, LONGEST_NAME, OF_HUNDRED
from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import quoted
from steelyard.text.wording import listed, number_of

if TYPE_CHECKING:
    from steelyard.formats.plain import Text

ANY_SCALE = -LARGEST, LARGEST
LATEST = 1e12
"""Seconds since 1970 that an end may be."""

PARTS = "_#_"
_FILLERS = {
    "tutorial": "tutorials",
    "#incomplete": "fillers",
    "#dup": "repeated items",
    "#bad": "damaged texts",
    "attention_check_": "attention checks",
}
"""What names of systems and documents say of items that do not count."""


@dataclass(slots=True)
class Found:
    """Counts what one file has beside judgments that count."""

    text: Text
    wave: int
    """Of the file."""
    left_out: Counter[str] = field(default_factory=Counter)
    notices: list[str] = field(default_factory=list)
    written: int = 0
    """Scores that are texts instead of numbers."""

    @property
    def name(self) -> str:
        """Of the file."""
        return self.text.name

    def at(self, line: int) -> str:
        """File and line, for messages.

        Parameters
        ----------
        line : int

        Returns
        -------
        str
        """
        return f"{self.text.name}, line {line}"

    def all_notices(self) -> list[str]:
        """What people should know of the file.

        Returns
        -------
        list of str
        """
        told = list(self.notices)
        if self.left_out:
            each = [f"{count:,} of {what}" for what, count in self.left_out.items()]
            told.append(f"{self.name}: judgments left out: {listed(each)}.")
        if self.written:
            told.append(f"{self.name}: {number_of(self.written, 'score')} written as texts, read as numbers.")
        return told

    def score(self, value: object, where: str, scale: tuple[float, float] = OF_HUNDRED) -> float | None:
        """A score, also one written as a text, which is counted.

        Parameters
        ----------
        value : object
            Parsed from JSON.
        where : str
        scale : tuple of float
            The lowest and the highest score.

        Returns
        -------
        float or None
            None for null and NaN.

        Raises
        ------
        BadTable
            For anything else.
        """
        if value is None:
            return None
        try:
            score = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.inf
        except (ValueError, OverflowError):
            score = math.inf
        if math.isnan(score):
            return None
        if abs(score) > LARGEST:
            raise BadTable(f"{where}: {quoted(str(value))} is no score. Write a number, or null.")
        low, high = scale
        if not low <= score <= high:
            allowed = f"from {low:g} to {high:g}" if low == 0 else f"at most {high:g}"
            raise BadTable(f"{where}: the score {quoted(str(value))} is not on the scale. Write a number {allowed}.")
        self.written += isinstance(value, str)
        return score + 0.0


def finite(value: object) -> float | None:
    """A number of JSON as a float.

    Parameters
    ----------
    value : object

    Returns
    -------
    float or None
        None for what is no number, is not finite, or is a whole number beyond all floats.
    """
    try:
        found = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def does_not_count(system: str, document: str) -> str | None:
    """Why an item does not count, by the names of its system and document.

    Parameters
    ----------
    system, document : str

    Returns
    -------
    str or None
        None where it counts.
    """
    return next((what for mark, what in _FILLERS.items() if mark in system or mark in document), None)


def system_name(found: object, where: str) -> str:
    """The name of a system.

    Parameters
    ----------
    found : object
    where : str

    Returns
    -------
    str

    Raises
    ------
    BadTable
        For what cannot be one.
    """
    if isinstance(found, str) and 0 < len(found) <= LONGEST_NAME and found.isprintable():
        return found
    raise BadTable(
        f"{where}: {quoted(str(found))} cannot be the name of a system. Give 1 to {LONGEST_NAME} printable characters."
    )


def annotator_name(found: object, where: str) -> str:
    """The name of an annotator; empty where the file does not say.

    Parameters
    ----------
    found : object
    where : str

    Returns
    -------
    str

    Raises
    ------
    BadTable
        For what cannot be one.
    """
    if found is None or found == "":
        return ""
    if isinstance(found, str) and len(found) <= LONGEST_NAME and found.isprintable():
        return found
    raise BadTable(f"{where}: {quoted(str(found))} cannot be the name of an annotator.")


def parts_of(identifier: str, where: str) -> tuple[str, str, str, str]:
    """Pair, domain, document and segment of `en-cs_#_news_#_NAME_#_0`.

    Parameters
    ----------
    identifier : str
    where : str

    Returns
    -------
    tuple of str

    Raises
    ------
    BadTable
        For other numbers of parts.
    """
    parts = identifier.split(PARTS)
    if len(parts) != 4:
        raise BadTable(
            f"{where}: {quoted(identifier)} is no id of a segment. It must be PAIR_#_DOMAIN_#_DOCUMENT_#_SEGMENT."
        )
    return parts[0], parts[1], parts[2], parts[3]
