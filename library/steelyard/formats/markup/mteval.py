"""Reads NIST's mteval format: source, reference and test sets in SGML or XML.

The format is that of mteval-v13a and its document type `mteval-xml-v1.5` (Kos 2008, Appendix B): `srcset`,
`refset` or `tstset` > `doc` > [`hl` | `p` | `poster` | `quote`] > `seg`. In SGML each `doc` names its
system or reference (`sysid`), so one set may hold several; in XML there is a set for each (`sysid`, `refid`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.markup.comparison import check_file
from steelyard.formats.markup.documents import Document, MarkedFile, MarkedText, Role, Segment
from steelyard.formats.markup.elements import ROOT, Element, ElementReader, Grammar
from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.formats.markup.scanner import is_xml, read_markup
from steelyard.text.findings import Findings, quoted
from steelyard.text.languages import same_language

if TYPE_CHECKING:
    from steelyard.formats.input.contents import Source

_ROLES = {"srcset": Role.SOURCE, "refset": Role.REFERENCE, "tstset": Role.SYSTEM}
_BLOCKS = frozenset({"hl", "p", "poster", "quote"})
_SETS = frozenset(_ROLES)
GRAMMAR = Grammar(
    parents={
        "mteval": frozenset({ROOT}),
        **{name: frozenset({ROOT, "mteval"}) for name in _ROLES},
        "doc": _SETS,
        **{name: frozenset({"doc"}) for name in _BLOCKS},
        "seg": frozenset({"doc", *_BLOCKS}),
    },
    # mteval looks only at sets, documents and segments.
    end_may_be_missing=_BLOCKS | {"mteval"},
)


def read_mteval(source: Source, *, name: str | None = None, limits: MarkupLimits = DEFAULT_MARKUP_LIMITS) -> MarkedFile:
    """Read a file in mteval format, SGML or XML, with any number of sets.

    Texts are equal whatever the syntax: entities are replaced, white space is normalised.

    Parameters
    ----------
    source : path, bytes or Contents
    name : str, optional
        What messages call it; without it, the path.
    limits : MarkupLimits

    Returns
    -------
    MarkedFile

    Raises
    ------
    BadText
        BadMarkup with all that is wrong at once; OverLimit or ForbiddenMarkup for what no evaluation file holds;
        Unreadable, WrongFormat, NotUtf8 as for plain text.
    """
    called, data = read_markup(source, name=name, limits=limits)
    findings = Findings(called)
    xml = is_xml(data)
    reader = _MtevalReader(called, xml, findings)
    ElementReader(GRAMMAR, reader, findings, limits, xml).read(data)
    if not any(text.documents for text in reader.file.texts.values()) and not findings.problem_count:
        findings.problem("has no documents in a srcset, refset or tstset. Is it a file in mteval format?")
    check_file(reader.file, findings)
    return reader.file


class _MtevalReader:
    def __init__(self, name: str, xml: bool, findings: Findings) -> None:
        self.file = MarkedFile(name)
        self._xml = xml
        self._findings = findings
        self._set: Element | None = None
        self._document: tuple[MarkedText, Document] | None = None
        self._ids: dict[tuple[Role, str], str] = {}
        """What the file calls each text."""

    def opened(self, element: Element) -> None:
        if element.name in _ROLES:
            self._set = element
            self._begin_set(element)
        elif element.name == "doc":
            self._begin_document(element)

    def closed(self, element: Element) -> None:
        if element.name == "seg" and self._document is not None:
            _, document = self._document
            document.add(element.attributes.get("id", ""), Segment(element.text(), element.line), self._findings)
        elif element.name == "doc" and self._document is not None:
            text, document = self._document
            if not document.segments:
                self._findings.problem(
                    f"document {quoted(document.doc_id)} of {text.called} has no segments. Complete or remove it.",
                    document.line,
                )
            self._document = None

    def _begin_set(self, element: Element) -> None:
        file, line = self.file, element.line
        set_id = self._required(element, "setid")
        source_language = self._required(element, "srclang")
        target_language = "" if element.name == "srcset" else self._required(element, "trglang")
        if file.set_id and set_id and set_id != file.set_id:
            self._findings.problem(
                f"<{element.name}> has the setid {quoted(set_id)}, but before it was {quoted(file.set_id)}. "
                "A file holds texts of one set.",
                line,
            )
        for kind, value, before in (
            ("srclang", source_language, file.source_language),
            ("trglang", target_language, file.target_language),
        ):
            if before and value and not same_language(before, value):
                self._findings.problem(
                    f"<{element.name}> has the {kind} {quoted(value)}, but before it was {quoted(before)}. "
                    "All sets must have the same languages.",
                    line,
                )
        file.set_id = file.set_id or set_id
        file.source_language = file.source_language or source_language
        file.target_language = file.target_language or target_language

    def _begin_document(self, element: Element) -> None:
        self._document = None
        doc_id = self._required(element, "docid")
        role = _ROLES[self._set.name] if self._set is not None else Role.SOURCE
        name = "" if role is Role.SOURCE else self._name_of_text(element, role)
        if not doc_id or (role is not Role.SOURCE and not name):
            return
        text = self.file.text(role, name, self._findings, element.line)
        genre = element.attributes.get("genre", "")
        document = Document(doc_id, self.file.name, element.line, domain=genre)
        text.add(document, self._findings)
        self._document = (text, document)

    def _name_of_text(self, element: Element, role: Role) -> str:
        of_set = self._set.attributes if self._set is not None else {}
        of_document = element.attributes
        keys = ("refid", "sysid") if role is Role.REFERENCE else ("sysid",)
        # Where both name it, mteval believes the set in XML and the document in SGML.
        for attributes in (of_set, of_document) if self._xml else (of_document, of_set):
            for key in keys:
                if attributes.get(key):
                    return self._last_part(attributes[key], role, element.line)
        self._findings.problem(
            f"document {quoted(element.attributes.get('docid', ''))} does not say whose it is. Give <doc> a sysid, "
            f"or its set a {keys[0]}.",
            element.line,
        )
        return ""

    def _last_part(self, identifier: str, role: Role, line: int) -> str:
        """An identifier may be a path, whose last part is the name (Kos 2008, A.3, Example 2; A.4, Example 3)."""
        name = identifier.rpartition("/")[2] or identifier
        before = self._ids.setdefault((role, name), identifier)
        if before != identifier:
            self._findings.problem(
                f"{quoted(before)} and {quoted(identifier)} are both called {quoted(name)}. Rename one.", line
            )
        return name

    def _required(self, element: Element, key: str) -> str:
        value = element.attributes.get(key, "")
        if not value:
            self._findings.problem(f"<{element.name}> needs the attribute {key}. Add it.", element.line)
        return value
