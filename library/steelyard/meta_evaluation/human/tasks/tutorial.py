"""A tutorial for annotators: short documents with errors that are explained, whatever is judged then.

The one here is from English to German, as WMT's is: who does not know German is told what the words mean. Organisers
may hand in their own (`own_tutorials`). Readers of exports know tutorials by their names and leave them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

PAIR = "ende"
MISSING = "missing"
"""In place of a position: something is not in the translation."""
MINOR, MAJOR = "minor", "major"


@dataclass(frozen=True)
class TutorialSpan:
    """An error in a translation of the tutorial."""

    start: int | None
    """The first unit of UTF-16; None where something is missing."""
    end: int | None
    """The last one, inclusive."""
    severity: str


@dataclass(frozen=True)
class TutorialItem:
    """A translation, and what to say of it."""

    source: str
    target: str
    explanation: str
    """What is wrong, or right."""
    score: int
    """About what it should get, of 100."""
    errors: Sequence[tuple[str, str]] = ()
    """Words of the target, or MISSING, with a severity."""
    marked: str = ""
    """A word that is marked as a minor error before, by mistake."""

    def spans(self) -> list[TutorialSpan]:
        """The errors to mark, by their positions.

        Returns
        -------
        list of TutorialSpan
        """
        return [self._span(*each) for each in self.errors]

    def marked_spans(self) -> list[TutorialSpan]:
        """What is marked before.

        Returns
        -------
        list of TutorialSpan
        """
        return [self._span(self.marked, MINOR)] if self.marked else []

    def instruction(self, *, marks: bool = True, scores: bool = True) -> str:
        """What to do, as HTML.

        Parameters
        ----------
        marks, scores : bool
            Whether errors are marked, and scores given.

        Returns
        -------
        str
        """
        said = [escape(self.explanation)]
        if marks and self.marked:
            said.append(f"Click on <u>{escape(self.marked)}</u> to take the mark away.")
        if marks and self.errors:
            words = [f"{'[missing]' if word == MISSING else escape(word)} ({how})" for word, how in self.errors]
            said.append(f"Mark <b>{', '.join(words)}</b>.")
        elif marks:
            said.append("Leave no error marked.")
        if scores:
            said.append(f"Give a score of about <b>{self.score}</b>.")
        return " ".join(said)

    def _span(self, word: str, severity: str) -> TutorialSpan:
        if word == MISSING:
            return TutorialSpan(None, None, severity)
        start = units_of(self.target[: self.target.index(word)])
        return TutorialSpan(start, start + units_of(word) - 1, severity)


def units_of(text: str) -> int:
    """The number of units of UTF-16, by which Appraise and Pearmut count.

    Parameters
    ----------
    text : str

    Returns
    -------
    int
    """
    return len(text.encode("utf-16-le")) // 2


Tutorial = Sequence[Sequence[TutorialItem]]
"""Pages of items."""


TUTORIAL = (
    (
        TutorialItem(
            "The shop opens at nine.",
            "Der Laden öffnet um neun.",
            "The translation says what the source says, in good German.",
            100,
        ),
        TutorialItem(
            "The shop opens at nine.",
            "Der Laden öffnen um neun.",
            "The form of the verb is wrong, but everybody understands what is meant: a minor error.",
            80,
            (("öffnen", MINOR),),
        ),
        TutorialItem(
            "The shop opens at nine.",
            "Der Laden schließt um neun.",
            "The verb means “closes”: readers are told the opposite, a major error.",
            20,
            (("schließt", MAJOR),),
        ),
    ),
    (
        TutorialItem(
            "The shop opens at nine, except on Sundays.",
            "Der Laden öffnet um neun.",
            "Nothing says “except on Sundays”. What is not there cannot be marked: mark the sign behind the text.",
            40,
            ((MISSING, MAJOR),),
        ),
        TutorialItem(
            "We sell bread and milk.",
            "Wir verkaufen Brot und Milch.",
            "Somebody has marked the word for bread, which is right.",
            100,
            marked="Brot",
        ),
        TutorialItem(
            "We sell bread and milk.",
            "Wir kaufen brot und Milch.",
            "The verb means “buy”, which changes what is said; nouns have a capital letter, which does not.",
            20,
            (("kaufen", MAJOR), ("brot", MINOR)),
        ),
    ),
)
"""Two documents, the pages that come first."""
