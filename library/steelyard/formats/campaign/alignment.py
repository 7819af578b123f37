"""Checks that texts have the same documents and segments, and lines them up, one line per segment.

Segments are matched by the ids of document and segment, never by their position.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from steelyard.formats.campaign.description import SegmentDocument
from steelyard.formats.campaign.folder import CampaignFolder
from steelyard.formats.markup.documents import MarkedFile, Role
from steelyard.formats.plain import Text
from steelyard.text.findings import Findings, place, quoted
from steelyard.text.languages import language_code, same_language
from steelyard.text.limits import OverLimit
from steelyard.text.names import fault_of_name
from steelyard.text.wording import SHOWN, listed, number_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.formats.markup.documents import Document, MarkedText

MOST_PAIRS = 20_000_000
"""Texts times documents; complete files of the largest size allowed have fewer."""


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
        """The same as a campaign. Raises BadMarkup where there are no references or, unless allowed, no systems."""
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
        )


def align(files: Sequence[MarkedFile], *, name: str | None = None, test_suites: bool = False) -> AlignedTexts:
    """Put the texts of one or more files together: those of source, references and systems, say.

    `name` is what the campaign is called; without it, the id of the set. Documents of test suites are left
    out unless `test_suites`: they have rules of their own and as a rule no references.
    Raises BadMarkup with all that does not fit, naming files, lines, documents and segments.
    """
    findings = Findings(name or " + ".join(file.name for file in files) or "no files")
    whole = _together(files, findings)
    check_texts(whole, findings, test_suites=test_suites)
    findings.raise_if_any()

    standard = _standard(whole)
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


def check_file(file: MarkedFile, findings: Findings) -> None:
    """Compare the texts of one file, once it is read, and give it its notices.

    Raises BadMarkup with all problems, those that reading has found too.
    """
    file.notices = findings.all_notices()
    check_texts(file, findings)
    findings.raise_if_any()
    file.comparison = tuple(notice for notice in findings.all_notices() if notice not in file.notices)


def check_texts(file: MarkedFile, findings: Findings, *, test_suites: bool = False) -> None:
    """Compare the documents and segments of all texts with those of the source.

    Without a source, with those of the largest reference, or else of the largest system. What is missing or
    too much is a problem; another order is only a notice, because ids decide. Documents of test suites may be
    missing unless `test_suites`.
    """
    standard = _standard(file)
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


def _standard(file: MarkedFile) -> MarkedText | None:
    for role in (Role.SOURCE, Role.REFERENCE, Role.SYSTEM):
        if texts := file.of(role):
            return max(texts, key=lambda text: (len(text.documents), text.segments))
    return None


def _compare_documents(
    text: MarkedText, standard: MarkedText, references_vary: bool, test_suites: bool, findings: Findings
) -> None:
    lacking = [document for doc_id, document in standard.documents.items() if doc_id not in text.documents]
    missing = [document.doc_id for document in lacking if test_suites or not document.test_suite]
    extra = [document for doc_id, document in text.documents.items() if doc_id not in standard.documents]
    if missing:
        what = f"{text.called} lacks {number_of(len(missing), 'document')} of {standard.called}: {_ids(missing)}."
        if references_vary:
            findings.notice(f"{what} There the segments have fewer references.", name=text.file)
        else:
            findings.problem(f"{what} Add them.", name=text.file)
    if len(lacking) > len(missing) and text.role is Role.SYSTEM:
        count = number_of(len(lacking) - len(missing), "document")
        findings.notice(f"{text.called} lacks {count} of test suites.", name=text.file)
    if extra:
        first = extra[0]
        findings.problem(
            f"{text.called} has {number_of(len(extra), 'document')} that {standard.called} lacks: "
            f"{_ids([document.doc_id for document in extra])}. Remove them, or correct the ids.",
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
            f"{_ids(missing)} (the first is in {there}). Add them; a segment "
            "without translation is an empty one.",
            document.line,
            document.file,
        )
    if extra:
        findings.problem(
            f"{whose}: {number_of(len(extra), 'segment')} that {standard.called} lacks: "
            f"{_ids(extra)}. Remove them, or correct the ids.",
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
            f"{number_of(len(different), 'segment')} ({_ids(different)}). Give files of one test set.",
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
                f"({_ids(nowhere)}). Each segment needs at least one.",
                document.line,
                document.file,
            )


def _plain(text: MarkedText, documents: list[Document]) -> Text:
    lines = []
    for document in documents:
        mine = text.documents.get(document.doc_id)
        lines += [mine.segments[key].text if mine else b"" for key in document.segments]
    return Text(f"{text.file} ({text.called})", b"\n".join(lines), len(lines))


def _ids(ids: list[str]) -> str:
    """The first ids, quoted, and how many more there are; only those shown cost anything."""
    return listed([quoted(one) for one in ids[:SHOWN]] + ids[SHOWN:])
