"""The tokenizers that there are; where none is named, the language says which one is used, as in sacreBLEU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from steelyard.errors import BadParameter, BrokenTokenizer
from steelyard.plugins.entry_points import PluginGroup
from steelyard.text.languages import UNSEPARATED, main_code
from steelyard.tokenizers import rules
from steelyard.tokenizers.mecab import JAPANESE, KOREAN
from steelyard.tokenizers.sentencepiece import SentencePiece
from steelyard.tokenizers.tokenizer import NoFiles, Tokenizer

if TYPE_CHECKING:
    from steelyard.kernels.text.words import Words
    from steelyard.tokenizers.tokenizer import Files

AUTO = "auto"
"""In the place of a tokenizer: the one that the target language asks for."""
USUAL = "13a"
"""The tokenizer of languages that ask for no other."""
BY_CHARACTER = "char"
"""The tokenizer to use where a language has none of its own."""

SIGMA = "Σ".encode()

TOKENIZERS = {
    each.name: each
    for each in (
        Tokenizer(
            USUAL, "mteval-v13a's rules for Western languages", rules.mteval_13a, before_13a=rules.unescaped,
            # The lower case of the sigma depends on its neighbours, which may be in other tokens; of no other letter.
            # And markup in capitals is markup only once it is lowercased.
            lowercases_afterwards=lambda text: not (rules.may_have_markup(text) or (b"\xce" in text and SIGMA in text)),
        ),
        Tokenizer("none", "the words as they are", rules.none, lowercases_afterwards=lambda _: True),
        Tokenizer("intl", "mteval-v14's rules by Unicode's categories", rules.international),
        Tokenizer(BY_CHARACTER, "every character", rules.characters, any_language=True),
        Tokenizer("zh", "every Chinese character, the rest as 13a", rules.chinese, frozenset({"zh", "yue"})),
        JAPANESE,
        KOREAN,
        Tokenizer("thesis", "MTrics' rules (Kos 2008)", rules.thesis),
        SentencePiece("flores200", "pieces of words by the model of FLORES-200", any_language=True),
        SentencePiece("flores101", "pieces of words by the model of FLORES-101", any_language=True),
        SentencePiece("spm", "pieces of words by a SentencePiece model of your own", any_language=True),
    )
}  # fmt: skip
"""Every tokenizer of the library, by the name on the command line. CONTRIBUTING.md says how to add one."""


def _fault(found: Any, called: str) -> str:
    return "" if isinstance(found, Tokenizer) else f"{called} is not a steelyard.tokenizers.tokenizer.Tokenizer"


GROUP = PluginGroup("steelyard.tokenizers", "tokenizer", BrokenTokenizer, _fault)


def tokenizer_called(tokenizer: str) -> Tokenizer:
    """The tokenizer of a name, of the library or of another distribution.

    Parameters
    ----------
    tokenizer : str
        May be pinned.

    Returns
    -------
    Tokenizer

    Raises
    ------
    BadParameter
        With the names there are.
    BrokenTokenizer
        Where another distribution's cannot be used.
    """
    found = TOKENIZERS.get(tokenizer) or next((each for each in TOKENIZERS.values() if each.means(tokenizer)), None)
    if found is None and tokenizer != AUTO:
        found = cast("Tokenizer | None", GROUP.find(tokenizer.partition("@")[0]))
    if found is None:
        hint = f" {AUTO} needs a target language: resolve the metric first." if tokenizer == AUTO else ""
        names = [*TOKENIZERS, *(offer.name for offer in GROUP.offers() if offer.name not in TOKENIZERS)]
        raise BadParameter(f'There is no tokenizer "{tokenizer[:100]}".{hint} Tokenizers: {", ".join(names)}.')
    return found


def prepared_text(text: bytes, tokenizer: str, files: Files | None = None) -> bytes:
    """The lines of a text with white space between the tokens.

    Parameters
    ----------
    text : bytes
        UTF-8, lines joined by line feeds.
    tokenizer : str
        May be pinned.
    files : Files, optional
        Where models are found.

    Returns
    -------
    bytes
        As many lines.

    Raises
    ------
    BadParameter
        For a name that is not in the registry.
    MissingResource
        Where what the tokenizer needs is not here.
    """
    return tokenizer_called(tokenizer).cut(text, tokenizer, files or NoFiles())


def words_of(text: bytes, rows: int, tokenizer: str, files: Files) -> Words:
    """The tokens of a text as numbers.

    Parameters
    ----------
    text : bytes
        UTF-8, lines joined by line feeds.
    rows : int
        How many lines it has.
    tokenizer : str
        May be pinned.
    files : Files
        Where models are found.

    Returns
    -------
    Words

    Raises
    ------
    BadParameter, MissingResource
        As `prepared_text`.
    """
    return tokenizer_called(tokenizer).words(text, rows, tokenizer, files)


def tokenizer_name(tokenizer: str) -> str:
    """The name in the registry of a tokenizer.

    Parameters
    ----------
    tokenizer : str
        May be pinned: "ja-mecab-0.996-IPA@ipadic-1.0.0".

    Returns
    -------
    str
        "ja-mecab" of that.
    """
    found = TOKENIZERS.get(tokenizer) or next((each for each in TOKENIZERS.values() if each.means(tokenizer)), None)
    return found.name if found else tokenizer


def tokenizer_choice(tokenizer: str) -> str:
    """`tokenizer_name`, and USUAL for the tokenizer of another distribution: it is as good a choice.

    Parameters
    ----------
    tokenizer : str
        May be pinned.

    Returns
    -------
    str

    Raises
    ------
    BrokenTokenizer
        Where another distribution's cannot be used.
    """
    name = tokenizer_name(tokenizer)
    return name if name in TOKENIZERS or name == AUTO or GROUP.find(name.partition("@")[0]) is None else USUAL


def tokenizer_of(language: str) -> str:
    """The tokenizer that a target language asks for.

    Parameters
    ----------
    language : str
        Its code or name.

    Returns
    -------
    str
        `13a` where the language is not known.
    """
    code = main_code(language)
    return next((name for name, each in TOKENIZERS.items() if code in each.languages), USUAL)


def resolve_tokenizer(tokenizer: str, language: str, files: Files | None = None) -> str:
    """A tokenizer with all that its words depend on.

    Parameters
    ----------
    tokenizer : str
        `auto` is the language's.
    language : str
        Code or name of the target language.
    files : Files, optional
        Where models are found.

    Returns
    -------
    str
        Versions pinned.

    Raises
    ------
    MissingResource
        Where its packages or its model are not here.
    BadParameter, BrokenTokenizer
        As `tokenizer_called`.
    """
    name = tokenizer_of(language) if tokenizer == AUTO else tokenizer
    return tokenizer_called(name).pin(name, files or NoFiles())


def separates_words(tokenizer: str, language: str) -> bool:
    """Whether tokens are words of a language as its own tokenizer has them, or characters.

    Parameters
    ----------
    tokenizer : str
        May be pinned.
    language : str
        Code or name of the target language.

    Returns
    -------
    bool
    """
    code, name, own = main_code(language), tokenizer_name(tokenizer), tokenizer_of(language)
    if (name in TOKENIZERS and TOKENIZERS[name].any_language) or (own != USUAL and name == own):
        return True
    return code not in UNSEPARATED and (own == USUAL or name == "none")


def signed(tokenizer: str) -> str:
    """The tokenizer as sacreBLEU's signature has it, which says nothing of a dictionary's release.

    Parameters
    ----------
    tokenizer : str
        May be pinned.

    Returns
    -------
    str
    """
    return tokenizer.partition("@")[0]


def dictionary_of(tokenizer: str) -> str:
    """What a pinned tokenizer needs beside its name.

    Parameters
    ----------
    tokenizer : str

    Returns
    -------
    str
        The dictionary's release or the model's hash; "" where there is none.
    """
    return tokenizer.partition("@")[2]


def lowercases_afterwards(text: bytes, tokenizer: str) -> bool:
    """Whether the tokens of this text, lowercased, are those of the lowercased text.

    Parameters
    ----------
    text : bytes
    tokenizer : str
        May be pinned.

    Returns
    -------
    bool
        No where the answer would take long to find.
    """
    return tokenizer_called(tokenizer).lowercases_afterwards(text)
