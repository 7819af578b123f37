"""The errors that Google's tables mark by `<v>` and `</v>` in translations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.assessment_formats.spans import marked_span
from steelyard.meta_evaluation.human.judgments import JudgedSpan
from steelyard.meta_evaluation.human.kinds import ANNOTATOR, ERRORS, SYSTEM, required
from steelyard.meta_evaluation.human.readers import chosen_rows
from steelyard.meta_evaluation.human.weights import is_no_error

if TYPE_CHECKING:
    from steelyard.meta_evaluation.human.cells import Cells, Places


def marked_errors(cells: Cells, places: Places, pair: str | None) -> list[JudgedSpan]:
    """The errors of a table; one that is marked nowhere is something that is missing.

    Parameters
    ----------
    cells : Cells
        Of a table whose rows were found to be right.
    places : Places
    pair : str or None

    Returns
    -------
    list of JudgedSpan
        Empty where the table has no column of translations.
    """
    table = cells.table
    at_target, at_source = table.columns.get("target"), table.columns.get("source")
    if at_target is None:
        return []
    at_system, at_annotator = required(table, ERRORS, *SYSTEM), required(table, ERRORS, *ANNOTATOR)
    at_category, at_severity = required(table, ERRORS, "category"), required(table, ERRORS, "severity")
    found = []
    for line, row in chosen_rows(cells, pair):
        segment, severity, category = places.segment(row, line), row[at_severity].strip(), row[at_category].strip()
        if segment is None or not severity or is_no_error(severity, category):
            continue
        target = marked_span(row[at_target])
        source = marked_span(row[at_source]) if target is None and at_source is not None else None
        _, start, end = target or source or ("", 0, 0)
        found.append(
            JudgedSpan(
                row[at_annotator], row[at_system], segment, start, end, severity.casefold(), category[:200],
                missing=start == end, in_source=source is not None,
            )
        )  # fmt: skip
    return found
