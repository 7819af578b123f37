"""Reads the XML of WMT since 2021: whole test sets, and submissions to them.

`dataset` > [`collection`] > `doc` (id, origlang[, testsuite, domain]) > `src` (lang), `ref` (lang[, translator]),
`hyp` (lang, system) > `p` > `seg` (id). Not every translator need have translated every document. `language` is read
for `lang`, as WMT's own wrapper of outputs writes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.markup.comparison import check_file
from steelyard.formats.markup.documents import Document, MarkedFile, Role, Segment
from steelyard.formats.markup.elements import ROOT, Element, ElementReader, Grammar
from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.formats.markup.scanner import read_markup
from steelyard.text.findings import Findings, quoted
from steelyard.text.languages import same_language

if TYPE_CHECKING:
    from steelyard.formats.input.contents import Source

_ROLES = {"src": Role.SOURCE, "ref": Role.REFERENCE, "hyp": Role.SYSTEM}
_TEXTS = frozenset(_ROLES)
GRAMMAR = Grammar(
    parents={
        "dataset": frozenset({ROOT}),
        "collection": frozenset({"dataset"}),
        "doc": frozenset({"dataset", "collection"}),
        **{name: frozenset({"doc"}) for name in _ROLES},
        "p": _TEXTS,
        "seg": _TEXTS | {"p"},
    }
)
NO_TRANSLATOR = "ref"
"""Label of a reference whose translator the file does not name."""


def read_wmt_xml(
    source: Source, *, name: str | None = None, limits: MarkupLimits = DEFAULT_MARKUP_LIMITS
) -> MarkedFile:
    """Read a file in WMT's XML format.

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
    reader = _WmtReader(called, findings)
    ElementReader(GRAMMAR, reader, findings, limits, xml=True).read(data)
    if not reader.file.texts and not findings.problem_count:
        findings.problem("has no texts in <dataset>. Is it a file in WMT's XML format?")
    check_file(reader.file, findings)
    return reader.file


class _WmtReader:
    def __init__(self, name: str, findings: Findings) -> None:
        self.file = MarkedFile(name, missing_documents_allowed=True)
        self._findings = findings
        self._languages: dict[bool, tuple[str, int]] = {}
        self._lines: dict[str, int] = {}
        self._doc: Element | None = None
        self._document: Document | None = None
        self._texts_of_doc: set[tuple[Role, str]] = set()

    def opened(self, element: Element) -> None:
        if element.name == "dataset":
            self.file.set_id = element.attributes.get("id", "")
        elif element.name == "doc":
            self._begin_doc(element)
        elif element.name in _ROLES:
            self._begin_text(element, _ROLES[element.name])

    def closed(self, element: Element) -> None:
        if element.name == "seg" and self._document is not None:
            segment_id = element.attributes.get("id", "")
            self._document.add(segment_id, Segment(element.text(), element.line), self._findings)
        elif element.name in _ROLES:
            self._document = None
        elif element.name == "doc":
            if self._doc is not None and not self._texts_of_doc:
                self._findings.problem(
                    f"document {quoted(element.attributes.get('id', ''))} has no texts. Complete or remove it.",
                    element.line,
                )
            self._doc = None

    def _begin_doc(self, element: Element) -> None:
        self._doc, self._document = None, None
        self._texts_of_doc = set()
        doc_id = self._required(element, "id")
        self._required(element, "origlang")
        if not doc_id:
            return
        before = self._lines.setdefault(doc_id, element.line)
        if before != element.line:
            self._findings.problem(
                f"document {quoted(doc_id)} was already given in line {before}. Remove one of them.", element.line
            )
            return
        self._doc = element

    def _begin_text(self, element: Element, role: Role) -> None:
        self._document = None
        # WMT's own wrapper (wmtformat/wrap.py) writes language for lang.
        language = element.attributes.get("language", "") or self._required(element, "lang")
        if role is Role.SOURCE:
            name = ""
        elif role is Role.REFERENCE:
            name = element.attributes.get("translator", "") or NO_TRANSLATOR
        else:
            name = self._required(element, "system")
        if self._doc is None or (role is Role.SYSTEM and not name):
            return
        self._check_language(language, role, element.line)
        text = self.file.text(role, name, self._findings, element.line)
        attributes = self._doc.attributes
        document = Document(
            attributes["id"],
            self.file.name,
            element.line,
            domain=attributes.get("domain", ""),
            original_language=attributes.get("origlang", ""),
            test_suite=attributes.get("testsuite", ""),
        )
        self._texts_of_doc.add((role, name))
        text.add(document, self._findings)
        self._document = document

    def _check_language(self, language: str, role: Role, line: int) -> None:
        if not language:
            return
        is_source = role is Role.SOURCE
        before, first_line = self._languages.setdefault(is_source, (language, line))
        if not same_language(before, language):
            assert self._doc is not None
            self._findings.problem(
                f"document {quoted(self._doc.attributes['id'])}: the {role} is in {quoted(language)}, but line "
                f"{first_line} says {quoted(before)}. All {'sources' if is_source else 'translations'} must be in one "
                "language.",
                line,
            )
        elif is_source:
            self.file.source_language = before
        else:
            self.file.target_language = before

    def _required(self, element: Element, key: str) -> str:
        value = element.attributes.get(key, "")
        if not value:
            self._findings.problem(f"<{element.name}> needs the attribute {key}. Add it.", element.line)
        return value
