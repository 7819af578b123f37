"""What the readers of sentences with ids share: the check of the ids, and the text that comes of the lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.formats.layers import NOTHING
from steelyard.formats.plain import Text
from steelyard.text.findings import quoted
from steelyard.text.limits import OverLimit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from steelyard.formats.plain import Utf8
    from steelyard.text.findings import Findings
    from steelyard.text.limits import TextLimits


class SentenceIds:
    """The ids of the sentences of one file, and their lines; one given twice is a problem.

    Parameters
    ----------
    unit : str
        What a sentence is called in messages.
    findings : Findings
    """

    def __init__(self, unit: str, findings: Findings) -> None:
        self.unit = unit
        self._findings = findings
        self._ids: list[str] = []
        self._lines: list[int] = []
        self._first: dict[str, int] = {}

    def add(self, sentence: str, line: int) -> None:
        """Add the next sentence.

        Parameters
        ----------
        sentence : str
            Its id, which may be empty.
        line : int
        """
        self._ids.append(sentence)
        self._lines.append(line)
        before = self._first.setdefault(sentence, line) if sentence else line
        if before != line:
            self._findings.problem(
                f"{self.unit} {quoted(sentence)}: the id was already given in line {before}. Give each {self.unit} "
                "an id of its own.",
                line,
            )

    def places(self) -> Iterator[tuple[str, int]]:
        """Id and line of each sentence.

        Returns
        -------
        iterator of (str, int)
        """
        return zip(self._ids, self._lines, strict=True)

    def all(self) -> tuple[str, ...]:
        """The ids.

        Returns
        -------
        tuple of str
            Empty where a sentence has none.
        """
        return tuple(self._ids) if all(self._ids) else ()

    def check_lengths(self, lines: Sequence[Utf8], limits: TextLimits) -> None:
        """Check the length of sentences.

        Parameters
        ----------
        lines : sequence of bytes
        limits : TextLimits

        Raises
        ------
        OverLimit
            For one that is too long.
        """
        limit = limits.segment_characters
        for text, line in zip(lines, self._lines, strict=True):
            if len(text) > limit and len(text.decode()) > limit:
                raise OverLimit(
                    f"{self._findings.name}, line {line}: more than {limit:,} characters in one {self.unit}. Cut it, "
                    "or raise the limit."
                )


def text_of_sentences(
    name: str,
    words: Sequence[Utf8],
    layers: Mapping[str, Sequence[Utf8]],
    ids: SentenceIds,
    limits: TextLimits,
    language: str = "",
) -> Text:
    """A text of sentences with those layers that have anything in them; lemmas that are all missing are no layer.

    Parameters
    ----------
    name : str
    words : sequence of bytes
        The forms of each sentence.
    layers : mapping of str to sequence of bytes
    ids : SentenceIds
    limits : TextLimits
    language : str
        A code; empty where it is not known.

    Returns
    -------
    Text

    Raises
    ------
    OverLimit
        For a sentence that is too long.
    """
    for lines in (words, *layers.values()):
        ids.check_lengths(lines, limits)
    empty = bytes.maketrans(NOTHING.encode() + b" \n", b"   ")
    return Text(
        name=name,
        bytes=b"\n".join(words),
        segments=len(words),
        layers={
            layer: b"\n".join(lines)
            for layer, lines in layers.items()
            if layer != "lemma" or any(line.translate(empty).strip() for line in lines) or not any(words)
        },
        unit=ids.unit,
        ids=ids.all(),
        language=language,
    )
