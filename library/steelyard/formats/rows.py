"""Rows with ids, as JSON Lines and tables have them: which fields are read, and the texts that come of them.

A row is one segment. Its document is named by the first of DOCUMENT_FIELDS that the first row has, its place there by
the first of SEGMENT_FIELDS; one of the two is needed. The text is in the first of the fields that its role allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.markup.comparison import check_file
from steelyard.formats.markup.documents import Document, MarkedFile, Role, Segment
from steelyard.text.findings import Findings, quoted
from steelyard.text.limits import OverLimit
from steelyard.text.names import printable
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from steelyard.formats.reader import Reading

DOCUMENT_FIELDS = ("doc_id", "document_id", "docid")
SEGMENT_FIELDS = ("segment_id", "seg_id", "segid", "id")
_SYSTEM = ("hypothesis", "hyp", "translation", "mt", "tgt_text", "hypothesis_segment", "output")
TEXT_FIELDS = {
    Role.SOURCE: ("source", "src", "src_text", "source_segment", "text"),
    # WMT publishes human translations as it publishes outputs.
    Role.REFERENCE: ("reference", "ref", "reference_segment", "text", *_SYSTEM),
    Role.SYSTEM: (*_SYSTEM, "text"),
}
"""By role, the usual field first."""
TELLING = {role: [field for field in fields if field != "text"] for role, fields in TEXT_FIELDS.items()}
"""The fields that say themselves which text they are."""
TELLING[Role.REFERENCE] = [field for field in TELLING[Role.REFERENCE] if field not in _SYSTEM]
PARAGRAPH = "\n\n"
"""Between the paragraphs of a document, as WMT25 writes them."""
ONE_DOCUMENT = "all"
"""What the document is called where rows name none."""
ONE_SEGMENT = "1"
"""The id of the segment where a row is a whole document."""


def are_rows(fields: Iterable[str]) -> bool:
    """Whether a first row has an id and a text.

    Parameters
    ----------
    fields : iterable of str
        Its fields.

    Returns
    -------
    bool
    """
    there = set(fields)
    texts = {field for of_role in TEXT_FIELDS.values() for field in of_role}
    return not there.isdisjoint((*DOCUMENT_FIELDS, *SEGMENT_FIELDS)) and not there.isdisjoint(texts)


class Rows:
    """The texts of one file, made of its rows.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    how : Reading
        What it is read for.
    """

    def __init__(self, name: str, how: Reading) -> None:
        self.findings = Findings(name)
        self._file = MarkedFile(name, as_given=True)
        self._how = how
        self._count = 0
        self._document = self._segment = ""
        self._texts: dict[Role, str] = {}

    def begin(self, fields: Sequence[str], line: int) -> None:
        """Choose by the fields of the first row what is read.

        Parameters
        ----------
        fields : sequence of str
        line : int
            For messages.

        Raises
        ------
        BadMarkup
            Where there is no id or no text.
        """
        self._document = next((field for field in DOCUMENT_FIELDS if field in fields), "")
        self._segment = next((field for field in SEGMENT_FIELDS if field in fields), "")
        role = self._how.role
        for each in Role if role is None else [role]:
            known = (TELLING if role is None else TEXT_FIELDS)[each]
            if field := next((field for field in known if field in fields), ""):
                self._texts[each] = field
        found = f"It has {listed([printable(field[:50]) for field in fields]) or 'no fields'}."
        if not (self._document or self._segment):
            self.findings.problem(
                f"has no ids. {found} Name the document {_either(DOCUMENT_FIELDS)}, the segment "
                f"{_either(SEGMENT_FIELDS)}.", line,
            )  # fmt: skip
        if not self._texts:
            what = f"text of a {role}" if role else "text that says whether it is source, reference or output"
            wanted = [field for each in Role if role in (None, each) for field in TEXT_FIELDS[each]]
            self.findings.problem(f"has no {what}. {found} Call it {_either(list(dict.fromkeys(wanted)))}.", line)
        self.findings.raise_if_any()

    def add(self, row: Mapping[str, object], line: int) -> None:
        """Add the next row; `begin` has been told the first one.

        Parameters
        ----------
        row : mapping of str to object
        line : int
            For messages.

        Raises
        ------
        OverLimit
            For too many segments, and for one that is too long.
        """
        limits = self._how.markup_limits
        self._count += len(self._texts)
        if self._count > limits.segments:
            raise OverLimit(
                f"{self.findings.name}, line {line}: more than {limits.segments:,} segments. Split the file, or raise "
                "the limit."
            )
        document = self._id(row, self._document, line) if self._document else ONE_DOCUMENT
        segment = self._id(row, self._segment, line) if self._segment else ONE_SEGMENT
        texts = {role: self._text(row, field, line) for role, field in self._texts.items()}
        if not document or not segment:
            return
        for role, text in texts.items():
            if text is None:
                continue
            parts = text.split(PARAGRAPH) if self._how.paragraphs and not self._segment else [text]
            self._put(role, document, segment, [Segment(b" ".join(part.encode().split()), line) for part in parts])

    def file(self) -> MarkedFile:
        """All rows as a file.

        Returns
        -------
        MarkedFile

        Raises
        ------
        BadMarkup
            With all that is wrong.
        """
        if not self._file.texts and not self.findings.problem_count:
            self.findings.problem("has no segments.")
        check_file(self._file, self.findings)
        return self._file

    def _put(self, role: Role, document: str, segment: str, parts: Sequence[Segment]) -> None:
        label, line = "" if role is Role.SOURCE else self._how.label, parts[0].line
        into = self._file.text(role, label, self.findings, line)
        if document not in into.documents:
            into.add(Document(document, self._file.name, line), self.findings)
        known = into.documents[document]
        if not self._segment and known.segments:
            self.findings.problem(
                f"document {quoted(document)} was already given in line {known.line}. Name each segment "
                f"{_either(SEGMENT_FIELDS)}.",
                line,
            )
        elif len(parts) == 1:
            known.add(segment, parts[0], self.findings)
        else:
            for number, part in enumerate(parts, 1):
                known.add(str(number), part, self.findings)

    def _id(self, row: Mapping[str, object], field: str, line: int) -> str:
        value = row.get(field)
        if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
            self.findings.problem(f"{field} is {_shown(value)}, but must be a text or a whole number.", line)
            return ""
        text = str(value)
        if len(text) > self._how.markup_limits.attribute_bytes or not is_whole(text):
            self.findings.problem(f"{field} is {quoted(text)}: it is too long, or holds half a character.", line)
            return ""
        return text

    def _text(self, row: Mapping[str, object], field: str, line: int) -> str | None:
        value = row.get(field)
        if not isinstance(value, str):
            self.findings.problem(
                f"{field} is {_shown(value)}, but must be a text; that of a segment without translation is empty.", line
            )
            return None
        limit = self._how.markup_limits.segment_characters
        if len(value) > limit:
            raise OverLimit(
                f"{self.findings.name}, line {line}: more than {limit:,} characters in one segment. Cut it, or raise "
                "the limit."
            )
        if not is_whole(value):
            self.findings.problem(f"{field} holds half a character (a lone surrogate). Take it out.", line)
            return None
        return value


def is_whole(text: str) -> bool:
    """Whether a text from JSON has no half characters (lone surrogates), which cannot be written.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool
    """
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _shown(value: object) -> str:
    return "missing" if value is None else quoted(str(value)) if isinstance(value, str) else f"a {type(value).__name__}"


def _either(words: Sequence[str]) -> str:
    return " or ".join(words)
