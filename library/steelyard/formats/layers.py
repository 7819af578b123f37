"""Linguistic layers of a text: lines beside its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from steelyard.formats.plain import Text

LAYERS = {
    "lemma": "lemmas, one for each word",
    "sempos": "tectogrammatical nodes with their semantic parts of speech",
}
r"""The layers that readers can bring, each with what it holds.

A layer is UTF-8 text with as many lines as its text; items of a line are separated by one blank. The text itself has
the word forms, separated by one blank. A blank inside an item is written `_`.

- `lemma`: item i belongs to word i; `_` where the word has no lemma.
- `sempos`: one item for each node that has a semantic part of speech, `T_LEMMA/SEMPOS` (the last slash
  separates them), in no particular order; the line is empty where there is none.
"""

NOTHING = "_"
"""The item of a word without lemma."""


def one_item(text: str) -> str:
    """A form, lemma or t-lemma as an item of a line: `_` for each run of white space inside it.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return "_".join(text.split())


def common_layers(texts: Iterable[Text]) -> frozenset[str]:
    """The layers that every one of the texts has.

    Parameters
    ----------
    texts : iterable of Text

    Returns
    -------
    frozenset of str
    """
    return frozenset(set.intersection(*(set(text.layers) for text in texts)))


def describe_layers(names: Iterable[str]) -> str:
    """Layers in words, for messages: `"lemma" (lemmas, one for each word)`.

    Parameters
    ----------
    names : iterable of str

    Returns
    -------
    str
    """
    return ", ".join(f'"{name}" ({LAYERS.get(name, "that no format has")})' for name in sorted(names)) or "none"
