"""Error spans as files write them, and their positions in code points."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.assessment_formats.assessment import ErrorSpan
from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

MISSING = "missing"
LONGEST_LABEL = 200
MOST_SPANS = 1_000
"""In one segment by one annotator."""

_BLANKS = "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f"
_BLANKS += "\u205f\u3000\ufeff"
"""What JavaScript's trim() takes away."""
_MARK = re.compile(r"<v>(.*?)</v>", re.DOTALL)


class BadSpan(BadTable):
    """An error is marked where the translation has no text."""


def read_spans(found: object, where: str) -> tuple[ErrorSpan, ...]:
    """Spans as Appraise and Pearmut write them: `start_i` and `end_i` are the first and the last unit.

    Parameters
    ----------
    found : object
        A list of objects, parsed from JSON; None for none.
    where : str
        File and line, for messages.

    Returns
    -------
    tuple of ErrorSpan
        In the units of the file, ends exclusive.

    Raises
    ------
    BadTable
        For anything else, and where a span ends before it starts.
    """
    if found is None:
        return ()
    if not isinstance(found, list) or len(found) > MOST_SPANS:
        raise BadTable(f"{where}: error spans must be a list of at most {MOST_SPANS:,} objects.")
    return tuple(_span(each, where) for each in found)


def _span(found: object, where: str) -> ErrorSpan:
    if not isinstance(found, dict):
        raise BadTable(f"{where}: an error span must be an object with start_i, end_i and severity.")
    start, end = found.get("start_i"), found.get("end_i")
    severity, category = (
        label(found.get("severity"), where),
        label(found.get("category", found.get("error_type")), where),
    )
    if start == MISSING or end == MISSING:
        return ErrorSpan(0, 0, severity.casefold(), category, missing=True)
    if not (isinstance(start, int) and isinstance(end, int) and _position(start) and _position(end) and start <= end):
        raise BadTable(
            f"{where}: an error span reaches from {quoted(str(start))} to {quoted(str(end))}. Give two whole numbers "
            f"from 0, the first not above the second, or {MISSING} for both."
        )
    return ErrorSpan(start, end + 1, severity.casefold(), category)


def _position(found: int) -> bool:
    return not isinstance(found, bool) and 0 <= found < 1 << 31


def label(found: object, where: str) -> str:
    """A severity or a category: a text, or its path as a list.

    Parameters
    ----------
    found : object
        None for none.
    where : str

    Returns
    -------
    str
        `Main/Sub`.

    Raises
    ------
    BadTable
        For anything else.
    """
    given = found if isinstance(found, list) else [] if found is None else [found]
    parts = [each for each in given if isinstance(each, str)]
    if len(parts) < len(given):
        raise BadTable(f"{where}: the severity or category of an error is {quoted(str(found))}. Give a text.")
    name = "/".join(parts)
    if len(name) > LONGEST_LABEL or not (name.isprintable() or not name):
        raise BadTable(f"{where}: {quoted(name)} is no severity or category: give up to {LONGEST_LABEL} characters.")
    return name


def marked_span(text: str) -> tuple[str, int, int] | None:
    """A text without the `<v>` and `</v>` of Google's tables, and what stood between them.

    Parameters
    ----------
    text : str

    Returns
    -------
    tuple of str, int and int, or None
        Text, start and end; None where nothing is marked.
    """
    match = _MARK.search(text)
    if match is None:
        return None
    inner = match[1]
    # Blanks inside the tags are those around the word.
    lead = len(inner) - len(inner.lstrip(" "))
    start = match.start() + (lead if inner.strip(" ") else 0)
    end = match.start() + (len(inner.rstrip(" ")) or len(inner))
    return unmarked(text), start, end


def unmarked(text: str) -> str:
    """A text without `<v>` and `</v>`.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return text.replace("<v>", "").replace("</v>", "")


def in_code_points(
    spans: Sequence[ErrorSpan], text: str, *, trimmed: bool = True, behind_is_missing: bool = False
) -> tuple[ErrorSpan, ...]:
    """Spans that count UTF-16 units, as positions of code points.

    Parameters
    ----------
    spans : sequence of ErrorSpan
    text : str
        The translation.
    trimmed : bool
        Whether blanks around the text were taken away before units were counted.
    behind_is_missing : bool
        Whether a position at or behind the end says that something is missing, as Pearmut's special tokens do.

    Returns
    -------
    tuple of ErrorSpan

    Raises
    ------
    BadSpan
        Where one begins behind the text. One that ends behind it is cut.
    """
    before = len(text) - len(text.lstrip(_BLANKS)) if trimmed else 0
    seen = text.strip(_BLANKS) if trimmed else text
    # The code point of each unit.
    points = range(len(seen)) if seen.isascii() or max(seen, default="") <= "\uffff" else _points_of_units(seen)
    found = []
    for each in spans:
        if each.missing:
            found.append(each)
        elif each.start >= len(points):
            if not behind_is_missing:
                raise BadSpan(
                    f"an error is marked from position {each.start:,}, but the translation has {len(points):,} "
                    f"(UTF-16 units): {quoted(text[:60])}. Was another translation judged?"
                )
            found.append(each._replace(start=0, end=0, missing=True))
        else:
            last = points[min(each.end, len(points)) - 1]
            found.append(each._replace(start=points[each.start] + before, end=last + 1 + before))
    return tuple(found)


def _points_of_units(text: str) -> list[int]:
    return [point for point, character in enumerate(text) for _ in range(1 + (character > "\uffff"))]
