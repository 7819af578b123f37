"""Google's tables of MQM: a row for each error, and one that says so where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.meta_evaluation.human.assessment_formats.assessment import Assessment, ErrorSpan
from steelyard.meta_evaluation.human.assessment_formats.penalties import penalty
from steelyard.meta_evaluation.human.assessment_formats.spans import label, marked_span, unmarked
from steelyard.meta_evaluation.human.cells import DOCUMENT, NUMBERED, Cells
from steelyard.meta_evaluation.human.kinds import ANNOTATOR, ERRORS, SYSTEM, required
from steelyard.meta_evaluation.human.table import BadTable, folded_column, read_table
from steelyard.meta_evaluation.human.weights import is_no_error
from steelyard.text.findings import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.meta_evaluation.human.assessment_formats.found import Found

_Cell = tuple[str, str, str, str, str]
"""Pair, system, document, segment and annotator."""


def is_mqm(head: bytes) -> bool:
    """Whether a first line names the columns of errors.

    Parameters
    ----------
    head : bytes

    Returns
    -------
    bool
    """
    first = head.partition(b"\n")[0].decode(errors="replace")
    names = {folded_column(each) for each in first.split("\t" if "\t" in first else ",")}
    return {"system", "category", "severity"} <= names


def assessments_of_mqm(found: Found) -> Iterator[Assessment]:
    """The errors of each annotator in each segment, put together.

    Parameters
    ----------
    found : Found

    Yields
    ------
    Assessment
        With minus the weights of its errors as its score.

    Raises
    ------
    BadText
        With all that is wrong.
    """
    table = read_table(found.text.bytes, name=found.name)
    cells = Cells(table)
    at_system, at_annotator = required(table, ERRORS, *SYSTEM), required(table, ERRORS, *ANNOTATOR)
    at_category, at_severity = required(table, ERRORS, "category"), required(table, ERRORS, "severity")
    numbered = next((name for name in NUMBERED if name in table.columns), None)
    at_segment = required(table, ERRORS, *NUMBERED, "docsegid", "segindoc")
    # In tables of 2020 and later, doc is the document and doc_id the number of the segment in it.
    at_document = table.column("doc") if "doc" in table.columns else table.column(*DOCUMENT)
    at_source, at_target = table.columns.get("source"), table.columns.get("target")
    at_pair = table.column("pair", "lp", "langs")
    first = NUMBERED[numbered] if numbered else 1
    spans: dict[_Cell, list[ErrorSpan]] = {}
    texts: dict[_Cell, str] = {}
    lines: dict[_Cell, int] = {}
    for line, row in table.rows():
        system = cells.name(row[at_system], line, "a system")
        annotator = cells.name(row[at_annotator], line, "an annotator")
        number = cells.count(
            row[at_segment], line, table.title(*([numbered] if numbered else ["docsegid", "segindoc"]))
        )
        if system is None or annotator is None or number is None:
            continue
        document = "" if at_document is None else row[at_document]
        pair = "" if at_pair is None else row[at_pair]
        key = pair, system, document, str(number - first), annotator
        lines.setdefault(key, line)
        own = spans.setdefault(key, [])
        if at_target is not None:
            text = unmarked(row[at_target])
            if texts.setdefault(key, text) != text:
                cells.findings.problem(
                    f"{quoted(system)} has another translation here than in line {lines[key]}: {quoted(text[:60])}.",
                    line,
                )
        severity, category = row[at_severity].strip(), row[at_category].strip()
        if not severity or is_no_error(severity, category):
            continue
        own.append(_span(row, severity, category, (at_target, at_source), found.at(line)))
    for key, own in spans.items():
        pair, system, document, segment, annotator = key
        try:
            score = penalty(own, found.at(lines[key]))
        except BadTable as error:
            cells.findings.problem(str(error).partition(": ")[2], lines[key])
            continue
        yield Assessment(
            pair, system, document, segment, "", annotator, found.wave, score, 0.0, found.name, tuple(own), None,
            texts.get(key), True,
        )  # fmt: skip
    cells.findings.raise_if_any()


def _span(
    row: list[str], severity: str, category: str, columns: tuple[int | None, int | None], where: str
) -> ErrorSpan:
    """The error of a row: marked in the translation, in the source, or nowhere, which is an omission."""
    severity, category = label(severity.casefold(), where), label(category, where)
    for column, in_source in zip(columns, (False, True), strict=True):
        if column is not None and (marked := marked_span(row[column])) is not None and marked[1] < marked[2]:
            return ErrorSpan(marked[1], marked[2], severity, category, in_source=in_source)
    return ErrorSpan(0, 0, severity, category, missing=True)
