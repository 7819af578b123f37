"""Checks that the texts of one marked-up file have the same documents and segments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.markup.documents import MarkedFile, Role
from steelyard.text.findings import Findings, place, quoted
from steelyard.text.limits import OverLimit
from steelyard.text.wording import SHOWN, listed, number_of

if TYPE_CHECKING:
    from steelyard.formats.markup.documents import Document, MarkedText

MOST_PAIRS = 20_000_000
"""Texts times documents; complete files of the largest size allowed have fewer."""


def check_file(file: MarkedFile, findings: Findings) -> None:
    """Compare the texts of one file, once it is read, and give it its notices.

    Parameters
    ----------
    file : MarkedFile
    findings : Findings

    Raises
    ------
    BadMarkup
        With all problems, those that reading has found too.
    """
    file.notices = findings.all_notices()
    check_texts(file, findings)
    findings.raise_if_any()
    file.comparison = tuple(notice for notice in findings.all_notices() if notice not in file.notices)


def check_texts(file: MarkedFile, findings: Findings, *, test_suites: bool = False) -> None:
    """Compare the documents and segments of all texts with those of the standard text (`standard_text`).

    What is missing or too much is a problem; another order is only a notice, because ids decide.

    Parameters
    ----------
    file : MarkedFile
    findings : Findings
    test_suites : bool
        Whether documents of test suites must be there, too.

    Raises
    ------
    OverLimit
        For more texts and documents than can be compared.
    """
    standard = standard_text(file)
    if standard is None:
        return
    if len(file.texts) * len(standard.documents) > MOST_PAIRS:
        raise OverLimit(
            f"{file.name}: {number_of(len(file.texts), 'text')} and {number_of(len(standard.documents), 'document')} "
            "in the largest are more than can be compared. Split the files."
        )
    for text in file.texts.values():
        if text is standard:
            continue
        references_vary = file.missing_documents_allowed and text.role is Role.REFERENCE
        _compare_documents(text, standard, references_vary, test_suites, findings)
        for doc_id, document in text.documents.items():
            if doc_id in standard.documents:
                _compare_segments(text, document, standard, findings)


def standard_text(file: MarkedFile) -> MarkedText | None:
    """The text that the others are compared with: the source, or else the largest reference or system.

    Parameters
    ----------
    file : MarkedFile

    Returns
    -------
    MarkedText or None
        None without texts.
    """
    for role in (Role.SOURCE, Role.REFERENCE, Role.SYSTEM):
        if texts := file.of(role):
            return max(texts, key=lambda text: (len(text.documents), text.segments))
    return None


def _compare_documents(
    text: MarkedText, standard: MarkedText, references_vary: bool, test_suites: bool, findings: Findings
) -> None:
    absent = [document for doc_id, document in standard.documents.items() if doc_id not in text.documents]
    missing = [document.doc_id for document in absent if test_suites or not document.test_suite]
    extra = [document for doc_id, document in text.documents.items() if doc_id not in standard.documents]
    if missing:
        what = f"{text.called} lacks {number_of(len(missing), 'document')} of {standard.called}: {listed_ids(missing)}."
        if references_vary:
            findings.notice(f"{what} There the segments have fewer references.", name=text.file)
        else:
            findings.problem(f"{what} Add them.", name=text.file)
    if len(absent) > len(missing) and text.role is Role.SYSTEM:
        count = number_of(len(absent) - len(missing), "document")
        findings.notice(f"{text.called} lacks {count} of test suites.", name=text.file)
    if extra:
        first = extra[0]
        findings.problem(
            f"{text.called} has {number_of(len(extra), 'document')} that {standard.called} lacks: "
            f"{listed_ids([document.doc_id for document in extra])}. Remove them, or correct the ids.",
            first.line,
            first.file,
        )
    common = [doc_id for doc_id in standard.documents if doc_id in text.documents]
    order = [doc_id for doc_id in text.documents if doc_id in standard.documents]
    if common != order:
        moved = next(there for here, there in zip(common, order, strict=True) if here != there)
        findings.notice(
            f"{text.called} has the documents in another order than {standard.called}, from {quoted(moved)} on; "
            "matched by their ids.",
            text.documents[moved].line,
            text.documents[moved].file,
        )


def _compare_segments(text: MarkedText, document: Document, standard: MarkedText, findings: Findings) -> None:
    ours, theirs = document.segments, standard.documents[document.doc_id].segments
    if list(ours) == list(theirs):
        return
    whose = f"{text.called}, document {quoted(document.doc_id)}"
    missing = [segment_id for segment_id in theirs if segment_id not in ours]
    extra = [segment_id for segment_id in ours if segment_id not in theirs]
    if missing:
        there = place(standard.documents[document.doc_id].file, theirs[missing[0]].line)
        findings.problem(
            f"{whose}: {number_of(len(missing), 'segment')} of {standard.called} missing: "
            f"{listed_ids(missing)} (the first is in {there}). Add them; a segment "
            "without translation is an empty one.",
            document.line,
            document.file,
        )
    if extra:
        findings.problem(
            f"{whose}: {number_of(len(extra), 'segment')} that {standard.called} lacks: "
            f"{listed_ids(extra)}. Remove them, or correct the ids.",
            ours[extra[0]].line,
            document.file,
        )
    common = [segment_id for segment_id in theirs if segment_id in ours]
    order = [segment_id for segment_id in ours if segment_id in theirs]
    if common != order:
        moved = next(there for here, there in zip(common, order, strict=True) if here != there)
        findings.notice(
            f"{whose}: the segments are in another order than in {standard.called}, from {quoted(moved)} on; "
            "matched by their ids.",
            ours[moved].line,
            document.file,
        )


def listed_ids(ids: list[str]) -> str:
    """The first ids, quoted, and how many more there are; only those shown cost anything.

    Parameters
    ----------
    ids : list of str

    Returns
    -------
    str
    """
    return listed([quoted(one) for one in ids[:SHOWN]] + ids[SHOWN:])
