"""Checks that texts have the same documents and segments, and lines them up, one line per segment.

Segments are matched by the ids of document and segment, never by their position.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from steelyard.formats.campaign.description import SegmentDocument
from steelyard.formats.campaign.folder import CampaignFolder
from steelyard.formats.markup.comparison import check_texts, listed_ids, standard_text
from steelyard.formats.markup.documents import MarkedFile, Role
from steelyard.formats.plain import Text
from steelyard.text.findings import Findings, place, quoted
from steelyard.text.languages import language_code, same_language
from steelyard.text.names import fault_of_name
from steelyard.text.wording import number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.formats.markup.documents import Document, MarkedText


@dataclass(frozen=True, slots=True)
class AlignedTexts:
    """Plain texts of equally many segments, at least one: line i of each belongs to segment i."""

    name: str
    source: Text | None
    references: dict[str, Text]
    """By label, sorted."""
    systems: dict[str, Text]
    """By name, sorted."""
    documents: tuple[SegmentDocument, ...]
    """One (doc_id, domain, test_suite) per segment."""
    segment_ids: tuple[str, ...]
    """The id of each segment within its document."""
    source_language: str | None
    target_language: str | None
    variable_references: bool
    """True: an empty line in a reference means that the segment lacks this reference."""
    notices: tuple[str, ...]

    @property
    def segments(self) -> int:
        """Number of segments of every text."""
        return len(self.documents)

    def campaign(self, *, without_systems: bool = False) -> CampaignFolder:
        """The same as a campaign.

        Parameters
        ----------
        without_systems : bool
            Whether it may be a test set alone.

        Returns
        -------
        CampaignFolder

        Raises
        ------
        BadMarkup
            Where there are no references or, unless allowed, no systems.
        """
        findings = Findings(self.name)
        for role, texts in ((Role.REFERENCE, self.references), (Role.SYSTEM, self.systems)):
            if not texts and not (without_systems and role is Role.SYSTEM):
                findings.problem(f"no {role}s. Give the file that holds them too.")
        if fault := fault_of_name(self.name):
            findings.problem(f"the campaign cannot be called {quoted(self.name)}: {fault}. Give it another name.")
        findings.raise_if_any()
        return CampaignFolder(
            name=self.name,
            source=self.source,
            references=self.references,
            systems=self.systems,
            documents=self.documents,
            source_language=self.source_language,
            target_language=self.target_language,
            variable_references=self.variable_references,
            human=(),
            notices=self.notices,
            segment_ids=self.segment_ids,
        )


def align(files: Sequence[MarkedFile], *, name: str | None = None, test_suites: bool = False) -> AlignedTexts:
    """Put the texts of one or more files together: those of source, references and systems, say.

    Parameters
    ----------
    files : sequence of MarkedFile
    name : str, optional
        What the campaign is called; without it, the id of the set.
    test_suites : bool
        Whether documents of test suites count: they have rules of their own and as a rule no references.

    Returns
    -------
    AlignedTexts

    Raises
    ------
    BadMarkup
        With all that does not fit, naming files, lines, documents and segments.
    """
    findings = Findings(name or " + ".join(file.name for file in files) or "no files")
    whole = _together(files, findings)
    check_texts(whole, findings, test_suites=test_suites)
    findings.raise_if_any()

    standard = standard_text(whole)
    if standard is None:
        findings.problem("no texts at all. Give at least one file with documents.")
        findings.raise_if_any()
        raise AssertionError("a problem was found, so the line before has raised")
    documents = [document for document in standard.documents.values() if test_suites or not document.test_suite]
    if left_out := len(standard.documents) - len(documents):
        findings.notice(f"{number_of(left_out, 'document')} of test suites left out.")
    if not documents:
        findings.problem("no documents but those of test suites. Ask for them, or give the test set.")
    for language in (whole.source_language, whole.target_language):
        if language and language_code(language) is None:
            findings.notice(f"the language {quoted(language)} is not known and was left out. Give its code.")
    references = whole.of(Role.REFERENCE)
    variable = any(document.doc_id not in text.documents for text in references for document in documents)
    _check_references(references, documents, variable, findings)
    findings.raise_if_any()

    lines = {Role.SOURCE: whole.of(Role.SOURCE), Role.REFERENCE: references, Role.SYSTEM: whole.of(Role.SYSTEM)}
    texts = {
        role: {text.name: _plain(text, documents) for text in sorted(some, key=lambda text: text.name)}
        for role, some in lines.items()
    }
    each = [(document, segment_id) for document in documents for segment_id in document.segments]
    return AlignedTexts(
        name=name or whole.set_id or PurePath(files[0].name).stem,
        source=texts[Role.SOURCE].get(""),
        references=texts[Role.REFERENCE],
        systems=texts[Role.SYSTEM],
        documents=tuple(SegmentDocument(one.doc_id, one.domain, one.test_suite) for one, _ in each),
        segment_ids=tuple(segment_id for _, segment_id in each),
        source_language=language_code(whole.source_language),
        target_language=language_code(whole.target_language),
        variable_references=variable,
        notices=(*dict.fromkeys(notice for file in files for notice in file.notices), *findings.all_notices()),
    )


def _together(files: Sequence[MarkedFile], findings: Findings) -> MarkedFile:
    whole = MarkedFile(findings.name)
    first: dict[str, tuple[str, str]] = {}
    for file in files:
        for kind, value in (
            ("set id", file.set_id),
            ("source language", file.source_language),
            ("target language", file.target_language),
        ):
            if not value:
                continue
            before, where = first.setdefault(kind, (value, file.name))
            if before != value and not (kind != "set id" and same_language(before, value)):
                findings.problem(
                    f"has the {kind} {quoted(value)}, but {where} has {quoted(before)}. "
                    "Give files that belong together.",
                    name=file.name,
                )
        whole.missing_documents_allowed |= file.missing_documents_allowed
        for text in file.texts.values():
            into = whole.text(text.role, text.name, findings, next(iter(text.documents.values())).line)
            if not into.documents:
                into.file = file.name
            for document in text.documents.values():
                known = into.documents.get(document.doc_id)
                if known is None or text.role is Role.SYSTEM:
                    into.add(document, findings)
                else:
                    # A submission may bring the source of its test set along, and so may every other file.
                    _check_same(text, document, known, findings)
    whole.set_id, _ = first.get("set id", ("", ""))
    whole.source_language, _ = first.get("source language", ("", ""))
    whole.target_language, _ = first.get("target language", ("", ""))
    return whole


def _check_same(text: MarkedText, document: Document, before: Document, findings: Findings) -> None:
    ours = {key: segment.text for key, segment in document.segments.items()}
    theirs = {key: segment.text for key, segment in before.segments.items()}
    different = [key for key in {**theirs, **ours} if ours.get(key) != theirs.get(key)]
    if different:
        findings.problem(
            f"{text.called}, document {quoted(document.doc_id)}: not the same as in {place(before.file, before.line)}: "
            f"{number_of(len(different), 'segment')} ({listed_ids(different)}). Give files of one test set.",
            document.line,
            document.file,
        )


def _check_references(
    references: list[MarkedText], documents: list[Document], variable: bool, findings: Findings
) -> None:
    """Where references may be missing, each segment needs one; elsewhere empty ones are worth a notice."""
    if not variable:
        for text in references:
            empty = sum(not s.text for document in documents for s in text.documents[document.doc_id].segments.values())
            if empty:
                findings.notice(
                    f"{text.called} is empty in {number_of(empty, 'segment')}, scored as a translation without words.",
                    name=text.file,
                )
        return
    for document in documents:
        there = [text.documents[document.doc_id] for text in references if document.doc_id in text.documents]
        nowhere = [key for key in document.segments if not any(one.segments[key].text for one in there)]
        if nowhere:
            findings.problem(
                f"document {quoted(document.doc_id)}: without any reference: {number_of(len(nowhere), 'segment')} "
                f"({listed_ids(nowhere)}). Each segment needs at least one.",
                document.line,
                document.file,
            )


def _plain(text: MarkedText, documents: list[Document]) -> Text:
    lines = []
    for document in documents:
        mine = text.documents.get(document.doc_id)
        lines += [mine.segments[key].text if mine else b"" for key in document.segments]
    return Text(f"{text.file} ({text.called})", b"\n".join(lines), len(lines))
