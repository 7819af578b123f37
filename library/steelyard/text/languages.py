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
_OTHER_NAMES = frozenset({"farsi", "slovene"})
"""Second names of a language."""
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

    Parameters
    ----------
    name : str

    Returns
    -------
    str or None
    """
    known = _CODES.get(name.casefold())
    return known or (name if _CODE.fullmatch(name) else None)


def language_names() -> dict[str, str]:
    """The English names of the languages known by name, by code, in the order of the names.

    Returns
    -------
    dict of str to str
    """
    names: dict[str, str] = {}
    for name, code in _CODES.items():
        if name not in _OTHER_NAMES:
            names[code] = name.capitalize()
    return names


def language_name(code: str) -> str:
    """The English name of a language, with the code where that says more; the code itself where no name is known.

    >>> language_name("cs"), language_name("pt-BR"), language_name("tlh")
    ('Czech', 'Portuguese (pt-BR)', 'tlh')

    Parameters
    ----------
    code : str

    Returns
    -------
    str
    """
    name = language_names().get(main_code(code))
    if name is None:
        return code
    return name if language_code(code) == main_code(code) else f"{name} ({code})"


def same_language(one: str, other: str) -> bool:
    """Whether two names mean the same language; `English` and `en` do, `pt-BR` and `pt` do not.

    Parameters
    ----------
    one : str
    other : str

    Returns
    -------
    bool
    """
    return (language_code(one) or one).casefold() == (language_code(other) or other).casefold()


def main_code(language: str) -> str:
    """The code of a language without region and script: `zh` of `zh-TW`, of `zho_Hans` and of `Chinese`.

    Parameters
    ----------
    language : str

    Returns
    -------
    str
    """
    code = re.split("[-_]", language_code(language) or language)[0].lower()
    return _SHORTER.get(code, code)
