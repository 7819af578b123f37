"""Tables of assessments: Appraise's exports, which have no header, and tables with one."""

from __future__ import annotations

import csv
import json
import math
from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.assessment_formats.assessment import CODE_POINTS, TRIMMED_UTF16, Assessment
from steelyard.meta_evaluation.human.assessment_formats.found import LATEST, PARTS, does_not_count, parts_of
from steelyard.meta_evaluation.human.assessment_formats.placing import LONGEST_NUMBER
from steelyard.meta_evaluation.human.assessment_formats.spans import read_spans
from steelyard.meta_evaluation.human.cells import DOCUMENT, NUMBERED, Cells
from steelyard.meta_evaluation.human.kinds import (
    ANNOTATOR,
    RATINGS,
    SCORE,
    SPANS,
    SYSTEM,
    is_of_hundred,
    required,
)
from steelyard.meta_evaluation.human.readers import JUDGED_ITEMS
from steelyard.meta_evaluation.human.table import BadTable, read_table
from steelyard.text.findings import quoted
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from steelyard.meta_evaluation.human.assessment_formats.assessment import ErrorSpan
    from steelyard.meta_evaluation.human.assessment_formats.found import Found

_APPRAISE = (
    *("username", "system", "itemId", "itemType", "srcLang", "trgLang", "score", "docId", "isDocScore", "spans"),
    *("timeStart", "timeEnd"),
)
"""The columns of Appraise's export of ESA, which does not name them; one with batches has two more."""
_WMT25 = (
    *("username", "itemId", "system", "third", "fourth", "srcLang", "trgLang", "score", "docId", "isDocScore", "spans"),
    *("timeStart", "timeEnd"),
)
"""Those of WMT25's other dump, which names the segment by its document."""
BESIDE = 10_000_000
"""Numbers of a segment in contrastive tasks of Appraise differ by it for each system, for they are unique there."""
PAUSE_SECONDS = 600.0
"""Who touches nothing for so long does something else."""
_TYPES = ("TGT", "BAD", "REF", "CHK", "SRC")


def assessments_of_table(found: Found) -> Iterator[Assessment]:
    """A row for each judgment.

    Parameters
    ----------
    found : Found

    Yields
    ------
    Assessment

    Raises
    ------
    BadText
        With all that is wrong.
    """
    table = read_table(found.text.bytes, name=found.name, columns=columns_of_appraise)
    cells = Cells(table)
    at_system, at_score = required(table, RATINGS, *SYSTEM), required(table, RATINGS, *SCORE)
    at_segment = required(table, RATINGS, *NUMBERED, "itemid", "lineid", "segmentid")
    numbered = next((NUMBERED[name] for name in NUMBERED if name in table.columns), 1)
    columns = table.columns
    at_document, at_annotator = table.column(*DOCUMENT), table.column(*ANNOTATOR)
    at_end, at_start, at_type = columns.get("timeend"), columns.get("timestart"), columns.get("itemtype")
    at_pair, at_domain = table.column("pair", "lp", "langs"), columns.get("domain")
    source, target = table.column("srclang", "sourcelanguage"), table.column("trglang", "targetlanguage")
    at_spans, at_seconds = table.column(*SPANS), table.column("seconds", "duration")
    at_whole = columns.get("isdocscore")
    exported, of_hundred = not table.begins, is_of_hundred(table)
    taken = _taken(table.rows(), at_annotator, at_start, at_end) if exported else {}
    cut_names: dict[str, None] = {}
    before: Sequence[str] = ()

    def cell(row: Sequence[str], column: int | None) -> str:
        return "" if column is None else row[column]

    for line, row in table.rows():
        system, document = row[at_system], cell(row, at_document)
        reason = _type_does_not_count(cell(row, at_type)) or does_not_count(system, document)
        if cell(row, at_whole).casefold() == "true":
            reason = reason or "whole documents"
        if exported and not system and before:
            # Appraise cuts names at "+" and writes a row for each part.
            cut_names[before[at_system]] = None
            reason = "systems without a name"
        if reason:
            found.left_out[reason] += 1
            continue
        before = row
        named = cells.name(system, line, "a system")
        annotator = cell(row, at_annotator)
        if annotator and cells.name(annotator, line, "an annotator") is None:
            continue
        score = cells.number(row[at_score], line, "score", of_hundred=of_hundred)
        end = cells.number(row[at_end], line, "end", LATEST) if at_end is not None else 0.0
        seconds = _seconds(cells, row, line, (at_start, at_end, at_seconds))
        seconds = taken.get(line, seconds)
        segment, pair, domain = row[at_segment], cell(row, at_pair), cell(row, at_domain)
        if source is not None and target is not None:
            pair = f"{row[source]}-{row[target]}"
        if PARTS in segment:
            pair, domain, document, segment = parts_of(segment, found.at(line))
        elif exported and document and segment.isdecimal() and len(segment) <= LONGEST_NUMBER:
            segment = str(int(segment) % BESIDE)
        elif not document and segment.isdecimal():
            segment = str(int(segment) - numbered)
        spans = _spans(cells, cell(row, at_spans), line)
        if named is not None and score is not None and end is not None:
            yield Assessment(
                pair, named, document, segment, domain, annotator, found.wave, score, end, found.name,
                spans, seconds, units=TRIMMED_UTF16 if spans else CODE_POINTS,
            )  # fmt: skip
    cells.findings.raise_if_any()
    if cut_names:
        names = listed([quoted(f"{each}+") for each in cut_names])
        found.notices.append(
            f"{found.name}: rows without a system follow others: Appraise cuts names at +, so these may be "
            f"cut: {names}."
        )


