"""Lemmas and stems of single words: by simplemma, by Snowball, by a table of the user's."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from steelyard.errors import MissingResource
from steelyard.formats.input.given_files import open_given_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LONGEST_WORD = 100
"""Longer words are left alone: the rules are made for words, and their time grows with the letters."""

_SIMPLEMMA = {"no": "nb", "sr": "hbs", "hr": "hbs", "bs": "hbs", "sh": "hbs"}
_SNOWBALL = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "cs": "czech", "da": "danish", "nl": "dutch",
    "en": "english", "eo": "esperanto", "et": "estonian", "fi": "finnish", "fr": "french", "de": "german",
    "el": "greek", "hi": "hindi", "hu": "hungarian", "id": "indonesian", "ga": "irish", "it": "italian",
    "lt": "lithuanian", "ne": "nepali", "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "fa": "persian",
    "pl": "polish", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho",
    "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
PACKAGES = {"simplemma": "simplemma", "snowball": "snowballstemmer"}
"""The Python package behind each name that specifications use."""
INSTALL = {"simplemma": "pip install 'steelyard[lemmas]'", "snowball": "pip install steelyard"}


@cache
def pinned(name: str) -> str:
    """The name of a package of lemmas or stems with the version that is installed here, looked up once.

    Parameters
    ----------
    name : str
        simplemma or snowball.

    Returns
    -------
    str
        Such as "simplemma-2.0.0".

    Raises
    ------
    MissingResource
        Where it is not installed.
    """
    # Only now: it brings half of the mail library along.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{name}-{version(PACKAGES[name])}"
    except PackageNotFoundError as error:
        raise MissingResource(f"The package {PACKAGES[name]} is not installed here: {INSTALL[name]}.") from error


def check_version(wanted: str) -> None:
    """See that a package is here in the version that a metric was resolved with.

    Parameters
    ----------
    wanted : str
        `simplemma-VERSION` or `snowball-VERSION`.

    Raises
    ------
    MissingResource
        Where it is another, or not installed.
    """
    name, _, number = wanted.partition("-")
    if number and wanted != pinned(name):
        raise MissingResource(
            f"{wanted} is asked for, but {pinned(name)} is installed here: its results may differ. "
            f"Install {PACKAGES[name]}=={number} on every worker, or score again with {name}."
        )


def has_simplemma() -> bool:
    """Whether simplemma, which is an extra because of its size, is installed here.

    Returns
    -------
    bool
    """
    return find_spec("simplemma") is not None


def lemmatizes(language: str) -> bool:
    """Whether simplemma, which must be here, knows a language.

    Parameters
    ----------
    language : str
        Its code.

    Returns
    -------
    bool
    """
    from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

    return _simplemma_code(language) in SUPPORTED_LANGUAGES


def stems(language: str) -> bool:
    """Whether Snowball knows a language.

    Parameters
    ----------
    language : str
        Its code.

    Returns
    -------
    bool
    """
    algorithm = _SNOWBALL.get(_primary(language))
    return bool(algorithm) and find_spec(f"snowballstemmer.{algorithm}_stemmer") is not None


def simplemma_lemmas(wanted: str, language: str) -> Callable[[str], str]:
    """Lemmas by simplemma.

    Parameters
    ----------
    wanted : str
        `simplemma-VERSION`.
    language : str
        The code of one that it knows.

    Returns
    -------
    callable
        From a word in its natural case to its lemma.

    Raises
    ------
    MissingResource
        Where another version is here, or none.
    """
    check_version(wanted)
    import simplemma

    code = _simplemma_code(language)
    return lambda word: simplemma.lemmatize(word, code) if len(word) <= LONGEST_WORD else word


def snowball_stems(wanted: str, language: str) -> Callable[[str], str]:
    """Stems by Snowball.

    Parameters
    ----------
    wanted : str
        `snowball-VERSION`.
    language : str
        The code of one that it knows.

    Returns
    -------
    callable
        From a word in lower case to its stem.

    Raises
    ------
    MissingResource
        Where another version is here, or none.
    """
    check_version(wanted)
    stem = _stems(_SNOWBALL[_primary(language)])
    return lambda word: stem(word) if len(word) <= LONGEST_WORD else word


@lru_cache(maxsize=4)
def _stems(algorithm: str) -> Callable[[str], str]:
    """Remembers the last words, as simplemma does: the algorithms are slow, and texts repeat themselves."""
    from importlib import import_module

    # Not by `snowballstemmer.stemmer`, which takes another package's implementation where there is one.
    stemmer = getattr(import_module(f"snowballstemmer.{algorithm}_stemmer"), f"{algorithm.capitalize()}Stemmer")

    @lru_cache(maxsize=1 << 16)
    def stem(word: str) -> str:
        # A stemmer keeps the word that it works on: one of its own for each call, whatever thread makes it.
        return cast(str, stemmer().stemWord(word))

    return stem


def table_lemmas(path: Path) -> Callable[[str], str]:
    """Lemmas by a table.

    Parameters
    ----------
    path : Path
        A text file: a word, a tab and its lemma on each line.

    Returns
    -------
    callable
        From a word to its lemma: that of the word as it is, else in lower case, else itself.

    Raises
    ------
    MissingResource
        Where the file is not such a table.
    """
    stat = path.stat()
    table = _table(path, stat.st_mtime_ns, stat.st_size)
    return lambda word: table.get(word) or table.get(word.lower(), word)


@lru_cache(maxsize=4)
def _table(path: Path, modified: int, size: int) -> dict[str, str]:  # noqa: ARG001 - a changed file is read again
    table: dict[str, str] = {}
    try:
        with open_given_text(path, "utf-8-sig") as lines:
            for number, line in enumerate(lines, 1):
                if not line.strip() or line.startswith("#"):
                    continue
                form, tab, lemma = line.rstrip("\r\n").partition("\t")
                if not (tab and form and lemma) or "\t" in lemma:
                    raise MissingResource(f"{path}, line {number}: a lemma table has lines FORM, tab, LEMMA.")
                table.setdefault(form, lemma)
    except UnicodeDecodeError as error:
        raise MissingResource(f"{path}: is not UTF-8 ({error.reason} at byte {error.start}). Convert it.") from error
    return table


def _primary(language: str) -> str:
    """The language without region: pt of pt-BR."""
    return language.replace("_", "-").partition("-")[0].lower()


def _simplemma_code(language: str) -> str:
    return _SIMPLEMMA.get(_primary(language), _primary(language))
