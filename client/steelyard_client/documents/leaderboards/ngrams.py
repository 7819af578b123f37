"""The n-grams that one of two systems gets right more often than the other."""

from __future__ import annotations

from steelyard_client.documents.document import Document


class NgramSystem(Document):
    """One of the two systems."""

    submission: int
    """Number of its submission."""
    name: str
    """As pages show it."""
    own: bool
    """Whether it belongs to a team of the account."""


class NgramResponse(Document):
    """An n-gram of a reference that one system has more often than the other."""

    order: int
    """How many words it has, from 1 to 4."""
    words: list[str]
    """Its words, as the tokenizer cuts them."""
    more_often_in: int
    """The submission that has it more often."""
    first: int
    """How often the first system has it where a reference has it, clipped by segment as in BLEU."""
    second: int
    """The same of the second system."""
    possible: int
    """How often they could: the greatest count in one reference of each segment, added up."""


class NgramsResponse(Document):
    """What each of two systems gets right more often."""

    campaign: str
    """Name of the campaign."""
    test_set: str
    """Name of the test set."""
    version: str
    """The version of the test set."""
    references: list[str]
    """Labels of the references, which are all of the test set."""
    tokenizer: str
    """What cuts words, as BLEU's parameter `tok`."""
    case: str
    """As BLEU's parameter `case`."""
    systems: list[NgramSystem]
    """The two systems."""
    ngrams: list[NgramResponse]
    """By order, those of the first system before those of the second, largest differences first: up to 8 of each."""
