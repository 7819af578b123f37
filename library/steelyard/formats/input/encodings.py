"""Which older encoding a text may be in that is not UTF-8, by the letters of its language."""

from __future__ import annotations

import re
from typing import NamedTuple

LEAST_SHARE = 0.95
"""Of the characters beyond ASCII that must be letters or marks of the language."""
LEAST_CHARACTERS = 3
"""Beyond ASCII, below which nothing is guessed."""

_PUNCTUATION = frozenset("„“”‚‘’«»‹›…–—§°€ ·•²³½¿¡")


_EAST_ASIAN = "[\u3000-\u30ff\u4e00-\u9fff\uac00-\ud7a3\uff00-\uff60]"


class _Script(NamedTuple):
    letters: str
    encodings: tuple[str, ...]
    """Names for iconv, the usual one first."""


_CENTRAL = ("ISO-8859-2", "WINDOWS-1250")
_WESTERN = ("WINDOWS-1252", "ISO-8859-1")
_CYRILLIC = ("WINDOWS-1251", "KOI8-R", "ISO-8859-5")
_BALTIC = ("WINDOWS-1257", "ISO-8859-13")
_SCRIPTS = {
    **{
        language: _Script(letters, _CENTRAL)
        for language, letters in {
            "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž", "pl": "ąćęłńóśźż", "hu": "áéíóöőúüű",
            "sl": "čšž", "hr": "čćđšž", "bs": "čćđšž", "hsb": "óčćěłńřšž", "dsb": "óčćěłńŕšśžź", "ro": "ăâîşţ",
        }.items()
    },
    **{
        language: _Script(letters, _WESTERN)
        for language, letters in {
            "de": "äöüß", "fr": "àâæçéèêëîïôœùûüÿ", "es": "áéíñóúü", "pt": "áâãàçéêíóôõúü", "it": "àèéìíîòóùú",
            "sv": "åäöé", "da": "æøåé", "no": "æøåéòô", "nb": "æøåéòô", "nn": "æøåéòô", "fi": "äöå", "is": "áðéíóúýþæö",
            "nl": "áéëïóöüèê", "ca": "àçéèíïóòúü", "gl": "áéíñóúü", "eu": "ñç", "ga": "áéíóú", "af": "êëéèôöûüïîáó",
        }.items()
    },
    **{
        language: _Script(letters, _CYRILLIC)
        for language, letters in {
            "ru": "абвгдеёжзийклмнопрстуфхцчшщъыьэюя", "bg": "абвгдежзийклмнопрстуфхцчшщъьюя",
            "be": "абвгдеёжзійклмнопрстуўфхцчшыьэюя", "mk": "абвгдѓежзѕијклљмнњопрстќуфхцчџш",
            "sr": "абвгдђежзијклљмнњопрстћуфхцчџш",
        }.items()
    },
    "uk": _Script("абвгґдеєжзиіїйклмнопрстуфхцчшщьюя", ("WINDOWS-1251", "KOI8-U", "ISO-8859-5")),
    "el": _Script("αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋΐΰ", ("ISO-8859-7", "WINDOWS-1253")),
    "tr": _Script("çğıöşüâîûİ", ("ISO-8859-9", "WINDOWS-1254")),
    "lt": _Script("ąčęėįšųūž", _BALTIC),
    "lv": _Script("āčēģīķļņšūž", _BALTIC),
    "et": _Script("äõöüšž", ("ISO-8859-15", "WINDOWS-1257")),
    "he": _Script("אבגדהוזחטיךכלםמןנסעףפץצקרשת", ("ISO-8859-8", "WINDOWS-1255")),
    "ja": _Script("", ("SHIFT_JIS", "EUC-JP")),
    "zh": _Script("", ("GB18030", "BIG5")),
    "ko": _Script("", ("EUC-KR",)),
}  # fmt: skip


def likely_encodings(data: bytes, language: str) -> list[str]:
    """The encodings that a text may be in.

    Parameters
    ----------
    data : bytes
    language : str
        A code.

    Returns
    -------
    list of str
        The likeliest first; empty where none fits. Of two in which the text reads alike both are named.
    """
    script = _SCRIPTS.get(language.replace("_", "-").partition("-")[0].lower())
    if script is None or sum(byte >= 0x80 for byte in data) < LEAST_CHARACTERS:
        return []
    shares = {name: _share(data, name, script.letters) for name in script.encodings}
    best = max(shares.values())
    return [name for name, share in shares.items() if share == best and share[0] >= LEAST_SHARE]


def _share(data: bytes, encoding: str, letters: str) -> tuple[float, float]:
    """Which part of the characters beyond ASCII belongs to the language, and which is not in capitals."""
    # The data may begin or end within a character of several bytes.
    text = data.decode(encoding, "replace").strip("\ufffd")
    beyond = [character for character in text if character > "\x7f"]
    if not beyond:
        return 0.0, 0.0
    # Made here, for few texts get so far: it takes as long as importing a module.
    east_asian = re.compile(_EAST_ASIAN)
    known = _PUNCTUATION | set(letters) | set(letters.upper())
    belongs = sum(character in known if letters else east_asian.match(character) is not None for character in beyond)
    return belongs / len(beyond), sum(not character.isupper() for character in beyond) / len(beyond)


def advice(data: bytes, language: str) -> str:
    """What the encoding may be and how to convert it.

    Parameters
    ----------
    data : bytes
    language : str
        A code.

    Returns
    -------
    str
        A sentence, which says which encoding only where the letters fit.
    """
    found = likely_encodings(data, language)
    if not found:
        return (
            "If it is in an older encoding, find out which (its program says, or its author), and convert it: "
            "`iconv -f ENCODING -t UTF-8 OLD > NEW`."
        )
    return (
        f"By its letters it may be in {' or '.join(found)}: try `iconv -f {found[0]} -t UTF-8 OLD > NEW`, and look "
        "whether all letters are right."
    )
