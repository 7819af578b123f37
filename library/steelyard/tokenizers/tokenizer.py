"""Tokenizers: from a text to the same lines with blanks between the tokens.

Which one is used where none is named follows the target language, as in sacreBLEU.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steelyard.errors import BadParameter
from steelyard.kernels.text import spacing as kinds
from steelyard.kernels.text.markup import markup
from steelyard.kernels.text.spacing import CODE_POINTS, spacing
from steelyard.text.languages import UNSEPARATED, main_code
from steelyard.tokenizers.mecab import JAPANESE, KOREAN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from steelyard.tokenizers.mecab import Analyzer

    Kinds = NDArray[np.uint8]

WHITE_SPACE = "\t\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""What `str.split()` takes for white space, without the line feed, in the notation of `characters_of`."""

ASCII_PUNCTUATION = '!"#$%&()*+/:;<=>?@[\\]^_`{|}~'
"""What mteval-v13a always cuts off: no apostrophe, full stop, comma or hyphen."""

CHINESE = (
    "\u3400-\u4db5\u4e00-\u9fbb\uf900-\ufa2d\ufa30-\ufa6a\ufa70-\ufad9\uff00-\uffef\u2e80-\u2eff\u3000-\u303f"
    "\u31c0-\u31ef\u2f00-\u2fdf\u2ff0-\u2fff\u3100-\u312f\u31a0-\u31bf\ufe10-\ufe1f\ufe30-\ufe4f\u2600-\u27bf"
    "\u3200-\u33ff"
    # sacreBLEU means the planes beyond 16 bits, but its strings end after four digits: these ranges come out.
    "\u2001-\u2a6d\u2f81-\u2fa1"
)
"""What the tokenizer `zh` takes for Chinese, in the notation of `characters_of`."""

ENTITIES = ((b"&quot;", b'"'), (b"&amp;", b"&"), (b"&lt;", b"<"), (b"&gt;", b">"))


AUTO = "auto"
"""In the place of a tokenizer: the one that the target language asks for."""
USUAL = "13a"
"""The tokenizer of languages that ask for no other."""
BY_CHARACTER = "char"
"""The tokenizer whose tokens are no words."""


@dataclass(frozen=True)
class Tokenizer:
    """A function from text to text."""

    apply: Callable[[bytes], bytes]
    languages: frozenset[str] = frozenset()
    """Languages that ask for it."""
    analyzer: Analyzer | None = None
    """What cuts, where the words depend on more than the text."""


def prepared_text(text: bytes, tokenizer: str) -> bytes:
    """The lines of `text` with white space between the tokens of `tokenizer`, which may be pinned.

    `text` is UTF-8, lines joined by line feeds; so is the result, with as many lines. Raises BadParameter for
    a name that is not in TOKENIZERS, and MissingResource.
    """
    found = TOKENIZERS.get(tokenizer_name(tokenizer))
    if found is None:
        hint = f" {AUTO} needs a target language: resolve the metric first." if tokenizer == AUTO else ""
        raise BadParameter(f'There is no tokenizer "{tokenizer}".{hint} Tokenizers: {", ".join(TOKENIZERS)}.')
    if found.analyzer:
        found.analyzer.check(tokenizer)
    return found.apply(text)


def tokenizer_name(tokenizer: str) -> str:
    """The name in TOKENIZERS of a tokenizer that may be pinned: "ja-mecab" of "ja-mecab-0.996-IPA@ipadic-1.0.0"."""
    analyzers = (each.analyzer for each in TOKENIZERS.values() if each.analyzer)
    return next((each.name for each in analyzers if each.is_pinned(tokenizer)), tokenizer)


def tokenizer_of(language: str) -> str:
    """The tokenizer that a target language asks for, given by its code or name; `13a` where it is not known."""
    code = main_code(language)
    return next((name for name, each in TOKENIZERS.items() if code in each.languages), USUAL)


def resolve_tokenizer(tokenizer: str, language: str) -> str:
    """A tokenizer with all that its words depend on: the language's for `auto`, versions pinned.

    Raises MissingResource where its packages are not installed here.
    """
    name = tokenizer_of(language) if tokenizer == AUTO else tokenizer
    found = TOKENIZERS.get(name)
    return found.analyzer.pinned() if found and found.analyzer else name


def separates_words(tokenizer: str, language: str) -> bool:
    """Whether the tokens of this tokenizer are words of the language as its own tokenizer has them, or characters."""
    code, name, own = main_code(language), tokenizer_name(tokenizer), tokenizer_of(language)
    if name == BY_CHARACTER or (own != USUAL and name == own):
        return True
    return code not in UNSEPARATED and (own == USUAL or name == "none")


def signed(tokenizer: str) -> str:
    """The tokenizer as sacreBLEU's signature has it, which says nothing of a dictionary's release."""
    return tokenizer.partition("@")[0]


