"""Language pairs in all the spellings that WMT has: en-cs, eng-ces, en-cs_CZ, eng_Latn---ces_Latn."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.errors import BadText
from steelyard.text.names import printable
from steelyard.text.wording import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_LANGUAGE = r"[a-z]{2,3}"
_SCRIPT = r"[A-Z][a-z]{3}"
_REGION = r"[A-Z]{2}|[0-9]{3}"
_CODE = re.compile(rf"({_LANGUAGE})(?:[_-]({_SCRIPT}))?(?:[_-]({_REGION}))?")
_PAIR = re.compile(rf"({_CODE.pattern})(?:---|-)({_CODE.pattern})")
_SHORTER = {
    "afr": "af", "amh": "am", "ara": "ar", "asm": "as", "aze": "az", "bel": "be", "ben": "bn", "bod": "bo", "bos": "bs",
    "bul": "bg", "cat": "ca", "ces": "cs", "cym": "cy", "dan": "da", "deu": "de", "dzo": "dz", "ekk": "et", "ell": "el",
    "eng": "en", "est": "et", "eus": "eu", "fas": "fa", "fin": "fi", "fra": "fr", "gle": "ga", "glg": "gl", "guj": "gu",
    "hau": "ha", "heb": "he", "hin": "hi", "hrv": "hr", "hun": "hu", "hye": "hy", "ibo": "ig", "iku": "iu", "ind": "id",
    "isl": "is", "ita": "it", "jpn": "ja", "kan": "kn", "kat": "ka", "kaz": "kk", "khm": "km", "kir": "ky", "kor": "ko",
    "lao": "lo", "lav": "lv", "lit": "lt", "mal": "ml", "mar": "mr", "mkd": "mk", "mlt": "mt", "mon": "mn", "mya": "my",
    "nep": "ne", "nld": "nl", "nob": "no", "nor": "no", "ori": "or", "pan": "pa", "pes": "fa", "pol": "pl", "por": "pt",
    "pus": "ps", "ron": "ro", "rus": "ru", "sin": "si", "slk": "sk", "slv": "sl", "sme": "se", "snd": "sd", "som": "so",
    "spa": "es", "sqi": "sq", "srp": "sr", "swa": "sw", "swe": "sv", "swh": "sw", "tam": "ta", "tel": "te", "tgk": "tg",
    "tgl": "tl", "tha": "th", "tir": "ti", "tur": "tr", "uig": "ug", "ukr": "uk", "urd": "ur", "uzb": "uz", "vie": "vi",
    "xho": "xh", "yid": "yi", "yor": "yo", "zho": "zh", "zsm": "ms", "zul": "zu",
}  # fmt: skip
"""Codes of ISO 639-3 for those of ISO 639-1, macrolanguages and standard varieties included."""
_MACRO = {"et": "est", "fa": "fas", "no": "nor", "sw": "swa"}
"""Where ISO 639-3 has a macrolanguage and a variety for one code, the macrolanguage."""
_LONGER = {short: long for long, short in _SHORTER.items()} | _MACRO
_ALSO = {("arz", "", ""): ("ar", "", "EG"), ("nb", "", ""): ("no", "", "")}
"""Codes that mean the same by convention alone."""
_CHINESE = {"CN": "Hans", "SG": "Hans", "TW": "Hant", "HK": "Hant", "MO": "Hant"}
"""The script that a region writes Chinese in."""


@dataclass(frozen=True)
class Language:
    """A language with what its code says of script and region; "" where it says nothing."""

    code: str
    """Of ISO 639-1 where there is one."""
    script: str = ""
    region: str = ""

    def fits(self, other: Language) -> bool:
        """Whether both may mean the same: nothing that both say differs.

        Parameters
        ----------
        other : Language

        Returns
        -------
        bool
        """
        return self.code == other.code and all(
            not one or not two or one == two for one, two in ((self.script, other.script), (self.region, other.region))
        )


@dataclass(frozen=True)
class LanguagePair:
    """What is translated into what."""

    source: Language
    target: Language
    source_code: str
    """As it was written."""
    target_code: str

    def fits(self, other: LanguagePair) -> bool:
        """Whether both may mean the same.

        Parameters
        ----------
        other : LanguagePair

        Returns
        -------
        bool
        """
        return self.source.fits(other.source) and self.target.fits(other.target)


class NoSuchPair(BadText):
    """The language pair is not there, or cannot be distinguished from another one."""


def parse_pair(text: str) -> LanguagePair | None:
    """Take a language pair apart.

    Parameters
    ----------
    text : str
        Two codes with "-" or "---" between them, each a language of two or three letters, with script and region behind
        it: `en-sr_Cyrl_RS`, `eng_Latn---zho_Hant_TW`, `en-zh-CN`.

    Returns
    -------
    LanguagePair or None
        None where it is none.
    """
    found = _PAIR.fullmatch(text)
    if found is None:
        return None
    source, target = found[1], found[5]
    return LanguagePair(_language(*found.group(2, 3, 4)), _language(*found.group(6, 7, 8)), source, target)


def longer_code(language: str) -> str | None:
    """The code of three letters of a language (ISO 639-3).

    Parameters
    ----------
    language : str
        Such as `cs`, `ces` or `zh_Hant_TW`.

    Returns
    -------
    str or None
        None where it is no code, or one of two letters that is not known.
    """
    found = _CODE.fullmatch(language)
    if found is None:
        return None
    return found[1] if len(found[1]) == 3 else _LONGER.get(found[1])


def _language(code: str, script: str | None, region: str | None) -> Language:
    code, script, region = _ALSO.get((code, script or "", region or ""), (code, script or "", region or ""))
    code = _SHORTER.get(code, code)
    if code == "zh" and not script:
        script = _CHINESE.get(region, "")
    return Language(code, script, region)


def pair_called(name: str, known: Iterable[str], where: str) -> str:
    """Which of the pairs there are is meant.

    Parameters
    ----------
    name : str
        In any spelling.
    known : iterable of str
        The pairs there are, as they are spelt there.
    where : str
        What has them, for messages.

    Returns
    -------
    str
        One of `known`: the one that is spelt so, or else the only one that fits.

    Raises
    ------
    NoSuchPair
        Where none fits, and where two do.
    """
    pairs = list(known)
    if name in pairs:
        return name
    wanted = parse_pair(name)
    fitting = [each for each in pairs if wanted and (pair := parse_pair(each)) and pair.fits(wanted)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise NoSuchPair(
            f"{where}: the pair {printable(name)} may be {listed(fitting)}. Name it as it is written there."
        )
    raise NoSuchPair(f"{where}: there is no pair {printable(name)}. There are: {listed(pairs, shown=40) or 'none'}.")


def pairs_called(names: Sequence[str], known: Sequence[str], where: str) -> list[str]:
    """Which of the pairs there are are meant, each once; all of them without names.

    Parameters
    ----------
    names : sequence of str
    known : sequence of str
    where : str
        As in `pair_called`.

    Returns
    -------
    list of str

    Raises
    ------
    NoSuchPair
        As `pair_called` does.
    """
    return list(dict.fromkeys(pair_called(name, known, where) for name in names)) if names else list(known)
