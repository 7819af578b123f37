"""What the readers of marked-up files return: texts cut into documents, and documents into segments with ids."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from steelyard.text.findings import quoted
from steelyard.text.limits import OverLimit
from steelyard.text.names import fault_of_name, folded

if TYPE_CHECKING:
    from steelyard.formats.plain import Utf8
    from steelyard.text.findings import Findings


MOST_TEXTS = 1000


class Role(StrEnum):
    """What a text is in an evaluation."""

    SOURCE = "source"
    REFERENCE = "reference"
    SYSTEM = "system"


class Segment(NamedTuple):
    """One segment of one text."""

    text: Utf8
    r"""Valid UTF-8 without `\n`, white space normalised."""
    line: int
    """Where it begins in its file, counted from 1."""


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


@dataclass(slots=True)
class Document:
    """One document of one text."""

    doc_id: str
    file: str
    line: int
    domain: str = ""
    """WMT's domain or mteval's genre; empty where the file has none."""
    original_language: str = ""
    test_suite: str = ""
    """Name of the test suite that it belongs to; empty for the test set itself."""
    segments: dict[str, Segment] = field(default_factory=dict)
    """By id, in the order of the file."""

    def add(self, segment_id: str, segment: Segment, findings: Findings) -> None:
        """Put a segment at the end; one whose id is missing or was there before is a problem.

        Parameters
        ----------
        segment_id : str
        segment : Segment
        findings : Findings
        """
        if not segment_id:
            findings.problem(f"a segment of document {quoted(self.doc_id)} has no id. Give it one.", segment.line)
        elif segment_id in self.segments:
            findings.problem(
                f"document {quoted(self.doc_id)}, segment {quoted(segment_id)}: the id was already given in line "
                f"{self.segments[segment_id].line}. Give each segment an id of its own.",
                segment.line,
            )
        else:
            self.segments[segment_id] = segment


@dataclass(slots=True)
class MarkedText:
    """The source, one reference or one system's output, cut into documents."""

    role: Role
    name: str
    """Label of the reference or name of the system; empty for the source."""
    file: str
    documents: dict[str, Document] = field(default_factory=dict)
    """By id, in the order of the file."""

    def add(self, document: Document, findings: Findings) -> None:
        """Put a document at the end; one whose id was there before is a problem, and one that would part lines.

        Parameters
        ----------
        document : Document
        findings : Findings
        """
        if _CONTROL.search(f"{document.doc_id}{document.domain}{document.test_suite}"):
            findings.problem(
                f"document {quoted(document.doc_id)}: its id, genre, domain or test suite holds a tab, a line end or "
                "another control character. Take it out.",
                document.line,
                document.file,
            )
        before = self.documents.get(document.doc_id)
        if before is None:
            self.documents[document.doc_id] = document
            return
        findings.problem(
            f"{self.called}: document {quoted(document.doc_id)} was already given in "
            f"{f'{before.file}, ' if before.file != document.file else ''}line {before.line}. Remove one of them.",
            document.line,
            document.file,
        )

    @property
    def called(self) -> str:
        """As messages call it: `the source`, `system 'Online-A'`."""
        return "the source" if self.role is Role.SOURCE else f"{self.role} {quoted(self.name)}"

    @property
    def segments(self) -> int:
        """Number of segments."""
        return sum(len(document.segments) for document in self.documents.values())


@dataclass(slots=True)
class MarkedFile:
    """All texts of one file, or of several that were put together."""

    name: str
    set_id: str = ""
    source_language: str = ""
    """As the file names it: `English` or `en`; empty where it does not."""
    target_language: str = ""
    texts: dict[tuple[Role, str], MarkedText] = field(default_factory=dict)
    """By role and name, in the order of the file."""
    as_given: bool = False
    """The role and the name of its texts are what the reader was told: the file does not say them."""
    missing_documents_allowed: bool = False
    """A reference need not have every document, as in WMT XML; there the document has fewer references."""
    notices: tuple[str, ...] = ()
    """What was odd in the file, each a sentence."""
    comparison: tuple[str, ...] = ()
    """Notices on how its texts differ in order and completeness; lining up several files says it again."""

    _folded: dict[tuple[Role, str], str] = field(default_factory=dict)

    def text(self, role: Role, name: str, findings: Findings, line: int) -> MarkedText:
        """The text of a role and name, made when there is none yet; an unusable name is a problem.

        Parameters
        ----------
        role : Role
        name : str
        findings : Findings
        line : int
            For messages.

        Returns
        -------
        MarkedText

        Raises
        ------
        OverLimit
            For more texts than any campaign has.
        """
        found = self.texts.get((role, name))
        if found is None:
            if len(self.texts) >= MOST_TEXTS:
                raise OverLimit(f"{findings.name}, line {line}: more than {MOST_TEXTS:,} texts. Split the file.")
            if role is not Role.SOURCE and (fault := fault_of_name(name)):
                findings.problem(f"{quoted(name)} cannot be the name of a {role}: {fault}. Rename it.", line)
            twin = self._folded.setdefault((role, folded(name)), name)
            if twin != name:
                findings.problem(f"{role} {quoted(name)} has too similar a name to {quoted(twin)}. Rename one.", line)
            found = self.texts[role, name] = MarkedText(role, name, self.name)
        return found

    def of(self, role: Role) -> list[MarkedText]:
        """All texts of one role, in the order of the file.

        Parameters
        ----------
        role : Role

        Returns
        -------
        list of MarkedText
        """
        return [text for text in self.texts.values() if text.role is role]
