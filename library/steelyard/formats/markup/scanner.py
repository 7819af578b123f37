"""Cuts SGML and XML into tags and text: the hardened base of the readers for marked-up documents.

A scanner of our own and no XML library, for three reasons. The SGML of evaluation campaigns is not
XML (bare `&` and `<`, attributes without quotes, paragraphs that nobody closes), so no XML parser reads
it. An XML parser stops at the first error, we name them all, with their lines. And a scanner that knows
no declarations has nothing to attack: entities cannot be declared, so nothing expands; nothing is
fetched; there is no tree, so memory is the file and its segments; every byte is looked at a fixed number
of times.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from steelyard.errors import BadText
from steelyard.formats.markup.limits import DEFAULT_MARKUP_LIMITS, MarkupLimits
from steelyard.formats.plain import read_lines
from steelyard.text.findings import MOST_PROBLEMS, place, quoted
from steelyard.text.limits import OverLimit, TextLimits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.formats.input.contents import Source
    from steelyard.formats.plain import Utf8
    from steelyard.text.findings import Findings


class ForbiddenMarkup(BadText):
    """The file declares entities or other things that are never needed, and that attacks are made of."""


class Opening(NamedTuple):
    """`<doc id="a">`; names of tags and attributes are in lower case."""

    name: str
    attributes: dict[str, str]
    empty: bool
    """Written `<doc/>`: closed at once."""
    line: int


class Closing(NamedTuple):
    """`</doc>`."""

    name: str
    line: int


class Characters(NamedTuple):
    """Text between two tags, entities replaced."""

    text: Utf8
    line: int


Token: TypeAlias = Opening | Closing | Characters

_STANDARD_ENTITIES = {b"lt": b"<", b"gt": b">", b"amp": b"&", b"quot": b'"', b"apos": b"'"}
_ENTITY = re.compile(rb"&(?:#x([0-9A-Fa-f]{1,8});|#([0-9]{1,8});|([A-Za-z_][A-Za-z0-9._-]{0,63});)")
_ENTITY_OR_AMPERSAND = re.compile(_ENTITY.pattern + b"?")
# Possessive quantifiers throughout: a match that fails has not tried anything twice.
_NAME = rb"[A-Za-z_][A-Za-z0-9_.:-]*+"
_TAG_START = re.compile(rb"<(/?)(%s)" % _NAME)
_ATTRIBUTE = re.compile(
    rb"""\s++(%s)\s*+=\s*+(?:"([^"<]*+)"|'([^'<]*+)'|((?:[^\s"'<>=`/]|/(?!>))++))""" % _NAME,
)
_TAG_END = re.compile(rb"\s*+(/?)>")
_LESS_THAN = re.compile(rb"<")
_MAY_BE_MARKUP = re.compile(rb"<(?:/?[A-Za-z_]|[!?])")
"""In SGML, where `<` may also be text."""
_DECLARED_ENCODING = re.compile(rb"""\bencoding\s*+=\s*+["']([A-Za-z0-9._-]{1,40})["']""")
_XML_DECLARATION = re.compile(rb"\s*+<\?xml\s")
_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
_LONGEST_CHARACTER = len("&#x0010FFFF;")
_SAME_AS_UTF8 = (b"utf-8", b"utf8", b"us-ascii", b"ascii")


def read_markup(source: Source, *, name: str | None, limits: MarkupLimits = DEFAULT_MARKUP_LIMITS) -> tuple[str, Utf8]:
    """The content of a file of marked-up documents.

    Parameters
    ----------
    source : path, bytes or Contents
    name : str or None
        What messages call it; None: the path.
    limits : MarkupLimits

    Returns
    -------
    name : str
    data : bytes
        Valid UTF-8 with line feeds as line ends and without a byte-order mark.

    Raises
    ------
    BadText
        Unreadable, WrongFormat, NotUtf8, OverLimit, as for plain text.
    """
    # Lines mean nothing here: the bound on the file bounds them too.
    bounds = TextLimits(limits.file_bytes, segment_characters=limits.file_bytes, segments=limits.file_bytes + 1)
    text = read_lines(source, name=name, limits=bounds)
    return text.name, text.bytes


def is_xml(data: Utf8) -> bool:
    """Whether a file begins with an XML declaration; without one it is read by the milder rules of SGML.

    Parameters
    ----------
    data : bytes

    Returns
    -------
    bool
    """
    return _XML_DECLARATION.match(data) is not None


def foreign_encoding(head: Utf8) -> str:
    """The encoding that an XML declaration names, where it is not UTF-8.

    Parameters
    ----------
    head : bytes

    Returns
    -------
    str
        Else empty.
    """
    end = head.find(b"?>", 0, 1000)
    encoding = _DECLARED_ENCODING.search(head, 0, end) if head[:10].find(b"<?xml") >= 0 and end > 0 else None
    return encoding[1].decode() if encoding and encoding[1].lower() not in _SAME_AS_UTF8 else ""


