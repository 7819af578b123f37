"""What a TectoMT or Treex document must not exceed, counted while it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.markup.documents import MOST_TEXTS
from steelyard.formats.markup.scanner import ForbiddenMarkup
from steelyard.text.findings import place, shown
from steelyard.text.limits import OverLimit

if TYPE_CHECKING:
    from xml.sax.xmlreader import AttributesImpl

    from steelyard.text.limits import TextLimits


class Bounds:
    """Refuses documents that are too large or too deep, naming file and line.

    Its methods raise OverLimit, and ForbiddenMarkup for depth.

    Parameters
    ----------
    name : str
        Of the file.
    limits : TextLimits
    """

    def __init__(self, name: str, limits: TextLimits) -> None:
        self._name = name
        self._limits = limits
        self._elements = self._bundles = self._nodes = 0

    def element(self, name: str, attributes: AttributesImpl[str], depth: int, line: int) -> None:
        """Count an element.

        Parameters
        ----------
        name : str
        attributes : AttributesImpl
        depth : int
            In how many others it is.
        line : int
        """
        limits = self._limits
        self._elements += 1
        if self._elements > limits.elements:
            self._refuse(line, f"more than {limits.elements:,} elements. Split the file, or raise the limit.")
        if depth >= limits.depth:
            raise ForbiddenMarkup(
                f"{place(self._name, line)}: more than {limits.depth:,} elements inside one another, which no sentence "
                "needs. Is one of them never closed? Else raise the limit."
            )
        if len(attributes) > limits.attributes:
            self._refuse(line, f"<{shown(name)}> has more than {limits.attributes} attributes. Is this PML?")
        for text in (name, *attributes.values()):
            if len(text) > limits.field_characters:
                self._refuse(
                    line,
                    f"<{shown(name)}> has a name or an attribute of more than {limits.field_characters:,} characters. "
                    "Shorten it, or raise the limit.",
                )

    def bundle(self, line: int) -> None:
        """Count a bundle.

        Parameters
        ----------
        line : int
        """
        self._nodes = 0
        self._bundles += 1
        if self._bundles > self._limits.segments:
            self._refuse(line, f"more than {self._limits.segments:,} bundles. Split the file, or raise the limit.")

    def node(self, line: int) -> None:
        """Count a node of the bundle.

        Parameters
        ----------
        line : int
        """
        self._nodes += 1
        if self._nodes > self._limits.nodes:
            self._refuse(
                line,
                f"more than {self._limits.nodes:,} nodes in one bundle. Cut the sentence, or raise the limit.",
            )

    def field(self, name: str, characters: int, line: int) -> None:
        """Check the length of a field of a node.

        Parameters
        ----------
        name : str
        characters : int
            So far.
        line : int
        """
        if characters > self._limits.field_characters:
            self._refuse(
                line,
                f"<{name}> has more than {self._limits.field_characters:,} characters. Shorten it, or raise the limit.",
            )

    def zones(self, number: int, line: int) -> None:
        """Check the number of sides.

        Parameters
        ----------
        number : int
            That are known.
        line : int
        """
        if number > MOST_TEXTS:
            self._refuse(line, f"more than {MOST_TEXTS:,} sides. Split the file.")

    def _refuse(self, line: int, sentence: str) -> None:
        raise OverLimit(f"{place(self._name, line)}: {sentence}")
