"""What each module of Meteor compares: words as numbers, equal where they may be linked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from steelyard.errors import BadText, MissingResource
from steelyard.formats.layers import NOTHING
from steelyard.kernels.alignment.meteor import Keys
from steelyard.metrics.alignment.lemmas import simplemma_lemmas, snowball_stems, table_lemmas
from steelyard.metrics.alignment.synonyms import synonym_groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from steelyard.kernels.text.words import Words
    from steelyard.metrics.segments import Segments

MODULES = ("exact", "stem", "lemma", "synonym")
_NOT_YET = ("auto", "none")


class ModuleParameters(Protocol):
    """The parameters of Meteor that its modules need."""

    @property
    def case(self) -> str:
        """As `steelyard.Meteor` describes it, and so are all that follow."""

    @property
    def tok(self) -> str:
        """The tokenizer."""

    @property
    def modules(self) -> tuple[str, ...]:
        """What links words, in order."""

    @property
    def lemmas(self) -> str:
        """Where lemmas come from."""

    @property
    def stems(self) -> str:
        """Where stems come from."""

    @property
    def synonyms(self) -> str:
        """The name of the synonyms."""

    @property
    def lang(self) -> str:
        """The language of the text."""


def working_modules(metric: ModuleParameters) -> tuple[str, ...]:
    """The modules of a metric that have what they need; `auto` is nothing until it is resolved.

    Parameters
    ----------
    metric : Meteor

    Returns
    -------
    tuple of str
        In the order in which they run.
    """
    there = {
        "exact": True,
        "stem": metric.stems not in _NOT_YET,
        "lemma": metric.lemmas not in _NOT_YET,
        "synonym": metric.synonyms != "none",
    }
    return tuple(module for module in metric.modules if there[module])


def module_keys(metric: ModuleParameters, segments: Segments) -> list[Keys]:
    """What each module that works compares.

    Parameters
    ----------
    metric : Meteor
        Resolved.
    segments : Segments

    Returns
    -------
    list of Keys
        By word of the whole segments, for each module in the order in which they run.

    Raises
    ------
    MissingResource, MissingLayer
        Where what a module needs is not here.
    """
    modules = working_modules(metric)
    if not modules:
        raise MissingResource(
            f"meteor: none of the modules {', '.join(metric.modules)} has what it needs. Add the module exact."
        )
    make = {"exact": _exact, "stem": _stem, "lemma": _lemma, "synonym": _synonym}
    return [make[module](metric, segments) for module in modules]


def _exact(metric: ModuleParameters, segments: Segments) -> Keys:
    return Keys(segments.words(metric.tok, metric.case).ids)


def _stem(metric: ModuleParameters, segments: Segments) -> Keys:
    words = segments.words(metric.tok, metric.case)
    stem = snowball_stems(_pinned(metric, "stems"), metric.lang)
    return Keys(_numbered(words.ids, _texts(words), lambda word: stem(word.lower()))[0])


def _lemma(metric: ModuleParameters, segments: Segments) -> Keys:
    return Keys(_lemmas(metric, segments)[0])


def _synonym(metric: ModuleParameters, segments: Segments) -> Keys:
    """Sets of groups: those of the form and of the lemma together."""
    groups = synonym_groups(segments.resources.path(_pinned(metric, "synonyms"), "synonyms"))
    words = segments.words(metric.tok, metric.case)
    forms = [groups.get(text.lower(), ()) for text in _texts(words)]
    pairs = words.ids.astype(np.int64)
    lemma_groups: list[tuple[int, ...]] = [()]
    if metric.lemmas not in _NOT_YET:
        keys, lemmas = _lemmas(metric, segments)
        lemma_groups = [*(groups.get(lemma.lower(), ()) for lemma in lemmas), ()]
        # The last entry is for words without a lemma, whose key is -1.
        pairs = pairs * len(lemma_groups) + np.where(keys < 0, len(lemmas), keys)
    distinct, sets = np.unique(pairs, return_inverse=True)
    starts, members = [0], list[int]()
    for pair in distinct.tolist():
        form, lemma = divmod(pair, len(lemma_groups))
        own, others = forms[form], lemma_groups[lemma]
        members += own if own == others or not others else sorted({*own, *others})
        starts.append(len(members))
    return Keys(sets.astype(np.int32), (np.array(starts, np.int64), np.array(members, np.int32)))


def _lemmas(metric: ModuleParameters, segments: Segments) -> tuple[NDArray[np.int32], list[str]]:
    """By word the number of its lemma, -1 for none; and the lemmas by number."""
    source = _pinned(metric, "lemmas")
    key = ("lemmas", source, metric.lang, metric.tok, metric.case)
    return segments.cached(
        key, lambda: _of_layer(metric, segments) if source == "layer" else _of_words(metric, segments, source)
    )


def _of_layer(metric: ModuleParameters, segments: Segments) -> tuple[NDArray[np.int32], list[str]]:
    words, layer = segments.words(metric.tok, metric.case), segments.layer("lemma", metric.case)
    (unequal,) = np.nonzero(words.lengths != layer.lengths)
    if len(unequal):
        text, segment = divmod(int(unequal[0]), len(segments))
        raise BadText(
            f"meteor: segment {segment + 1} of text {text + 1} (references first) has {words.lengths[unequal[0]]} "
            f"words but {layer.lengths[unequal[0]]} lemmas. With lemmas=layer words are separated by blanks "
            "(tok=none), and each has one lemma."
        )
    lemmas = _texts(layer)
    nothing = lemmas.index(NOTHING) if NOTHING in lemmas else -1
    return np.where(layer.ids == nothing, -1, layer.ids).astype(np.int32), lemmas


def _of_words(metric: ModuleParameters, segments: Segments, source: str) -> tuple[NDArray[np.int32], list[str]]:
    if source.startswith("simplemma-") and "@" not in source:
        lemma = simplemma_lemmas(source, metric.lang)
    else:
        lemma = table_lemmas(segments.resources.path(source, "lemmas"))
    ids, texts = _in_natural_case(metric, segments)
    return _numbered(ids, texts, (lambda word: lemma(word).lower()) if metric.case == "lc" else lemma)


def _in_natural_case(metric: ModuleParameters, segments: Segments) -> tuple[NDArray[np.int32], list[str]]:
    """The words before they were lowercased: lemmatizers tell by it a name from a noun.

    In the rare segments that have other words once they are lowercased, such as those with markup in capitals, the
    lowercased words.
    """
    words = segments.words(metric.tok, metric.case)
    if metric.case == "mixed":
        return words.ids, _texts(words)
    mixed = segments.words(metric.tok, "mixed")
    alike = words.lengths == mixed.lengths
    ids = words.ids + np.int32(mixed.types)
    ids[np.repeat(alike, words.lengths)] = mixed.ids[np.repeat(alike, mixed.lengths)]
    return ids, [*_texts(mixed), *_texts(words)]


def _numbered(
    ids: NDArray[np.int32], texts: list[str], change: Callable[[str], str]
) -> tuple[NDArray[np.int32], list[str]]:
    """Each word changed, equal results with equal numbers, -1 for an empty one; and the results by number."""
    occurs = np.zeros(len(texts), bool)
    occurs[ids] = True
    numbers: dict[str, int] = {}
    table = np.full(len(texts), -1, np.int32)
    for at in np.flatnonzero(occurs).tolist():
        changed = change(texts[at])
        if changed:
            table[at] = numbers.setdefault(changed, len(numbers))
    return table[ids], list(numbers)


def _texts(words: Words) -> list[str]:
    return words.lines.decode().split("\n")[:-1]


def _pinned(metric: ModuleParameters, parameter: str) -> str:
    """What lemmas, stems or synonyms come from. Raises MissingResource where that is not pinned yet."""
    value: str = getattr(metric, parameter)
    packaged = value.startswith(("simplemma-", "snowball-")) and "@" not in value
    if not (value == "layer" or "@" in value or (packaged and metric.lang not in _NOT_YET)):
        raise MissingResource(
            f"meteor: {parameter}={value} does not say which version, which content or which language. "
            "steelyard.metrics.resolution.resolve pins that before anything is scored."
        )
    return value