class Scanner:
    """Yields the tags and texts of one file, in order, with their lines.

    What is wrong with a single tag goes to `findings`, and scanning goes on behind it.

    Parameters
    ----------
    data : bytes
    xml : bool
        Whether the rules of XML hold, not the milder ones of SGML.
    names : frozenset of str
        Of the elements that are known.
    findings : Findings
    limits : MarkupLimits

    Raises
    ------
    OverLimit, ForbiddenMarkup
        At once.
    """

    def __init__(self, data: Utf8, xml: bool, names: frozenset[str], findings: Findings, limits: MarkupLimits) -> None:
        self.xml = xml
        self.literal = False
        """Set while a segment is read: there, SGML has no tags but those of `names`, all else is text."""
        self._data = data
        self._names = names
        named = b"|".join(re.escape(name.encode()) for name in sorted(names))
        self._may_be_known = re.compile(rb"<(?:/?(?:%s)(?![A-Za-z0-9_.:-])|[!?])" % named, re.IGNORECASE)
        self._next_mark: dict[bytes, int] = {}
        """Where each was found that was last looked for: so that no tag is looked through to the end of the file."""
        self._findings = findings
        self._limits = limits
        self._kept: set[bytes] = set()
        self._line = 1
        self._counted = 0
        self._tags = 0

    def tokens(self) -> Iterator[Token]:
        """All tokens of the file.

        Yields
        ------
        Token
        """
        data = self._data
        if self.xml:
            self._check_characters()
        position = 0
        while position < len(data):
            # What is no markup is passed over at once, however many `<` are in it.
            found = self._markup.search(data, position)
            start = found.start() if found else len(data)
            if start > position:
                yield self._characters(position, start)
            if start == len(data):
                return
            self._count(1, start)
            tag = _TAG_START.match(data, start)
            if tag is not None and (self.xml or not self.literal or _lowered(tag[2]) in self._names):
                token, position = self._tag(tag)
                yield token
            elif (end := self._beside(start)) is not None:
                if data.startswith(b"<![CDATA[", start):
                    yield Characters(data[start + 9 : end - 3], self._line_at(start))
                position = end
            else:
                if self.xml:
                    self._problem(start, "a `<` that begins no tag. Write it as &lt;.")
                yield Characters(b"<", self._line_at(start))
                position = start + 1

    @property
    def _markup(self) -> re.Pattern[bytes]:
        """What the next piece of markup begins with; in XML every `<` is one, or wrong."""
        if self.xml:
            return _LESS_THAN
        return self._may_be_known if self.literal else _MAY_BE_MARKUP

    def _count(self, more: int, position: int) -> None:
        self._tags += more
        if self._tags > self._limits.tags:
            raise OverLimit(
                f"{self._place(position)}: more than {self._limits.tags:,} tags and attributes. Split the file, or "
                "raise the limit."
            )

    def _tag(self, tag: re.Match[bytes]) -> tuple[Token, int]:
        data, name, position, line = self._data, _lowered(tag[2]), tag.end(), self._line_at(tag.start())
        self._check_length(tag[2], "the name of a tag", tag.start())
        attributes: dict[str, str] = {}
        while (attribute := _ATTRIBUTE.match(data, position)) is not None:
            self._attribute(attribute, attributes, name)
            position = attribute.end()
        self._count(len(attributes), tag.start())
        end = _TAG_END.match(data, position)
        if end is None:
            self._findings.problem(f"the tag <{tag[1].decode()}{name}> is not well formed. Correct it.", line)
            # The next tag is found again, whichever comes first.
            closed, opened = self._next(b">", position), self._next(b"<", position)
            position = min(closed + 1, opened, len(data))
        else:
            position = end.end()
        if tag[1]:
            if attributes or (end is not None and end[1]):
                self._findings.problem(f"the closing tag </{name}> has more in it than its name. Correct it.", line)
            return Closing(name, line), position
        return Opening(name, attributes, end is not None and bool(end[1]), line), position

    def _next(self, mark: bytes, position: int) -> int:
        """Where the mark is from `position` on, or the end; positions never go back."""
        if self._next_mark.get(mark, -1) < position:
            found = self._data.find(mark, position)
            self._next_mark[mark] = len(self._data) if found < 0 else found
        return self._next_mark[mark]

    def _attribute(self, attribute: re.Match[bytes], into: dict[str, str], tag: str) -> None:
        key = _lowered(attribute[1])
        value = next(group for group in attribute.groups()[1:] if group is not None)
        self._check_length(attribute[1], "the name of an attribute", attribute.start())
        self._check_length(value, f"the attribute {key} of <{tag}>", attribute.start())
        if attribute[4] is not None and self.xml:
            self._problem(attribute.start(1), f"the attribute {key} of <{tag}> needs quotation marks in XML. Add them.")
        if key in into:
            self._problem(attribute.start(1), f"<{tag}> has the attribute {key} twice. Remove one.")
        if len(into) >= self._limits.attributes:
            raise OverLimit(
                f"{self._place(attribute.start(1))}: <{tag}> has more than {self._limits.attributes} attributes. "
                "Is this a file of evaluation documents?"
            )
        into[key] = b" ".join(self._without_entities(value, attribute.start(1)).split()).decode()

    def _beside(self, start: int) -> int | None:
        """Where a comment, declaration or the like ends; None when there is none at `start`."""
        data = self._data
        if data.startswith(b"<!--", start):
            end = self._end_of(b"-->", start, 4, "a comment")
            if self.xml and data.find(b"--", start + 4, end - 1) < end - 3:
                self._problem(start, "`--` in a comment, which XML does not allow. Remove it.")
            return end
        if self.xml and data.startswith(b"<![CDATA[", start):
            return self._end_of(b"]]>", start, 9, "a CDATA section")
        if data.startswith(b"<?", start):
            end = self._end_of(b"?>" if self.xml else b">", start, 2, "a processing instruction")
            encoding = _DECLARED_ENCODING.search(data, start, min(end, start + 1000))
            if data.startswith(b"<?xml", start) and encoding and encoding[1].lower() not in _SAME_AS_UTF8:
                self._problem(
                    start,
                    f"declares the encoding {encoding[1].decode()}, but is read as UTF-8. Convert it, and correct "
                    "the declaration.",
                )
            return end
        word = data[start : start + 10].upper()
        if word.startswith((b"<!ENTITY", b"<!ELEMENT", b"<!ATTLIST", b"<!NOTATION")):
            raise self._forbidden(start, "a declaration (<!ENTITY> or the like)")
        if word.startswith(b"<!DOCTYPE"):
            end = self._end_of(b">", start, 9, "a document type")
            if b"[" in data[start:end]:
                raise self._forbidden(start, "a document type with declarations of its own (`[...]`)")
            return end
        return None

    def _end_of(self, mark: bytes, start: int, skip: int, what: str) -> int:
        end = self._data.find(mark, start + skip)
        if end < 0:
            self._problem(start, f"{what} that never ends. Close it with {mark.decode()}.")
            return len(self._data)
        return end + len(mark)

    def _characters(self, start: int, end: int) -> Characters:
        line = self._line_at(start)
        if end - start > _LONGEST_CHARACTER * self._limits.segment_characters:
            raise OverLimit(
                f"{place(self._findings.name, line)}: a text of more than {self._limits.segment_characters:,} "
                "characters between two tags. Cut the segment, or raise the limit."
            )
        raw = self._data[start:end]
        if self.xml and b"]]>" in raw:
            self._problem(start, "`]]>` in a text. Write it as ]]&gt;.")
        return Characters(self._without_entities(raw, start), line)

    def _without_entities(self, raw: Utf8, start: int) -> Utf8:
        if b"&" not in raw:
            return raw

        def replacement(match: re.Match[bytes]) -> bytes:
            hexadecimal, decimal, entity = match.groups()
            if entity in _STANDARD_ENTITIES:
                return _STANDARD_ENTITIES[entity]
            if hexadecimal or decimal:
                code = int(hexadecimal, 16) if hexadecimal else int(decimal)
                if _is_character(code):
                    return chr(code).encode()
                self._problem(start + match.start(), f"{match[0].decode()} is no character. Remove it.")
            elif self.xml:
                known = ", ".join(f"&{name.decode()};" for name in _STANDARD_ENTITIES)
                what = f"the entity {quoted(match[0].decode())} is not known" if entity else "a bare `&`"
                self._problem(start + match.start(), f"{what}. Write & as &amp;; known are {known}.")
            else:
                self._keep(entity)
            return match[0]

        return (_ENTITY_OR_AMPERSAND if self.xml else _ENTITY).sub(replacement, raw)

    def _keep(self, entity: bytes) -> None:
        if entity not in self._kept and len(self._kept) < MOST_PROBLEMS:
            self._kept.add(entity)
            self._findings.notice(
                f"the entity '&{entity.decode()};' is none of the five standard ones and was kept as text."
            )

    def _check_characters(self) -> None:
        if match := _NOT_IN_XML.search(self._data):
            character = ascii(match[0].decode())[1:-1]
            line = self._data.count(b"\n", 0, match.start()) + 1
            self._findings.problem(f"the character {character}, which XML does not allow. Remove it.", line)

    def _check_length(self, value: bytes, what: str, position: int) -> None:
        if len(value) > self._limits.attribute_bytes:
            raise OverLimit(
                f"{self._place(position)}: {what} has more than {self._limits.attribute_bytes:,} bytes. "
                "Shorten it, or raise the limit."
            )

    def _forbidden(self, position: int, what: str) -> ForbiddenMarkup:
        return ForbiddenMarkup(
            f"{self._place(position)}: {what}, which is not accepted: only the five standard entities are. Remove it."
        )

    def _problem(self, position: int, sentence: str) -> None:
        self._findings.problem(sentence, self._line_at(position))

    def _place(self, position: int) -> str:
        return place(self._findings.name, self._line_at(position))

    def _line_at(self, position: int) -> int:
        # Positions hardly ever go back, and then not beyond the tag at hand.
        if position >= self._counted:
            self._line += self._data.count(b"\n", self._counted, position)
            self._counted = position
            return self._line
        return self._line - self._data.count(b"\n", position, self._counted)


def _lowered(name: bytes) -> str:
    return name.decode("ascii").lower()


def _is_character(code: int) -> bool:
    return code in (9, 10, 13) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF
