"""Reads PML, the XML of TectoMT and Treex, as a stream: one bundle after the other, nothing is kept of those behind.

A list is written `<x><LM>..</LM>..</x>`, and with one member also without `LM`: then the element of the list is the
member itself. Both are read, and the members of a structure may stand in any order.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING
from xml.sax import SAXParseException

from steelyard.formats.input.contents import refuse_other_formats
from steelyard.formats.markup.scanner import ForbiddenMarkup, foreign_encoding
from steelyard.formats.treebanks.pml_elements import TECTOMT, TREEX, BundleHandler
from steelyard.text.findings import place, shown
from steelyard.text.limits import OverLimit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from steelyard.formats.input.contents import Contents
    from steelyard.formats.treebanks.pml_elements import Bundle
    from steelyard.text.findings import Findings
    from steelyard.text.limits import TextLimits

LONGEST_TAG = 1 << 20
"""Bytes of a tag or comment: the parser begins one again with every part of the file that does not end it."""


class PmlReader:
    """Reads one document; what it has found out about it is in `elements`.

    Parameters
    ----------
    contents : Contents
    findings : Findings
    limits : TextLimits
    """

    def __init__(self, contents: Contents, findings: Findings, limits: TextLimits) -> None:
        self.elements = BundleHandler(findings, limits)
        self._contents = contents
        self._findings = findings
        self._limits = limits

    def bundles(self) -> Iterator[Bundle]:
        """All bundles, in their order; what is well-formed, but not as it must be, goes to the findings.

        Yields
        ------
        Bundle

        Raises
        ------
        BadText
            BadMarkup at the first place that is not well-formed, ForbiddenMarkup for document types and entities,
            WrongFormat,
            OverLimit.
        """
        from defusedxml.common import DefusedXmlException

        refuse_other_formats(self._contents)
        encoding = foreign_encoding(self._contents.head)
        if encoding:
            self._findings.problem(
                f"declares the encoding {encoding}, but must be UTF-8. Convert it, and correct the declaration.", 1
            )
            self._findings.raise_if_any()
        elements = self.elements
        try:
            with closing(self._contents):
                yield from self._parsed()
        except SAXParseException as error:
            still = f"; <{shown(elements.names[-1])}> of line {elements.lines[-1]} is open" if elements.names else ""
            self._findings.problem(
                f"not well-formed XML ({error.getMessage()}{still}). Correct it.", error.getLineNumber()
            )
            self._findings.raise_if_any()
        except DefusedXmlException as error:
            raise ForbiddenMarkup(
                f"{place(self._findings.name, elements.line)}: a document type or a declaration, which is not "
                "accepted. Remove it."
            ) from error
        if elements.root not in (TECTOMT, TREEX):
            self._findings.problem(
                f"begins with <{shown(elements.root)}>; TectoMT documents begin with <{TECTOMT}>, those of Treex "
                f"with <{TREEX}>. Name the format of the file."
            )

    def _parsed(self) -> Iterator[Bundle]:
        from defusedxml.expatreader import DefusedExpatParser

        parser = DefusedExpatParser(forbid_dtd=True)
        parser.setContentHandler(self.elements)
        # Given parts, the parser does not do so itself.
        self.elements.setDocumentLocator(parser)
        before, stuck = (0, 0), 0
        for part in self._contents.parts(self._limits):
            parser.feed(part)
            here = (parser.getLineNumber(), parser.getColumnNumber())
            stuck = stuck + len(part) if here == before else 0
            before = here
            if stuck > LONGEST_TAG:
                raise OverLimit(
                    f"{place(self._findings.name, self.elements.line)}: a tag or comment of more than "
                    f"{LONGEST_TAG:,} bytes. Shorten it."
                )
            # The last bundle may not be complete.
            yield from self._complete(1)
        parser.close()
        yield from self._complete(0)

    def _complete(self, kept: int) -> Iterator[Bundle]:
        bundles = self.elements.bundles
        complete, self.elements.bundles = bundles[: len(bundles) - kept], bundles[len(bundles) - kept :]
        yield from complete
