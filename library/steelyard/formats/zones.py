"""How TectoMT and Treex name the layers of a sentence, and how users ask for them."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.text.languages import language_code

LETTERS = "AMT"
"""Analytical, morphological and tectogrammatical; the layers of names (N) and phrases (P) are not read."""


class Layer(NamedTuple):
    """One layer of one side of a document."""

    zone: str
    """`cs_ref` in Treex; in TectoMT direction and code of the language, `Tcs`, however the file writes them."""
    letter: str
    """One of A, M, T."""


class Zone(NamedTuple):
    """One side of a document: a language, as source, target, reference or candidate."""

    key: str
    called: str
    """As the file names it."""
    language: str
    """Its code; empty where that is not known."""


def named_zone(name: str) -> Zone:
    """A side of TectoMT by the name of its layers without their last letter: direction and language.

    Parameters
    ----------
    name : str

    Returns
    -------
    Zone

    Examples
    --------
    >>> named_zone("TCzech").key, named_zone("Tcs").key, named_zone("Other").key
    ('Tcs', 'Tcs', 'Other')
    """
    code = language_code(name[1:]) if name[:1] in ("S", "T") else None
    return Zone(name[0] + code if code else name, name, code or "")


def subbundle_zone(language: str, direction: str) -> Zone:
    """A side of the later form of TectoMT.

    Parameters
    ----------
    language, direction : str

    Returns
    -------
    Zone
    """
    return named_zone(direction + language)


def treex_zone(language: str, selector: str) -> Zone:
    """A zone of Treex: its language, and its selector where it has one.

    Parameters
    ----------
    language, selector : str

    Returns
    -------
    Zone
    """
    key = f"{language}_{selector}" if selector else language
    return Zone(key, key, language_code(language) or "")


def named_layer(name: str) -> Layer | None:
    """The layer of TectoMT of a name, such as `TCzechA` or `TcsA`.

    Parameters
    ----------
    name : str

    Returns
    -------
    Layer or None
        None for a name that does not end in A, M or T.
    """
    return Layer(named_zone(name[:-1]).key, name[-1]) if len(name) > 1 and name[-1] in LETTERS else None
