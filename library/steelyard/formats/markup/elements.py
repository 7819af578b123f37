"""Puts tags together to elements, by a small grammar, and finds those that are unclosed or out of place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from steelyard.formats.markup.scanner import Characters, Closing, ForbiddenMarkup, Opening, Scanner
from steelyard.text.findings import place, quoted, shown
from steelyard.text.limits import OverLimit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from steelyard.formats.markup.limits import MarkupLimits
    from steelyard.formats.plain import Utf8
    from steelyard.text.findings import Findings

ROOT = ""


@dataclass(frozen=True, slots=True)
class Grammar:
    """Which element may stand in which."""

    parents: Mapping[str, frozenset[str]]
    """The elements that each may stand in; `ROOT` for the outermost. Others are passed over."""

    text: str = "seg"
    """The element that holds the text."""

    end_may_be_missing: frozenset[str] = frozenset()
    """Elements of SGML that need no closing tag."""


@dataclass(slots=True)
class Element:
    """An element that is open, or was just closed."""

    name: str
    attributes: dict[str, str]
    line: int
    parts: list[Utf8] = field(default_factory=list)
    size: int = 0
    known: bool = True

    def text(self) -> Utf8:
        """What stands in the element, with one blank for each run of ASCII white space and none at its ends.

        No-break and other such spaces are kept: the tokenizers know what to do with them.

        Returns
        -------
        bytes
        """
        return b" ".join(b"".join(self.parts).split())


class Receiver(Protocol):
    """What a format does with its elements."""

    def opened(self, element: Element) -> None:
        """Take the beginning of an element; its attributes are known, its content is not.

        Parameters
        ----------
        element : Element
        """

    def closed(self, element: Element) -> None:
        """Take an element after it and all in it have been read.

        Parameters
        ----------
        element : Element
        """


class ElementReader:
    """Reads one file by a grammar. Every fault is said; then reading goes on as if it were mended.

    Parameters
    ----------
    grammar : Grammar
    receiver : Receiver
        Receives the elements.
    findings : Findings
    limits : MarkupLimits
    xml : bool
        Whether the rules of XML hold, not the milder ones of SGML.
    """

    def __init__(
        self, grammar: Grammar, receiver: Receiver, findings: Findings, limits: MarkupLimits, xml: bool
    ) -> None:
        self._grammar = grammar
        self._receiver = receiver
        self._findings = findings
        self._limits = limits
        self._open: list[Element] = []
        self._unknown: dict[str, int] = {}
        self._roots = 0
        self._segments = 0
        self._xml = xml
        self._scanner: Scanner | None = None

    def read(self, data: Utf8) -> None:
        """Read a whole file.

        Parameters
        ----------
        data : bytes

        Raises
        ------
        BadText
            What must stop at once: OverLimit, ForbiddenMarkup, too many problems.
        """
        self._scanner = scanner = Scanner(
            data, self._xml, frozenset(self._grammar.parents), self._findings, self._limits
        )
        for token in scanner.tokens():
            if isinstance(token, Opening):
                self._open_tag(token)
            elif isinstance(token, Closing):
                self._close_tag(token)
            else:
                self._characters(token)
        while self._open:
            self._close_unclosed("at the end of the file")
        for name, line in self._unknown.items():
            self._findings.notice(f"<{shown(name)}> is not known here and was passed over.", line)

    def _open_tag(self, tag: Opening) -> None:
        if self._open and not self._open[-1].known:
            self._push(Element(tag.name, {}, tag.line, known=False), tag.empty)
            return
        allowed = self._grammar.parents.get(tag.name)
        if allowed is None:
            self._unknown_tag(tag)
            return
        names = [ROOT, *(element.name for element in self._open)]
        fitting = next((depth for depth in range(len(names) - 1, -1, -1) if names[depth] in allowed), None)
        if fitting is None:
            self._findings.problem(
                f"<{tag.name}> must not stand in {f'<{names[-1]}>' if self._open else 'the file by itself'}. "
                f"It belongs in {' or '.join(f'<{name}>' for name in sorted(allowed) if name)}.",
                tag.line,
            )
        else:
            while len(self._open) > fitting:
                self._close_unclosed(f"before <{tag.name}> in line {tag.line}")
        if not self._open:
            self._roots += 1
            if self._xml and self._roots > 1:
                self._findings.problem(f"a second outermost element, <{tag.name}>. XML has one.", tag.line)
        if tag.name == self._grammar.text:
            self._segments += 1
            if self._segments > self._limits.segments:
                raise OverLimit(
                    f"{place(self._findings.name, tag.line)}: more than {self._limits.segments:,} segments. "
                    "Split the file, or raise the limit."
                )
        self._push(Element(tag.name, tag.attributes, tag.line), tag.empty)

    def _unknown_tag(self, tag: Opening) -> None:
        inside = self._open and self._open[-1].name == self._grammar.text
        if inside:
            self._findings.problem(f"the tag <{shown(tag.name)}> in a segment. Write < as &lt;.", tag.line)
        elif len(self._unknown) < self._limits.attributes:
            self._unknown.setdefault(tag.name, tag.line)
        if not self._xml:
            # In SGML nobody knows whether it will be closed.
            return
        self._push(Element(tag.name, {}, tag.line, known=False), tag.empty)

    def _push(self, element: Element, empty: bool) -> None:
        if len(self._open) >= self._limits.depth:
            raise ForbiddenMarkup(
                f"{place(self._findings.name, element.line)}: more than {self._limits.depth} elements inside one "
                "another, which no evaluation file has. Is one of them never closed?"
            )
        self._open.append(element)
        if element.name == self._grammar.text and self._scanner is not None:
            self._scanner.literal = True
        if element.known:
            self._receiver.opened(element)
        if empty:
            self._pop()

    def _pop(self) -> None:
        element = self._open.pop()
        limit = self._limits.segment_characters
        if element.size > limit and len(b"".join(element.parts).decode()) > limit:
            raise OverLimit(
                f"{place(self._findings.name, element.line)}: more than {limit:,} characters in one segment. "
                "Cut it, or raise the limit."
            )
        if element.name == self._grammar.text and self._scanner is not None:
            self._scanner.literal = False
        if element.known:
            self._receiver.closed(element)

    def _close_tag(self, tag: Closing) -> None:
        depths = [depth for depth, element in enumerate(self._open) if element.name == tag.name]
        if not depths:
            if not self._may_miss_end(tag.name) and (self._xml or tag.name in self._grammar.parents):
                self._findings.problem(f"</{shown(tag.name)}> closes nothing. Remove it.", tag.line)
            return
        while len(self._open) > depths[-1] + 1:
            self._close_unclosed(f"before </{tag.name}> in line {tag.line}")
        self._pop()

    def _close_unclosed(self, where: str) -> None:
        element = self._open[-1]
        if not self._may_miss_end(element.name):
            identity = next(
                (element.attributes[key] for key in ("id", "docid", "setid") if key in element.attributes), ""
            )
            which = f"<{shown(element.name)}>" + (f" {quoted(identity)}" if identity else "")
            self._findings.problem(f"{which} is not closed {where}. Add </{shown(element.name)}>.", element.line)
        self._pop()

    def _may_miss_end(self, name: str) -> bool:
        return not self._xml and name in self._grammar.end_may_be_missing

    def _characters(self, token: Characters) -> None:
        top = self._open[-1] if self._open else None
        if top is not None and not top.known:
            return
        if top is None or top.name != self._grammar.text:
            if text := token.text.strip():
                where = f"in <{top.name}>" if top else "outside of all elements"
                what = quoted(text[:200].decode(errors="replace"))
                self._stray(f"text {where}, not in a <{self._grammar.text}>: {what}", token.line)
            return
        top.size += len(token.text)
        top.parts.append(token.text)

    def _stray(self, what: str, line: int) -> None:
        if self._xml:
            self._findings.problem(f"{what}. Put it in a segment, or remove it.", line)
        else:
            self._findings.notice(f"{what}. It was left out, as mteval does.", line)
