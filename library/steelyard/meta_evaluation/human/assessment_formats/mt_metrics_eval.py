"""mt-metrics-eval's human scores of segments, and its ratings: a line for each segment of each system."""

from __future__ import annotations

import json
import math
import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment, ErrorSpan
from steelyard.meta_evaluation.human.assessment_formats.found import ANY_SCALE, annotator_name, system_name
from steelyard.meta_evaluation.human.assessment_formats.penalties import penalty
from steelyard.meta_evaluation.human.assessment_formats.spans import MOST_SPANS, label
from steelyard.meta_evaluation.human.cells import LARGEST, OF_HUNDRED
from steelyard.meta_evaluation.human.table import BadTable
from steelyard.text.findings import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.meta_evaluation.human.assessment_formats.found import Found

NONE = "None"
ESA = "esa"
"""What the files of ESA's scores are called by."""
_NAMED = re.compile(r"(?P<pair>[^.]+)\.(?P<name>.+)\.(?P<level>sys|domain|doc|seg)\.(?P<kind>score|rating)")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?", re.ASCII)


def is_ratings(head: bytes) -> bool:
    """Whether a file has a system and its errors in each line.

    Parameters
    ----------
    head : bytes

    Returns
    -------
    bool
    """
    first, *others = head.split(b"\n")
    # The last line of a head may be cut.
    for line in (first, *filter(None, others[:-1])):
        cells = line.rstrip(b"\r").split(b"\t")
        if len(cells) not in (2, 3):
            return False
        # Scores have None, too, where nobody judged a segment.
        if cells[1] != NONE.encode():
            return cells[1].startswith(b'{"errors"')
    return True


def is_score_file(head: bytes) -> bool:
    """Whether a file has a system and a score in each line.

    Parameters
    ----------
    head : bytes

    Returns
    -------
    bool
    """
    words = head.partition(b"\n")[0].split()
    return (
        len(words) in (2, 3) and b"," not in head.partition(b"\n")[0] and _is_score(words[-1].decode(errors="replace"))
    )


def assessments_of_scores(found: Found) -> Iterator[Assessment]:
    """Scores of segments: line N of a system is segment N of the test set.

    Parameters
    ----------
    found : Found

    Yields
    ------
    Assessment

    Raises
    ------
    BadTable
        For other lines, and for scores of systems, domains or documents.
    """
    pair = _pair_of_segments(found)
    # Other scores, such as mqm and those that are standardised, have scales of their own.
    of_hundred = f".{ESA}.seg." in PurePath(found.name).name
    counts: dict[str, int] = {}
    for number, line in enumerate(found.text.lines(), 1):
        words = line.decode().split()
        if not words:
            continue
        where = found.at(number)
        if len(words) != 2 or not _is_score(words[1]):
            raise BadTable(
                f"{where}: must be a system and its score, or None, but has {len(words)} words. mt-metrics-eval cannot "
                "read names with blanks: write them without."
            )
        system = system_name(words[0], where)
        segment = counts[system] = counts.get(system, -1) + 1
        if words[1] != NONE:
            if abs(float(words[1])) > LARGEST:
                raise BadTable(f"{where}: {quoted(words[1])} is no score. Write a number, or None.")
            found.score(float(words[1]), where, OF_HUNDRED if of_hundred else ANY_SCALE)
            yield Assessment(pair, system, "", str(segment), "", "", found.wave, float(words[1]) + 0.0, 0.0, found.name)
    _require_as_many(found, counts)


