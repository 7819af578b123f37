"""Languages as evaluation files name them: by English name in mteval, by code in WMT XML."""

from __future__ import annotations

import re

_CODES = {
    "arabic": "ar", "bengali": "bn", "bulgarian": "bg", "burmese": "my", "cantonese": "yue", "chinese": "zh",
    "croatian": "hr", "czech": "cs", "danish": "da", "dutch": "nl", "dzongkha": "dz", "english": "en",
    "estonian": "et", "farsi": "fa", "finnish": "fi", "french": "fr",
    "german": "de", "greek": "el", "gujarati": "gu", "hausa": "ha", "hebrew": "he", "hindi": "hi",
    "hungarian": "hu", "icelandic": "is", "inuktitut": "iu", "italian": "it", "japanese": "ja", "kazakh": "kk",
    "khmer": "km", "korean": "ko", "lao": "lo", "latvian": "lv", "lithuanian": "lt", "pashto": "ps", "persian": "fa",
    "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru", "slovak": "sk", "slovene": "sl",
    "slovenian": "sl", "spanish": "es", "swedish": "sv", "tamil": "ta", "thai": "th", "tibetan": "bo",
    "turkish": "tr", "ukrainian": "uk", "urdu": "ur", "vietnamese": "vi",
}  # fmt: skip
_SHORTER = {
    "bod": "bo", "bur": "my", "chi": "zh", "cmn": "zh", "dzo": "dz", "jpn": "ja", "khm": "km", "kor": "ko",
    "mya": "my", "tha": "th", "tib": "bo", "zho": "zh",
}  # fmt: skip
"""Codes of three letters for languages that are cut into words in a way of their own."""
UNSEPARATED = frozenset({"bo", "dz", "ja", "km", "lo", "my", "th", "yue", "zh"})
"""Languages that write no white space between words."""
_CODE = re.compile(r"[A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*")


def language_code(name: str) -> str | None:
    """The code of a language given by its English name or its code; None where it is neither.

    >>> language_code("Czech"), language_code("cs"), language_code("Klingon, spoken")
    ('cs', 'cs', None)
    """
    known = _CODES.get(name.casefold())
    return known or (name if _CODE.fullmatch(name) else None)


def same_language(one: str, other: str) -> bool:
    """Whether two names mean the same language; `English` and `en` do, `pt-BR` and `pt` do not."""
    return (language_code(one) or one).casefold() == (language_code(other) or other).casefold()


def main_code(language: str) -> str:
    """The code of a language without region and script: `zh` of `zh-TW`, of `zho_Hans` and of `Chinese`."""
    code = re.split("[-_]", language_code(language) or language)[0].lower()
    return _SHORTER.get(code, code)
