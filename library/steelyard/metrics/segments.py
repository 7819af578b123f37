"""The texts that are scored, checked once at the door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from steelyard.errors import BadText
from steelyard.kernels.text.utf8 import look

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Segments:
    r"""The references of a test set and the hypotheses of all systems, which say which is which by keyword alone.

    Every text is UTF-8 bytes with one segment per line, lines joined by "\n" and without a final one; all have as many
    lines. `from_bytes` takes them so, `from_lines` takes lists of strings. With `variable_references` an empty line of
    a reference means that the segment lacks it. `layers` has the linguistic layers that all texts have, those of the
    references, then of the hypotheses (`steelyard.formats.layers`). There may be no hypotheses where something is to be
    counted in the references alone. `len` is the number of segments.
    """

    def __init__(
        self,
        *,
        references: Sequence[bytes],
        hypotheses: Sequence[bytes],
        variable_references: bool = False,
        layers: Mapping[str, Sequence[bytes]] | None = None,
    ) -> None:
        self.references = references
        self.hypotheses = hypotheses
        self.variable_references = variable_references
        self.layers = layers or {}
        self._count = self._checked()

    @classmethod
    def from_bytes(
        cls, *, references: Sequence[bytes], hypotheses: Sequence[bytes], variable_references: bool = False
    ) -> Self:
        r"""Of texts of which each is all its segments, joined by "\n". Raises BadText."""
        return cls(references=references, hypotheses=hypotheses, variable_references=variable_references)

    @classmethod
    def from_lines(
        cls,
        *,
        references: Sequence[Sequence[str]],
        hypotheses: Sequence[Sequence[str]],
        variable_references: bool = False,
    ) -> Self:
        """Of lists of references and of hypotheses, each of which is a list of segments. Raises BadText."""
        return cls(
            references=_joined("references", references),
            hypotheses=_joined("hypotheses", hypotheses),
            variable_references=variable_references,
        )

    def __len__(self) -> int:
        return self._count

    def named(self) -> Iterator[tuple[str, bytes]]:
        """Every text, and what to call it in a message."""
        yield from ((f"reference {number}", text) for number, text in enumerate(self.references, 1))
        yield from ((f"hypothesis {number}", text) for number, text in enumerate(self.hypotheses, 1))
        for layer, texts in self.layers.items():
            yield from ((f"text {number} of the layer {layer}", text) for number, text in enumerate(texts, 1))

    def _checked(self) -> int:
        """How many segments each text has. Raises BadText."""
        for what, texts in (("references", self.references), ("hypotheses", self.hypotheses)):
            if isinstance(texts, (str, bytes)):
                raise BadText(f"{what} is a single text, but must be a list of texts: {what}=[text].")
        if not self.references:
            raise BadText("There is no reference. Give at least one.")
        counts = {name: _lines(name, text) for name, text in self.named()}
        if len(set(counts.values())) > 1:
            several = ", ".join(f"{name} has {count}" for name, count in _telling(counts))
            raise BadText(
                f"The texts have different numbers of lines: {several}. All must have as many, one a segment."
            )
        return next(iter(counts.values()))


def _lines(name: str, text: Any) -> int:
    r"""How many lines a text has, joined by "\n". Raises BadText where it is none."""
    if not isinstance(text, bytes):
        raise BadText(
            f"The {name} is of the type {type(text).__name__}, but must be bytes: its lines in UTF-8, joined by line "
            "feeds. Segments.from_lines takes lists of strings."
        )
    seen = look(text)
    if not seen.is_utf8:
        line, byte, found = _damage(text)
        raise BadText(f"The {name} is not UTF-8: segment {line}, byte {byte} is 0x{found:02x}. Save it as UTF-8.")
    return seen.line_feeds + 1


def _damage(text: bytes) -> tuple[int, int, int]:
    """The line and the byte of it, both from 1 on, where it is not UTF-8, and that byte."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        begin = text.rfind(b"\n", 0, error.start) + 1
        return text.count(b"\n", 0, error.start) + 1, error.start - begin + 1, text[error.start]
    raise ValueError("The text is UTF-8.")


def _telling(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """The first text and the first of each other number of lines."""
    first = {count: name for name, count in reversed(list(counts.items()))}
    return [(name, count) for name, count in counts.items() if first[count] == name]


def _joined(what: str, texts: Sequence[Sequence[str]]) -> list[bytes]:
    if isinstance(texts, (str, bytes)) or any(isinstance(each, (str, bytes)) for each in texts):
        raise BadText(
            f"{what} is a list of segments, but must be a list of texts, each of which is a list of segments: "
            f"{what}=[segments]."
        )
    if not all(texts):
        raise BadText(f"{what} has a text without segments. Leave it out.")
    return [
        b"\n".join(_encoded(f"{what}[{place}]", number, line) for number, line in enumerate(text, 1))
        for place, text in enumerate(texts)
    ]


def _encoded(name: str, number: int, line: Any) -> bytes:
    if not isinstance(line, str):
        raise BadText(f"Segment {number} of {name} is of the type {type(line).__name__}, but must be a string.")
    if "\n" in line:
        raise BadText(f"Segment {number} of {name} has a line feed, which ends a segment. Put a blank in its place.")
    try:
        return line.encode()
    except UnicodeEncodeError as error:
        raise BadText(f"Segment {number} of {name} has half a character at {error.start + 1}. Take it out.") from error