def assessments_of_ratings(found: Found) -> Iterator[Assessment]:
    """Errors of segments, with their annotators.

    Parameters
    ----------
    found : Found

    Yields
    ------
    Assessment
        With minus the weights of its errors as its score.

    Raises
    ------
    BadTable
        For other lines.
    """
    if found.name.endswith(".seg.score"):
        # Its first lines, None alone, are those of ratings, too.
        yield from assessments_of_scores(found)
        return
    pair = _pair_of_segments(found)
    counts: dict[str, int] = {}
    for number, line in enumerate(found.text.lines(), 1):
        cells = line.decode().rstrip("\r").split("\t")
        if cells == [""]:
            continue
        where = found.at(number)
        if len(cells) not in (2, 3):
            raise BadTable(f"{where}: must be a system, its errors and perhaps a rater, a tab between them.")
        system = system_name(cells[0], where)
        segment = counts[system] = counts.get(system, -1) + 1
        if cells[1] == NONE:
            continue
        try:
            rating = json.loads(cells[1])
        except (ValueError, RecursionError) as error:
            raise BadTable(f"{where}: the errors are not JSON ({error}). Write None where there are none.") from error
        errors = rating.get("errors") if isinstance(rating, dict) else None
        spans = rated_errors(errors, where)
        yield Assessment(
            pair, system, "", str(segment), "", annotator_name(cells[2] if len(cells) == 3 else "", where), found.wave,
            rated_score(errors, spans, where), 0.0, found.name, spans, by_errors=True,
        )  # fmt: skip
    _require_as_many(found, counts)


def rated_errors(errors: object, where: str) -> tuple[ErrorSpan, ...]:
    """The errors of one rating: positions count code points, ends are exclusive.

    Parameters
    ----------
    errors : object
        Parsed from JSON.
    where : str

    Returns
    -------
    tuple of ErrorSpan

    Raises
    ------
    BadTable
        For anything but a list of errors.
    """
    if not isinstance(errors, list) or len(errors) > MOST_SPANS or not all(isinstance(each, dict) for each in errors):
        raise BadTable(f'{where}: "errors" must be a list of at most {MOST_SPANS:,} objects.')
    found = []
    for each in errors:
        start, end = each.get("start"), each.get("end")
        if not all(isinstance(at, int) and not isinstance(at, bool) for at in (start, end)) or not 0 <= start <= end:
            raise BadTable(
                f"{where}: an error reaches from {quoted(str(start))} to {quoted(str(end))}. Give two whole numbers "
                "from 0, the first not above the second."
            )
        # An omission has no width.
        missing = start == end
        found.append(
            ErrorSpan(
                0 if missing else start, 0 if missing else end, label(each.get("severity"), where).casefold(),
                label(each.get("category"), where), missing=missing, in_source=bool(each.get("is_source_error")),
            )
        )  # fmt: skip
    return tuple(found)


def rated_score(errors: Any, spans: tuple[ErrorSpan, ...], where: str) -> float:
    """Minus the weights that errors have in the file, or by their severities.

    Parameters
    ----------
    errors : list of dict
    spans : tuple of ErrorSpan
        The same.
    where : str

    Returns
    -------
    float
    """
    given = [each.get("score") for each in errors]
    if given and all(isinstance(each, int | float) and not isinstance(each, bool) for each in given):
        try:
            total = float(sum(given))
        except OverflowError:
            total = math.inf
        if not abs(total) <= LARGEST:
            raise BadTable(f"{where}: the scores of errors sum up to {total}. Write numbers.")
        return 0.0 - abs(total)
    return penalty(spans, where)


def _pair_of_segments(found: Found) -> str:
    match = _NAMED.fullmatch(PurePath(found.name).name.removesuffix(".gz"))
    if match is None:
        return ""
    if match["level"] != "seg":
        raise BadTable(
            f"{found.name}: holds no judgments of segments, which every rule for human rankings needs. Give the file "
            f"{match['pair']}.{match['name']}.seg.{match['kind']}."
        )
    return match["pair"]


def _require_as_many(found: Found, counts: dict[str, int]) -> None:
    """Raise BadTable where systems have different numbers of lines: line N would not be the same segment."""
    most = max(counts.values(), default=0)
    short = next((system for system, count in counts.items() if count < most), None)
    if short is not None:
        raise BadTable(
            f"{found.name}: {quoted(short)} has {counts[short] + 1:,} lines, others {most + 1:,}. Write a line for "
            "each segment, None where it was not judged."
        )


def _is_score(word: str) -> bool:
    return word == NONE or _NUMBER.fullmatch(word) is not None