def columns_of_appraise(first: bytes) -> Sequence[str]:
    """The columns of an export, where a first line is a row of one.

    Parameters
    ----------
    first : bytes

    Returns
    -------
    sequence of str
        Empty for anything else.
    """
    try:
        cells = next(csv.reader([first.decode()]))
    except (csv.Error, StopIteration, UnicodeDecodeError):
        return ()
    more = len(cells) - len(_APPRAISE)
    if more in (0, 2) and cells[3] in _TYPES:
        return (*_APPRAISE, *("batchNo", "rowId")[:more])
    if len(cells) == len(_WMT25) and PARTS in cells[1] and cells[10].startswith("["):
        kinds = {place: "itemType" for place in (3, 4) if cells[place] in _TYPES}
        return tuple(kinds.get(place, name) for place, name in enumerate(_WMT25))
    return ()


def _type_does_not_count(item_type: str) -> str | None:
    if not item_type or item_type == JUDGED_ITEMS:
        return None
    return "damaged texts" if item_type == "BAD" else f"type {item_type}"


def _spans(cells: Cells, written: str, line: int) -> tuple[ErrorSpan, ...]:
    """Spans in JSON; what is wrong with them is a problem of the table."""
    if written in ("", "[]"):
        return ()
    try:
        return read_spans(json.loads(written), "")
    except BadTable as error:
        cells.findings.problem(str(error).removeprefix(": "), line)
    except (ValueError, RecursionError):
        cells.findings.problem(f"the error spans are {quoted(written)}. Give a list in JSON, [] for none.", line)
    return ()


def _taken(
    rows: Iterable[tuple[int, Sequence[str]]], annotator: int | None, start: int | None, end: int | None
) -> dict[int, float]:
    """By line the seconds since the same annotator's last judgment, as far as there was no pause.

    Appraise's clock starts when an item is first touched: of one that needs a single click it says that it took none.
    """
    if annotator is None or start is None or end is None:
        return {}
    of_annotator: dict[str, list[tuple[float, float, int]]] = {}
    for line, row in rows:
        try:
            times = float(row[end]), float(row[start])
        except ValueError:
            continue  # what is wrong with a row is said where it is read
        if all(0 <= each < LATEST for each in times):
            of_annotator.setdefault(row[annotator], []).append((*times, line))
    found = {}
    for judged in of_annotator.values():
        before = -math.inf
        for ended, began, line in sorted(judged):
            found[line] = ended - (before if began - before < PAUSE_SECONDS else min(began, ended))
            before = ended
    return found


def _seconds(cells: Cells, row: Sequence[str], line: int, columns: tuple[int | None, ...]) -> float | None:
    start, end, own = columns
    if own is not None:
        return cells.number(row[own], line, "duration", LATEST) if row[own] else None
    if start is None or end is None:
        return None
    began, ended = (cells.number(row[each], line, "time", LATEST) for each in (start, end))
    return max(ended - began, 0.0) if began is not None and ended is not None else None