def dictionary_of(tokenizer: str) -> str:
    """The release of the dictionary that a pinned tokenizer needs; "" where there is none."""
    return tokenizer.partition("@")[2]


def folds_afterwards(text: bytes, tokenizer: str) -> bool:
    """Whether the tokens of this text, folded, are those of the folded text.

    Where the answer would take long to find, it is no.
    """
    if tokenizer == "none":
        return True
    if tokenizer != "13a":
        return False
    # The lower case of the sigma depends on its neighbours, which may be in other tokens; of no other letter. And
    # markup in capitals is markup only once it is folded.
    return not any(markup(text))


def none(text: bytes) -> bytes:
    """Words as they are: white space separates them."""
    return text


def mteval_13a(text: bytes) -> bytes:
    """The rules of mteval-v13a for Western languages; entities are resolved."""
    return spacing(unescaped(text), western_kinds(), kinds.PADDED)


def international(text: bytes) -> bytes:
    """The rules of mteval-v14 with --international-tokenization, without its resolving of entities.

    By Unicode's categories: punctuation is cut off unless it touches a number, symbols always.
    """
    return spacing(text, international_kinds())


def characters(text: bytes) -> bytes:
    """Every code point is a token."""
    return spacing(text, character_kinds())


def chinese(text: bytes) -> bytes:
    """Every Chinese character is a token; the rest by the rules of 13a, without its resolving of entities."""
    return spacing(text, chinese_kinds(), kinds.LEFT_TRIMMED)


def thesis(text: bytes) -> bytes:
    """The rules of MTrics (Kos 2008, section 4.3.1).

    Digits that white space separates are joined. Full stops and commas are cut off unless a digit follows,
    hyphens where they follow a digit, other ASCII punctuation but the apostrophe always.
    """
    return spacing(text, western_kinds(), kinds.PADDED | kinds.LOOKING_AHEAD)


TOKENIZERS = {
    USUAL: Tokenizer(mteval_13a),
    "none": Tokenizer(none),
    "intl": Tokenizer(international),
    BY_CHARACTER: Tokenizer(characters),
    "zh": Tokenizer(chinese, frozenset({"zh", "yue"})),
    "ja-mecab": Tokenizer(JAPANESE.cut, frozenset({"ja"}), JAPANESE),
    "ko-mecab": Tokenizer(KOREAN.cut, frozenset({"ko"}), KOREAN),
    "thesis": Tokenizer(thesis),
}
"""By the name on the command line."""


def unescaped(text: bytes) -> bytes:
    """The replacements that mteval-v13a makes before it looks at punctuation, in its order."""
    if not markup(text).markup:
        return text
    text = text.replace(b"<skipped>", b"")
    for entity, character in ENTITIES:
        text = text.replace(entity, character)
    return text


def characters_of(ranges: str) -> Iterable[tuple[int, int]]:
    """First and last code point of each part of a text such as "a-z.!"."""
    at = 0
    while at < len(ranges):
        wide = ranges[at + 1 : at + 2] == "-"
        yield ord(ranges[at]), ord(ranges[at + 2 * wide])
        at += 3 if wide else 1


def mark(table: Kinds, ranges: str, kind: int) -> None:
    """Make these characters that kind."""
    for first, last in characters_of(ranges):
        table[first : last + 1] = kind


@cache
def blank_kinds() -> Kinds:
    """Only white space is told from the rest."""
    table = np.full(CODE_POINTS, kinds.OTHER, np.uint8)
    mark(table, WHITE_SPACE, kinds.BLANK)
    return table


@cache
def character_kinds() -> Kinds:
    """Nothing belongs together."""
    return np.where(blank_kinds() == kinds.BLANK, kinds.BLANK, kinds.ALONE).astype(np.uint8)


@cache
def western_kinds() -> Kinds:
    """Digits and punctuation of ASCII."""
    table = blank_kinds().copy()
    mark(table, ASCII_PUNCTUATION, kinds.ALONE)
    mark(table, "0-9", kinds.NUMBER)
    mark(table, ".,", kinds.MARK)
    table[ord("-")] = kinds.DASH
    return table


@cache
def chinese_kinds() -> Kinds:
    """The Western ones, and Chinese characters, among which is some white space."""
    table = western_kinds().copy()
    blank = table == kinds.BLANK
    mark(table, CHINESE, kinds.ALONE)
    table[blank] = kinds.BLANK
    return table


@cache
def international_kinds() -> Kinds:
    """Unicode's categories N, P and S, of one version of Unicode everywhere."""
    from steelyard.tokenizers.unicode_categories import NUMBERS, PUNCTUATION, SYMBOLS

    table = blank_kinds().copy()
    for ranges, kind in ((NUMBERS, kinds.NUMBER), (PUNCTUATION, kinds.MARK), (SYMBOLS, kinds.ALONE)):
        for each in ranges.split():
            first, last = (int(end, 16) for end in each.split("-"))
            table[first : last + 1] = kind
    return table
