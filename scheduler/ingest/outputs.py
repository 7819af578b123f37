"""Reads one system's output for a stored test set, in any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from models.corpus.test_sets import DocumentSegments, StoredTestSet
from scheduler.errors import BadIngest
from steelyard.formats.campaign.document_ids import parse_document_id
from steelyard.formats.detection import read_file
from steelyard.formats.input.contents import Source
from steelyard.formats.input.windows import NotUtf8
from steelyard.formats.markup.comparison import listed_ids
from steelyard.formats.markup.documents import Document, MarkedFile, MarkedText, Role
from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.formats.plain import Text
from steelyard.formats.rows import ONE_SEGMENT
from steelyard.text.findings import quoted
from steelyard.text.language_pairs import parse_pair
from steelyard.text.limits import STORING_LIMITS, TextLimits
from steelyard.text.wording import listed, number_of


def read_output(
    source: Source,
    *,
    system: str,
    part: str | None = None,
    input_format: str | None = None,
    limits: TextLimits = STORING_LIMITS,
    markup_limits: MarkupLimits = DEFAULT_MARKUP_LIMITS,
    language: str = "",
) -> Text | MarkedText:
    """Read a file: plain text, one segment per line, or one system's output from a file with ids.

    In a file with a single system, its name does not matter.

    Parameters
    ----------
    part : str | None
        The layer or zone of a TectoMT or Treex document.
    language : str
        The test set's language, used to guess a legacy encoding.

    Raises
    ------
    BadText
        If the file cannot be read.
    BadIngest
        If the file does not have the system.
    """
    try:
        read = read_file(
            source, format=input_format, part=part, role=Role.SYSTEM, label=system, limits=limits,
            markup_limits=markup_limits, paragraphs=True,
        )  # fmt: skip
    except NotUtf8 as error:
        raise error.in_language(language) from error
    return _of_system(read, system) if isinstance(read, MarkedFile) else read


def align_to_test_set(
    output: Text | MarkedText, test_set: StoredTestSet, documents: Mapping[str, DocumentSegments], pair: str = ""
) -> Text:
    """The output with one line for each segment of the test set, in its order.

    An output with ids is ordered by its documents, which are those of `document_segments`, and within a document by
    the ids of its segments. Where the test set knows no segment ids, segments must be as many and in order.

    Parameters
    ----------
    pair : str
        The language pair of the test set; documents whose ids name another one are passed over.

    Raises
    ------
    BadIngest
        If the data is inconsistent, listing the problems.
    """
    if isinstance(output, Text):
        return output
    if not documents:
        raise BadIngest(
            f"{output.file}: has ids of documents, but the test set {test_set.title} has none. Give its output as "
            "plain text, one segment per line."
        )
    output = _named_as_here(output, documents, pair)
    problems = _faults(output, documents, test_set)
    if problems:
        raise BadIngest("\n".join(problems))
    lines = [b""] * test_set.segments
    moved = []
    for name, known in documents.items():
        segments = output.documents[name].segments
        ids = list(segments) if known.ids is None else known.ids
        if ids != list(segments):
            moved.append(quoted(name))
        for position, segment_id in zip(known.positions, ids, strict=True):
            lines[position] = segments[segment_id].text
    notices: tuple[str, ...] = ()
    if moved:
        notices = (
            f"{output.file}: segments in another order than in the test set {test_set.title}, in "
            f"{number_of(len(moved), 'document')} ({listed(moved)}); matched by their ids.",
        )
    return Text(f"{output.file} ({output.called})", b"\n".join(lines), len(lines), notices=notices)


def _named_as_here(output: MarkedText, documents: Mapping[str, DocumentSegments], pair: str) -> MarkedText:
    """The documents of the pair by the test set's names: ids of WMT25 and WMT26 name pair, domain and document."""
    ids = {name: parse_document_id(name) for name in output.documents if name not in documents}
    if not any(ids.values()):
        return output
    wanted = parse_pair(pair)
    found: dict[str, Document] = {}
    for name, document in output.documents.items():
        cut = ids.get(name)
        its = parse_pair(cut.pair) if cut else None
        if its and wanted and not its.fits(wanted):
            continue
        names = [name] if cut is None else [f"{cut.domain}.{cut.name}", cut.name]
        # One name in two domains is two documents, of which the later one is called by its domain, too.
        called = next((each for each in names if each in documents and each not in found), name)
        known = documents.get(called)
        whole = known is not None and len(known.positions) == 1 and len(document.segments) > 1
        segments = document.segments
        if whole:
            # A document that the test set does not cut into paragraphs.
            first = next(iter(segments.values()))
            text = b" ".join(each.text for each in segments.values() if each.text)
            segments = {ONE_SEGMENT: first._replace(text=text)}
        found[called] = replace(document, doc_id=called, segments=segments)
    return replace(output, documents=found)


def _of_system(file: MarkedFile, system: str) -> MarkedText:
    systems = file.of(Role.SYSTEM)
    named = [each for each in systems if each.name == system] or (systems if len(systems) == 1 else [])
    if not named:
        there = f"It has {listed([quoted(each.name) for each in systems])}." if systems else "It has no system."
        raise BadIngest(f"{file.name}: has no output of the system {quoted(system)}. {there}")
    return named[0]


def _faults(output: MarkedText, documents: Mapping[str, DocumentSegments], test_set: StoredTestSet) -> list[str]:
    ours = output.documents
    problems = []
    if missing := [quoted(name) for name in documents if name not in ours]:
        problems.append(
            f"{output.file}: lacks {number_of(len(missing), 'document')} of the test set {test_set.title}: "
            f"{listed(missing)}. Add them."
        )
    # Documents of test suites may be missing if the test set was stored without them.
    if extra := [quoted(name) for name, each in ours.items() if name not in documents and not each.test_suite]:
        problems.append(
            f"{output.file}: has {number_of(len(extra), 'document')} that the test set {test_set.title} lacks: "
            f"{listed(extra)}. Remove them, or correct the ids."
        )
    for name, known in documents.items():
        if name in ours and known.ids is not None:
            problems += _faults_of_ids(ours[name], known.ids, test_set)
        elif name in ours:
            problems += _faults_of_document(ours[name], len(known.positions))
    return problems


def _faults_of_ids(document: Document, known: Sequence[str], test_set: StoredTestSet) -> list[str]:
    called = f"{document.file}, line {document.line}: document {quoted(document.doc_id)}"
    missing = [each for each in known if each not in document.segments]
    there = set(known)
    extra = [each for each in document.segments if each not in there]
    problems = []
    if missing:
        problems.append(
            f"{called} lacks {number_of(len(missing), 'segment')} of the test set {test_set.title}: "
            f"{listed_ids(missing)}. Add them; a segment without translation is an empty one."
        )
    if extra:
        problems.append(
            f"{called} has {number_of(len(extra), 'segment')} that the test set {test_set.title} lacks: "
            f"{listed_ids(extra)}. Remove them, or correct the ids."
        )
    return problems


def _faults_of_document(document: Document, segments: int) -> list[str]:
    called = f"{document.file}, line {document.line}: document {quoted(document.doc_id)}"
    if len(document.segments) != segments:
        return [
            f"{called} has {number_of(len(document.segments), 'segment')}, but {segments:,} in the test set. A segment "
            "without a translation is an empty line."
        ]
    ids = list(document.segments)
    if all(each.isascii() and each.isdigit() for each in ids):
        numbers = [int(each) for each in ids]
        if numbers != sorted(numbers):
            return [f"{called} has its segments out of order. Sort them by id."]
    return []
