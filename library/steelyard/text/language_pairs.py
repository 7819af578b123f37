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
_SCRIPT = r"[A-Za-z][a-z]{3}"
# Behind a hyphen, two small letters are a language.
_REGION = r"[A-Z]{2}|[0-9]{3}|(?<=_)[a-z]{2}"
_CODE = re.compile(rf"({_LANGUAGE})(?:[_-]({_SCRIPT}))?(?:[_-]({_REGION}))?")
_PAIR = re.compile(rf"({_CODE.pattern})(?:---|-)({_CODE.pattern})")
_STANDARD = {
    "aar": "aa", "abk": "ab", "afr": "af", "aka": "ak", "amh": "am", "ara": "ar", "arg": "an", "asm": "as", "ava": "av",
    "ave": "ae", "aym": "ay", "aze": "az", "bak": "ba", "bam": "bm", "bel": "be", "ben": "bn", "bis": "bi", "bod": "bo",
    "bos": "bs", "bre": "br", "bul": "bg", "cat": "ca", "ces": "cs", "cha": "ch", "che": "ce", "chu": "cu", "chv": "cv",
    "cor": "kw", "cos": "co", "cre": "cr", "cym": "cy", "dan": "da", "deu": "de", "div": "dv", "dzo": "dz", "ell": "el",
    "eng": "en", "epo": "eo", "est": "et", "eus": "eu", "ewe": "ee", "fao": "fo", "fas": "fa", "fij": "fj", "fin": "fi",
    "fra": "fr", "fry": "fy", "ful": "ff", "gla": "gd", "gle": "ga", "glg": "gl", "glv": "gv", "grn": "gn", "guj": "gu",
    "hat": "ht", "hau": "ha", "heb": "he", "her": "hz", "hin": "hi", "hmo": "ho", "hrv": "hr", "hun": "hu", "hye": "hy",
    "ibo": "ig", "ido": "io", "iii": "ii", "iku": "iu", "ile": "ie", "ina": "ia", "ind": "id", "ipk": "ik", "isl": "is",
    "ita": "it", "jav": "jv", "jpn": "ja", "kal": "kl", "kan": "kn", "kas": "ks", "kat": "ka", "kau": "kr", "kaz": "kk",
    "khm": "km", "kik": "ki", "kin": "rw", "kir": "ky", "kom": "kv", "kon": "kg", "kor": "ko", "kua": "kj", "kur": "ku",
    "lao": "lo", "lat": "la", "lav": "lv", "lim": "li", "lin": "ln", "lit": "lt", "ltz": "lb", "lub": "lu", "lug": "lg",
    "mah": "mh", "mal": "ml", "mar": "mr", "mkd": "mk", "mlg": "mg", "mlt": "mt", "mon": "mn", "mri": "mi", "msa": "ms",
    "mya": "my", "nau": "na", "nav": "nv", "nbl": "nr", "nde": "nd", "ndo": "ng", "nep": "ne", "nld": "nl", "nno": "nn",
    "nor": "no", "nya": "ny", "oci": "oc", "oji": "oj", "ori": "or", "orm": "om", "oss": "os", "pan": "pa", "pli": "pi",
    "pol": "pl", "por": "pt", "pus": "ps", "que": "qu", "roh": "rm", "ron": "ro", "run": "rn", "rus": "ru", "sag": "sg",
    "san": "sa", "sin": "si", "slk": "sk", "slv": "sl", "sme": "se", "smo": "sm", "sna": "sn", "snd": "sd", "som": "so",
    "sot": "st", "spa": "es", "sqi": "sq", "srd": "sc", "srp": "sr", "ssw": "ss", "sun": "su", "swa": "sw", "swe": "sv",
    "tah": "ty", "tam": "ta", "tat": "tt", "tel": "te", "tgk": "tg", "tgl": "tl", "tha": "th", "tir": "ti", "ton": "to",
    "tsn": "tn", "tso": "ts", "tuk": "tk", "tur": "tr", "twi": "tw", "uig": "ug", "ukr": "uk", "urd": "ur", "uzb": "uz",
    "ven": "ve", "vie": "vi", "vol": "vo", "wln": "wa", "wol": "wo", "xho": "xh", "yid": "yi", "yor": "yo", "zha": "za",
    "zho": "zh", "zul": "zu",
}  # fmt: skip
"""The codes of ISO 639-3 for all those of ISO 639-1."""
_VARIETIES = {
    "als": "sq", "azj": "az", "cmn": "zh", "ekk": "et", "gaz": "om", "khk": "mn", "lvs": "lv", "nob": "no", "npi": "ne",
    "ory": "or", "pbt": "ps", "pes": "fa", "plt": "mg", "swh": "sw", "uzn": "uz", "ydd": "yi", "zsm": "ms",
}  # fmt: skip
"""Standard varieties of languages whose code of ISO 639-3 is that of a macrolanguage."""
_SHORTER = _STANDARD | _VARIETIES
_LONGER = {short: long for long, short in _STANDARD.items()}
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
        it: `en-sr_Cyrl_RS`, `eng_Latn---zho_Hant_TW`, `en-zh-CN`, `eng-zho-hans`.

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
    said = code, (script or "").capitalize(), (region or "").upper()
    code, script, region = _ALSO.get(said, said)
    code = _SHORTER.get(code, code)
    if code == "zh" and not script:
        script = _CHINESE.get(region, "")
    return Language(code, script, region)


def fitting_pairs(name: str, known: Iterable[str]) -> list[str]:
    """The pairs that a name may mean.

    Parameters
    ----------
    name : str
        In any spelling.
    known : iterable of str
        The pairs there are.

    Returns
    -------
    list of str
        Of `known`: the one that is spelt so alone, or else all that fit.
    """
    pairs = list(known)
    if name in pairs:
        return [name]
    wanted = parse_pair(name)
    return [each for each in pairs if wanted and (pair := parse_pair(each)) and pair.fits(wanted)]


def of_other_languages(one: str, other: str) -> bool:
    """Whether two names are language pairs that cannot be the same.

    Parameters
    ----------
    one, other : str
        In any spelling, or no pairs at all.

    Returns
    -------
    bool
        Only where all four languages are known: `da-esa` may be a name of something else.
    """
    pairs = parse_pair(one), parse_pair(other)
    known = [each for each in pairs if each and {each.source.code, each.target.code} <= _LONGER.keys()]
    return len(known) == 2 and not known[0].fits(known[1])


def pair_called(name: str, known: Iterable[str], where: str = "") -> str:
    """Which of the pairs there are is meant.

    Parameters
    ----------
    name : str
        In any spelling.
    known : iterable of str
        The pairs there are, as they are spelt there.
    where : str
        What has them, for messages; none where the reader sees it beside the message.

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
    fitting = fitting_pairs(name, pairs)
    if len(fitting) == 1:
        return fitting[0]
    reason = f"There is no pair {printable(name)}. There are: {listed(pairs, shown=40) or 'none'}."
    if fitting:
        reason = f"The pair {printable(name)} may be {listed(fitting)}. Name it as it is written there."
    raise NoSuchPair(f"{where}: {reason[0].lower()}{reason[1:]}" if where else reason)


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
