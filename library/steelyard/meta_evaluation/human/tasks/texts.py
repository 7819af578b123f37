"""The outputs of a test set that people shall judge, and the order in which they are asked."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.errors import BadTasks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


@dataclass(frozen=True)
class TaskDocument:
    """Consecutive segments that are judged together."""

    name: str
    """"" for a segment of a test set without documents."""
    domain: str
    segments: range
    before: int = 0
    """How many segments earlier pieces of the same document have."""

    @property
    def label(self) -> str:
        """What it is called in tasks."""
        return self.name or f"segment {self.segments.start + 1}"


@dataclass(frozen=True, eq=False)
class TaskTexts:
    """A test set with the outputs to judge."""

    name: str
    """Of the campaign or test set, for the names of tasks."""
    source_language: str
    target_language: str
    source: Sequence[str]
    outputs: Mapping[str, Sequence[str]]
    """By system, a text for each segment."""
    documents: Sequence[TaskDocument]

    def __post_init__(self) -> None:
        if not self.outputs:
            raise BadTasks(f"{self.name}: there are no outputs to judge.")
        for system, lines in self.outputs.items():
            if len(lines) != len(self.source):
                raise BadTasks(
                    f"{system}: has {len(lines)} segments, and the source of {self.name} {len(self.source)}."
                )


@dataclass(frozen=True)
class Unit:
    """A document by one system, or by several beside each other."""

    document: TaskDocument
    systems: Sequence[str]
    segments: range

    @property
    def size(self) -> int:
        """How many texts there are to judge."""
        return len(self.segments) * len(self.systems)


def drawn(seed: int, *words: object) -> int:
    """A number that depends on the seed and the words alone, the same on every machine.

    Parameters
    ----------
    seed : int
    *words : object
        What is drawn for.

    Returns
    -------
    int
        From 0 to 2^64 - 1.
    """
    text = "\n".join(map(str, (seed, *words)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def groups(systems: Iterable[str], document: TaskDocument, together: int, seed: int) -> list[list[str]]:
    """The systems of a document, in an order of its own, so many beside each other; fewer in the last group.

    Parameters
    ----------
    systems : iterable of str
    document : TaskDocument
    together : int
    seed : int

    Returns
    -------
    list of list of str
    """
    order = sorted(systems, key=lambda system: drawn(seed, "system", document.label, system))
    return [order[begin : begin + together] for begin in range(0, len(order), together)]


def in_rounds(texts: TaskTexts, seed: int, *, largest: int, together: int = 1) -> list[Unit]:
    """Every document by every system, once: in each round all documents, each by other systems than in the others.

    Parameters
    ----------
    texts : TaskTexts
    seed : int
    largest : int
        Segments of a unit; a longer document is cut into several, one behind the other.
    together : int
        Systems of a unit.

    Returns
    -------
    list of Unit
    """
    of_document = {each.segments.start: groups(texts.outputs, each, together, seed) for each in texts.documents}
    units = []
    for place in range(max(map(len, of_document.values()), default=0)):
        for document in sorted(texts.documents, key=lambda each: drawn(seed, "document", place, each.label)):
            whole = document.segments
            units += [
                Unit(document, of_document[whole.start][place], whole[begin : begin + largest])
                for begin in range(0, len(whole), largest)
            ]
    return units


def damaged(texts: TaskTexts, system: str, segment: int, seed: int) -> str | None:
    """An output in which a phrase is replaced by one as long from another segment of the same system.

    As Graham et al. 2013, "Continuous measurement scales in human evaluation of machine translation", section 4.1,
    where the length of the phrase follows that of the text. Texts without blanks are cut into characters.

    Parameters
    ----------
    texts : TaskTexts
    system : str
    segment : int
    seed : int

    Returns
    -------
    str or None
        None where no other text differs: what is not damaged is no check.
    """
    lines = texts.outputs[system]
    text = lines[segment]
    joint = " " if " " in text.strip() else ""
    words = text.split() if joint else list(text.strip())
    length = phrase_length(len(words))
    for attempt in range(50):
        other = lines[drawn(seed, "other", system, segment, attempt) % len(lines)]
        others = other.split() if joint else list(other.strip())
        if len(words) < length or len(others) < length:
            continue
        begin = drawn(seed, "to", system, segment, attempt) % (len(words) - length + 1)
        source = drawn(seed, "from", system, segment, attempt) % (len(others) - length + 1)
        found = joint.join([*words[:begin], *others[source : source + length], *words[begin + length :]])
        if found.split() != text.split():
            return found
    return None


def phrase_length(words: int) -> int:
    """How many words of so many are replaced.

    Parameters
    ----------
    words : int

    Returns
    -------
    int
    """
    for most, length in ((1, 1), (5, 2), (8, 3), (15, 4), (20, 5)):
        if words <= most:
            return min(length, max(words, 1))
    return words // 4
