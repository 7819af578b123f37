"""Checks that texts whose segments are matched by position belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.formats.plain import check_same_length
from steelyard.text.findings import quoted
from steelyard.text.languages import same_language

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.formats.plain import Text


class DifferentTexts(BadText):
    """The texts do not belong together: their ids or languages differ."""


def check_pairing(texts: Sequence[Text]) -> None:
    """Check that segment i of every text can be segment i of the others.

    Ids that only one of them has, or languages that are not named, say nothing.

    Parameters
    ----------
    texts : sequence of Text

    Raises
    ------
    DifferentLengths
        Unless they have equally many segments.
    DifferentTexts
        Where the files themselves say that they do not belong together: an id of one stands at another place in the
        other, or they name different languages.
    """
    if not texts:
        return
    check_same_length(texts[0], texts[1:])
    with_ids = [text for text in texts if text.ids]
    for text in with_ids[1:]:
        _check_order(with_ids[0], text)
    with_language = [text for text in texts if text.language]
    for text in with_language[1:]:
        first = with_language[0]
        if not same_language(first.language, text.language):
            raise DifferentTexts(
                f"{text.name}: is in {quoted(text.language)}, but {first.name} is in {quoted(first.language)}. "
                "References and systems must be in one language."
            )


def _check_order(first: Text, text: Text) -> None:
    if first.ids == text.ids:
        return
    at = {one: index for index, one in enumerate(first.ids)}
    moved = [index for index, one in enumerate(text.ids) if at.get(one, index) != index]
    if moved:
        index = moved[0]
        raise DifferentTexts(
            f"{text.name}: {text.unit} {index + 1} is {quoted(text.ids[index])}, which in {first.name} is "
            f"{first.unit} {at[text.ids[index]] + 1}; there, {index + 1} is {quoted(first.ids[index])}. "
            f"{len(moved):,} in all stand elsewhere. They are matched by position: put them in the same order."
        )
